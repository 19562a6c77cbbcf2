"""Lessons 09 to 13 and 22 in Triton.

Q and O are (B, H, Nq, D), K and V are (B, H_kv, Nk, D), lse is (B, H, Nq) without gaps. Elements of a row lie side by
side; all other strides are free.
"""

import triton
import triton.language as tl



def tile_of(D, bits=32):
    """Queries and keys of a tile, warps, and tiles in flight: registers are enough for them on Hopper."""
    if bits == 16:
        return 128, 64, 8, 2 if D > 128 else 3
    return 64, 64 if D <= 64 else 32, 8, 2


# [tiles]
@triton.jit
def load_tile(X, stride, first, end, D, BLOCK: tl.constexpr, BLOCK_D: tl.constexpr):
    """Rows first to first + BLOCK - 1; zeros from row `end` on, and past D numbers."""
    rows, dims = first + tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK_D)[None, :]
    return tl.load(X + rows * stride + dims, mask=(rows < end) & (dims < D), other=0.0)


@triton.jit
def scores(q, K, stride, start, Nk, D, scale, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    k = load_tile(K, stride, start, Nk, D, BLOCK_N, BLOCK_D)
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    return tl.where(start + tl.arange(0, BLOCK_N)[None, :] < Nk, s, -float("inf"))


@triton.jit
def fold(s, v, m, l, acc):
    m_new = tl.maximum(m, tl.max(s, 1))
    base = tl.where(m_new == -float("inf"), 0.0, m_new)
    p, factor = tl.exp(s - base[:, None]), tl.exp(m - base)
    return m_new, l * factor + tl.sum(p, 1), tl.dot(p.to(v.dtype), v, acc * factor[:, None], input_precision="ieee")


@triton.jit
def store_tile(O, lse, stride, first, end, D, m, l, acc, BLOCK_M: tl.constexpr, BLOCK_D: tl.constexpr):
    rows, dims = first + tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_D)
    acc = acc / tl.where(l == 0, 1.0, l)[:, None]
    tl.store(O + rows[:, None] * stride + dims[None, :], acc, mask=(rows[:, None] < end) & (dims[None, :] < D))
    tl.store(lse + rows, m + tl.log(l), mask=rows < end)
# [tiles]


