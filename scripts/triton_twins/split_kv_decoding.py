"""Lesson 30 in Triton.

Q and O are (B, H, Nq, D), the pages of K and V are (pages, H_kv, page_size, D), lse is (B, H, Nq). What a split leaves
is (splits, B, H, Nq, D) and (splits, B, H, Nq). Elements of a row lie side by side; O, lse, the parts and the table
have no gaps.
"""

import torch
import triton
import triton.language as tl
from attention_forward import fold, padded

BLOCK_N = 64


# [30 split]
@triton.jit
def load_rows(X, strides, page, kv_head, row, inside, dims, D):
    rows = X + page * strides[0] + kv_head * strides[1] + row * strides[2]
    return tl.load(rows[:, None] + dims[None, :], mask=inside[:, None] & (dims[None, :] < D), other=0.0)


@triton.jit
def split_kernel(Q, K, V, table, lengths, O, lse, q_strides, k_strides, v_strides, columns, page_size, H, H_kv, Nq, D,
                 scale, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_D: tl.constexpr):
    split, kv_head, batch = tl.program_id(0), tl.program_id(1), tl.program_id(2)
    rows, dims, length = tl.arange(0, BLOCK_M), tl.arange(0, BLOCK_D), tl.load(lengths + batch)
    head, token = kv_head * (H // H_kv) + rows // Nq, rows % Nq  # all rows of a group in one tile
    mask = (rows[:, None] < H // H_kv * Nq) & (dims[None, :] < D)
    q = tl.load(Q + batch * q_strides[0] + (head * q_strides[1] + token * q_strides[2])[:, None] + dims[None, :],
                mask=mask, other=0.0)
    m, l = tl.full((BLOCK_M,), -float("inf"), tl.float32), tl.zeros((BLOCK_M,), tl.float32)
    acc, tiles = tl.zeros((BLOCK_M, BLOCK_D), tl.float32), tl.cdiv(length, BLOCK_N)
    each = tl.cdiv(tiles, tl.num_programs(0))
    for tile in range(split * each, tl.minimum((split + 1) * each, tiles)):
        key = tile * BLOCK_N + tl.arange(0, BLOCK_N)
        page = tl.load(table + batch * columns + key // page_size, mask=key < length, other=0)
        k = load_rows(K, k_strides, page, kv_head, key % page_size, key < length, dims, D)
        v = load_rows(V, v_strides, page, kv_head, key % page_size, key < length, dims, D)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
        s = tl.where(key[None, :] <= (length - Nq + token)[:, None], s, -float("inf"))
        m, l, acc = fold(s, v, m, l, acc)
    at = ((split * tl.num_programs(2) + batch) * H + head) * Nq + token
    tl.store(O + at[:, None] * D + dims[None, :], acc / tl.where(l == 0, 1.0, l)[:, None], mask=mask)
    tl.store(lse + at, m + tl.log(l), mask=rows < H // H_kv * Nq)
# [30 split]


# [30 merge]
@triton.jit
def merge_kernel(parts, part_lse, O, lse, rows, splits, D, SPLITS: tl.constexpr, BLOCK_D: tl.constexpr):
    row, split, dims = tl.program_id(0), tl.arange(0, SPLITS), tl.arange(0, BLOCK_D)
    part = tl.load(part_lse + split * rows + row, mask=split < splits, other=-float("inf"))
    base = tl.max(part, 0)
    weight = tl.exp(part - tl.where(base == -float("inf"), 0.0, base))  # 0 for a split without keys
    l = tl.sum(weight, 0)
    values = tl.load(parts + (split * rows + row)[:, None] * D + dims[None, :],
                     mask=(split[:, None] < splits) & (dims[None, :] < D), other=0.0)
    tl.store(O + row * D + dims, tl.sum(weight[:, None] * values, 0) / tl.where(l == 0, 1.0, l), mask=dims < D)
    tl.store(lse + row, base + tl.log(l))
# [30 merge]


def decode(Q, K_pages, V_pages, table, lengths, O, lse, scale, splits):
    (B, H, Nq, D), (_, H_kv, page_size, _) = Q.shape, K_pages.shape
    parts = torch.empty((splits, *Q.shape), dtype=torch.float32, device=Q.device)
    part_lse = torch.empty((splits, *lse.shape), dtype=torch.float32, device=Q.device)
    strides = [tensor.stride()[:3] for tensor in (Q, K_pages, V_pages)]
    split_kernel[(splits, H_kv, B)](
        Q, K_pages, V_pages, table, lengths, parts, part_lse, *strides, table.shape[1], page_size, H, H_kv, Nq, D,
        scale, padded(H // H_kv * Nq), BLOCK_N, padded(D))  # fmt: skip
    merge_kernel[(B * H * Nq,)](
        parts, part_lse, O, lse, B * H * Nq, splits, D, triton.next_power_of_2(splits), padded(D))  # fmt: skip
