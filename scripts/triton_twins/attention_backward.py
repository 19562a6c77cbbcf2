"""Lessons 15 to 17 in Triton.

Layouts are those of attention_forward.py; dO has any strides, and dQ, dK and dV have those of Q, K and V.
"""

import triton
import triton.language as tl

from attention_forward import load_tile, padded



def tile_of(D, of_keys):
    """Queries and keys of a tile, and warps, of the kernel whose programs own keys, or of the other."""
    wide = 64 if D <= 64 else 32
    return (32, wide, 8) if of_keys else (64, wide, 8)


# [weights]
@triton.jit
def weights(q, k, lse, i, j, Nq, Nk, offset, scale, causal, window, sinks,
            BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr):
    """P of the queries from i on and the keys from j on; 0 where a query does not see a key, and outside."""
    query, key = i + tl.arange(0, BLOCK_M)[:, None], j + tl.arange(0, BLOCK_N)[None, :]
    seen = (query < Nq) & (key < Nk) & ((causal == 0) | (key <= query + offset))
    seen = seen & ((query + offset - key < window) | (key < sinks))
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    return tl.where(seen, tl.exp(s - lse[:, None]), 0.0)


@triton.jit
def load_row(X, first, end, BLOCK: tl.constexpr):
    rows = first + tl.arange(0, BLOCK)
    return tl.load(X + rows, mask=rows < end, other=0.0)


@triton.jit
def store_tile(X, stride, first, end, D, x, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    rows, dims = first + tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK_D)[None, :]
    tl.store(X + rows * stride + dims, x, mask=(rows < end) & (dims < D))
# [weights]