# [09]
@triton.jit
def flash2_forward_kernel(Q, K, V, O, lse, q_strides, k_strides, v_strides, o_strides, H, Nq, Nk, D, scale,
                          BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    first, batch, head = tl.program_id(0) * BLOCK_M, tl.program_id(1) // H, tl.program_id(1) % H
    Q, K = Q + batch * q_strides[0] + head * q_strides[1], K + batch * k_strides[0] + head * k_strides[1]
    V, O = V + batch * v_strides[0] + head * v_strides[1], O + batch * o_strides[0] + head * o_strides[1]
    q = load_tile(Q, q_strides[2], first, Nq, D, BLOCK_M, BLOCK_D)
    m, l = tl.full((BLOCK_M,), -float("inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    for start in range(0, Nk, BLOCK_N):
        s = scores(q, K, k_strides[2], start, Nk, D, scale, BLOCK_N, BLOCK_D)
        v = load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D)
        m, l, acc = fold(s, v, m, l, acc)
    store_tile(O, lse + tl.program_id(1) * Nq, o_strides[2], first, Nq, D, m, l, acc, BLOCK_M, BLOCK_D)
# [09]


# [10]
@triton.jit
def causal_kernel(Q, K, V, O, lse, q_strides, k_strides, v_strides, o_strides, H, Nq, Nk, D, scale,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * BLOCK_M  # the heaviest first
    batch, head = tl.program_id(1) // H, tl.program_id(1) % H
    Q, K = Q + batch * q_strides[0] + head * q_strides[1], K + batch * k_strides[0] + head * k_strides[1]
    V, O = V + batch * v_strides[0] + head * v_strides[1], O + batch * o_strides[0] + head * o_strides[1]
    q = load_tile(Q, q_strides[2], first, Nq, D, BLOCK_M, BLOCK_D)
    m, l = tl.full((BLOCK_M,), -float("inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    position = first + tl.arange(0, BLOCK_M) + Nk - Nq
    behind = tl.maximum(first + Nk - Nq + 1, 0) // BLOCK_N * BLOCK_N  # all queries see the keys before it
    seen = tl.minimum(tl.maximum(first + BLOCK_M + Nk - Nq, 0), Nk)
    for start in range(0, behind, BLOCK_N):
        s = scores(q, K, k_strides[2], start, Nk, D, scale, BLOCK_N, BLOCK_D)
        m, l, acc = fold(s, load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D), m, l, acc)
    for start in range(behind, seen, BLOCK_N):
        s = scores(q, K, k_strides[2], start, Nk, D, scale, BLOCK_N, BLOCK_D)
        s = tl.where(start + tl.arange(0, BLOCK_N)[None, :] <= position[:, None], s, -float("inf"))
        m, l, acc = fold(s, load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D), m, l, acc)
    store_tile(O, lse + tl.program_id(1) * Nq, o_strides[2], first, Nq, D, m, l, acc, BLOCK_M, BLOCK_D)
# [10]


# [11]
@triton.jit
def grouped_query_kernel(Q, K, V, O, lse, q_strides, k_strides, v_strides, o_strides, H, H_kv, Nq, Nk, D, scale,
                         CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    batch, kv_head, group = tl.program_id(1) // H_kv, tl.program_id(1) % H_kv, H // H_kv
    row = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    query, head, dims = row // group, kv_head * group + row % group, tl.arange(0, BLOCK_D)
    exists = (query[:, None] < Nq) & (dims[None, :] < D)
    q = tl.load(Q + batch * q_strides[0] + head[:, None] * q_strides[1] + query[:, None] * q_strides[2]
                + dims[None, :], mask=exists, other=0.0)  # fmt: skip
    K, V = K + batch * k_strides[0] + kv_head * k_strides[1], V + batch * v_strides[0] + kv_head * v_strides[1]
    m, l = tl.full((BLOCK_M,), -float("inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    acc, end = tl.zeros((BLOCK_M, BLOCK_D), tl.float32), Nk
    if CAUSAL:
        end = tl.minimum(tl.maximum(tl.max(query) + Nk - Nq + 1, 0), Nk)
    for start in range(0, end, BLOCK_N):
        s = scores(q, K, k_strides[2], start, Nk, D, scale, BLOCK_N, BLOCK_D)
        if CAUSAL:
            s = tl.where(start + tl.arange(0, BLOCK_N)[None, :] <= query[:, None] + Nk - Nq, s, -float("inf"))
        m, l, acc = fold(s, load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D), m, l, acc)
    o = O + batch * o_strides[0] + head[:, None] * o_strides[1] + query[:, None] * o_strides[2] + dims[None, :]
    tl.store(o, acc / tl.where(l == 0, 1.0, l)[:, None], mask=exists)
    tl.store(lse + (batch * H + head) * Nq + query, m + tl.log(l), mask=query < Nq)
# [11]


# [12 and 13]
@triton.jit
def hide(s, start, position, window, sinks, BLOCK_N: tl.constexpr):
    key = start + tl.arange(0, BLOCK_N)[None, :]
    seen = (key <= position[:, None]) & ((position[:, None] - key < window) | (key < sinks))
    return tl.where(seen, s, -float("inf"))


@triton.jit
def attention_sinks_kernel(Q, K, V, sink, O, lse, q_strides, k_strides, v_strides, o_strides, H, Nq, Nk, D, scale,
                           window, sinks, HAS_SINK: tl.constexpr,
                           BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    first, batch, head = tl.program_id(0) * BLOCK_M, tl.program_id(1) // H, tl.program_id(1) % H
    Q, K = Q + batch * q_strides[0] + head * q_strides[1], K + batch * k_strides[0] + head * k_strides[1]
    V, O = V + batch * v_strides[0] + head * v_strides[1], O + batch * o_strides[0] + head * o_strides[1]
    q = load_tile(Q, q_strides[2], first, Nq, D, BLOCK_M, BLOCK_D)
    m, l = tl.full((BLOCK_M,), -float("inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    acc = tl.zeros((BLOCK_M, BLOCK_D), tl.float32)
    if HAS_SINK:  # a key that has been seen before all others, with the value 0
        m = tl.zeros((BLOCK_M,), tl.float32) + tl.load(sink + head)
        l = tl.where(m == -float("inf"), 0.0, 1.0)
    position = first + tl.arange(0, BLOCK_M) + Nk - Nq
    end = tl.minimum(tl.maximum(first + BLOCK_M + Nk - Nq, 0), Nk)
    begin = tl.minimum(tl.maximum(first + Nk - Nq - window + 1, 0), end) // BLOCK_N * BLOCK_N
    for start in range(0, tl.minimum(sinks, begin), BLOCK_N):
        s = scores(q, K, k_strides[2], start, Nk, D, scale, BLOCK_N, BLOCK_D)
        s = hide(s, start, position, window, sinks, BLOCK_N)
        m, l, acc = fold(s, load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D), m, l, acc)
    for start in range(begin, end, BLOCK_N):
        s = scores(q, K, k_strides[2], start, Nk, D, scale, BLOCK_N, BLOCK_D)
        s = hide(s, start, position, window, sinks, BLOCK_N)
        m, l, acc = fold(s, load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D), m, l, acc)
    store_tile(O, lse + tl.program_id(1) * Nq, o_strides[2], first, Nq, D, m, l, acc, BLOCK_M, BLOCK_D)
# [12 and 13]


# [22 fold]
@triton.jit
def fold_in_16_bits(qk, v, to_log2, m, l, acc):
    """qk are products that nothing has scaled. P is rounded to V's type for its product with V alone."""
    m_new = tl.maximum(m, tl.max(qk, 1))
    base = tl.where(m_new == -float("inf"), 0.0, m_new)
    p, factor = tl.exp2((qk - base[:, None]) * to_log2), tl.exp2((m - base) * to_log2)
    return m_new, l * factor + tl.sum(p, 1), tl.dot(p.to(v.dtype), v, acc * factor[:, None])
# [22 fold]


@triton.jit
def tensor_core_attention_kernel(Q, K, V, O, lse, q_strides, k_strides, v_strides, o_strides, H, H_kv, Nq, Nk, D, scale,
                                 CAUSAL: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
                                 BLOCK_D: tl.constexpr):
    batch, head, kv_head = tl.program_id(0) // H, tl.program_id(0) % H, tl.program_id(0) % H // (H // H_kv)
    first = (tl.num_programs(1) - 1 - tl.program_id(1)) * BLOCK_M  # the heaviest first
    Q, K = Q + batch * q_strides[0] + head * q_strides[1], K + batch * k_strides[0] + kv_head * k_strides[1]
    V, O = V + batch * v_strides[0] + kv_head * v_strides[1], O + batch * o_strides[0] + head * o_strides[1]
    q = load_tile(Q, q_strides[2], first, Nq, D, BLOCK_M, BLOCK_D)
    m, l = tl.full((BLOCK_M,), -float("inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    acc, end = tl.zeros((BLOCK_M, BLOCK_D), tl.float32), Nk
    position = first + tl.arange(0, BLOCK_M)[:, None] + Nk - Nq
    if CAUSAL:
        end = tl.minimum(tl.maximum(first + BLOCK_M + Nk - Nq, 0), Nk)
    for start in range(0, end, BLOCK_N):
        key = start + tl.arange(0, BLOCK_N)[None, :]
        qk = tl.dot(q, tl.trans(load_tile(K, k_strides[2], start, Nk, D, BLOCK_N, BLOCK_D)))
        qk = tl.where(key < Nk, qk, -float("inf"))
        if CAUSAL:
            qk = tl.where(key <= position, qk, -float("inf"))
        v = load_tile(V, v_strides[2], start, Nk, D, BLOCK_N, BLOCK_D)
        m, l, acc = fold_in_16_bits(qk, v, scale * 1.4426950408889634, m, l, acc)
    store_tile(O, lse + (batch * H + head) * Nq, o_strides[2], first, Nq, D, m * scale, l, acc, BLOCK_M, BLOCK_D)


def padded(D):
    """The width of a tile for D numbers: tl.dot takes powers of 2 from 16 on."""
    return max(16, triton.next_power_of_2(D))


def strides(*tensors):
    return [tensor.stride()[:3] for tensor in tensors]


def launch(kernel, programs_of, D, bits, *arguments):
    """Starts `kernel` on as many programs as `programs_of` says for so many rows in a tile."""
    rows, keys, warps, stages = tile_of(D, bits)
    kernel[programs_of(rows)](*arguments, rows, keys, padded(D), num_warps=warps, num_stages=stages)


def flash2_forward(Q, K, V, O, lse, scale, kernel=flash2_forward_kernel):
    (B, H, Nq, D), Nk = Q.shape, K.shape[2]
    launch(kernel, lambda rows: (triton.cdiv(Nq, rows), B * H), D, 32,
           Q, K, V, O, lse, *strides(Q, K, V, O), H, Nq, Nk, D, scale)  # fmt: skip


def causal(Q, K, V, O, lse, scale):
    flash2_forward(Q, K, V, O, lse, scale, causal_kernel)


def grouped_query(Q, K, V, O, lse, scale, causal):
    (B, H, Nq, D), (_, H_kv, Nk, _) = Q.shape, K.shape
    launch(grouped_query_kernel, lambda rows: (triton.cdiv(Nq * (H // H_kv), rows), B * H_kv), D, 32,
           Q, K, V, O, lse, *strides(Q, K, V, O), H, H_kv, Nq, Nk, D, scale, causal)  # fmt: skip


def attention_sinks(Q, K, V, sink, O, lse, scale, window, sinks=0):
    """Causal, with a window, so many sink tokens, and a learned sink for each head or None."""
    (B, H, Nq, D), Nk = Q.shape, K.shape[2]
    launch(attention_sinks_kernel, lambda rows: (triton.cdiv(Nq, rows), B * H), D, 32,
           Q, K, V, sink, O, lse, *strides(Q, K, V, O), H, Nq, Nk, D, scale, min(window, Nk + 1), min(sinks, Nk),
           sink is not None)  # fmt: skip


def tensor_core_attention(Q, K, V, O, lse, scale, causal):
    """Q, K, V and O in bfloat16 or float16. Of lesson 22's masks it has the causal one."""
    (B, H, Nq, D), (_, H_kv, Nk, _) = Q.shape, K.shape
    launch(tensor_core_attention_kernel, lambda rows: (B * H, triton.cdiv(Nq, rows)), D, 16,
           Q, K, V, O, lse, *strides(Q, K, V, O), H, H_kv, Nq, Nk, D, scale, causal)  # fmt: skip