# [keys]
@triton.jit
def keys_kernel(Q, K, V, dO, lse, delta, dK, dV, q_strides, k_strides, v_strides, do_strides, H, H_kv, Nq, Nk, D, scale,
                causal, window, sinks, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    j, batch, kv_head = tl.program_id(0) * BLOCK_N, tl.program_id(1) // H_kv, tl.program_id(1) % H_kv
    of_K, of_V = batch * k_strides[0] + kv_head * k_strides[1], batch * v_strides[0] + kv_head * v_strides[1]
    k = load_tile(K + of_K, k_strides[2], j, Nk, D, BLOCK_N, BLOCK_D)
    v = load_tile(V + of_V, v_strides[2], j, Nk, D, BLOCK_N, BLOCK_D)
    dk, dv, offset = tl.zeros((BLOCK_N, BLOCK_D), tl.float32), tl.zeros((BLOCK_N, BLOCK_D), tl.float32), Nk - Nq
    begin, end = 0, Nq
    if causal:
        begin = tl.maximum(j - offset, 0) // BLOCK_M * BLOCK_M
    if j >= sinks:  # later queries have lost the whole tile
        end = tl.minimum(Nq, tl.maximum(j + BLOCK_N - 1 + window - offset, 0))
    for head in range(kv_head * (H // H_kv), (kv_head + 1) * (H // H_kv)):
        of_Q, of_dO = batch * q_strides[0] + head * q_strides[1], batch * do_strides[0] + head * do_strides[1]
        row = (batch * H + head) * Nq
        for i in range(begin, end, BLOCK_M):
            q = load_tile(Q + of_Q, q_strides[2], i, Nq, D, BLOCK_M, BLOCK_D)
            do = load_tile(dO + of_dO, do_strides[2], i, Nq, D, BLOCK_M, BLOCK_D)
            p = weights(q, k, load_row(lse + row, i, Nq, BLOCK_M), i, j, Nq, Nk, offset, scale, causal, window, sinks,
                        BLOCK_M, BLOCK_N)
            dp = tl.dot(do, tl.trans(v), input_precision="ieee")
            ds = p * (dp - load_row(delta + row, i, Nq, BLOCK_M)[:, None])
            dv = tl.dot(tl.trans(p), do, dv, input_precision="ieee")
            dk = tl.dot(tl.trans(ds), q, dk, input_precision="ieee")
    store_tile(dK + of_K, k_strides[2], j, Nk, D, dk * scale, BLOCK_N, BLOCK_D)
    store_tile(dV + of_V, v_strides[2], j, Nk, D, dv, BLOCK_N, BLOCK_D)
# [keys]


# [queries]
@triton.jit
def queries_kernel(Q, K, V, dO, lse, delta, dQ, q_strides, k_strides, v_strides, do_strides, H, H_kv, Nq, Nk, D, scale,
                   causal, window, sinks, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    i, batch, head = tl.program_id(0) * BLOCK_M, tl.program_id(1) // H, tl.program_id(1) % H
    of_Q, kv_head = batch * q_strides[0] + head * q_strides[1], head // (H // H_kv)
    q = load_tile(Q + of_Q, q_strides[2], i, Nq, D, BLOCK_M, BLOCK_D)
    do = load_tile(dO + batch * do_strides[0] + head * do_strides[1], do_strides[2], i, Nq, D, BLOCK_M, BLOCK_D)
    row_lse = load_row(lse + tl.program_id(1) * Nq, i, Nq, BLOCK_M)
    row_delta = load_row(delta + tl.program_id(1) * Nq, i, Nq, BLOCK_M)
    K, V = K + batch * k_strides[0] + kv_head * k_strides[1], V + batch * v_strides[0] + kv_head * v_strides[1]
    dq, offset, end = tl.zeros((BLOCK_M, BLOCK_D), tl.float32), Nk - Nq, Nk
    if causal:
        end = tl.minimum(tl.maximum(i + BLOCK_M + offset, 0), Nk)
    begin = tl.maximum(i + offset - window + 1, 0) // BLOCK_N * BLOCK_N
    for j in range(0, end, BLOCK_N):
        if (j >= begin) | (j < sinks):
            k = load_tile(K, k_strides[2], j, Nk, D, BLOCK_N, BLOCK_D)
            v = load_tile(V, v_strides[2], j, Nk, D, BLOCK_N, BLOCK_D)
            p = weights(q, k, row_lse, i, j, Nq, Nk, offset, scale, causal, window, sinks, BLOCK_M, BLOCK_N)
            ds = p * (tl.dot(do, tl.trans(v), input_precision="ieee") - row_delta[:, None])
            dq = tl.dot(ds, k, dq, input_precision="ieee")
    store_tile(dQ + of_Q, q_strides[2], i, Nq, D, dq * scale, BLOCK_M, BLOCK_D)
# [queries]


def attention_backward(Q, K, V, O, lse, dO, dQ, dK, dV, scale, causal, window=2**31 - 1, sinks=0):
    """The gradients, for any mask of lesson 17. With a learned sink, lse holds it, and nothing else changes."""
    (B, H, Nq, D), (_, H_kv, Nk, _) = Q.shape, K.shape
    delta = (dO * O).sum(dim=-1)
    of_masks = int(causal), min(window, Nq + Nk), min(sinks, Nk)
    given = Q, K, V, dO, lse, delta
    strides = [tensor.stride()[:3] for tensor in (Q, K, V, dO)]
    shape = H, H_kv, Nq, Nk, D, scale, *of_masks
    rows, keys, warps = tile_of(D, of_keys=True)
    keys_kernel[(triton.cdiv(Nk, keys), B * H_kv)](
        *given, dK, dV, *strides, *shape, rows, keys, padded(D), num_warps=warps, num_stages=1)  # fmt: skip
    rows, keys, warps = tile_of(D, of_keys=False)
    queries_kernel[(triton.cdiv(Nq, rows), B * H)](
        *given, dQ, *strides, *shape, rows, keys, padded(D), num_warps=warps, num_stages=2)  # fmt: skip


def gradient_of_sink(sink, O, lse, dO):
    """dsink (H), by lesson 17's formula; PyTorch's operations are enough for it."""
    weight = (sink[None, :, None] - lse).exp().nan_to_num(0.0)
    return -(weight * (dO * O).sum(dim=-1)).sum(dim=(0, 2))
