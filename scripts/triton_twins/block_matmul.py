"""Lesson 06 in Triton."""

import triton
import triton.language as tl

BLOCK_M, BLOCK_N, BLOCK_K = 64, 64, 16


# [kernel]
@triton.jit
def matmul_kernel(A, B, C, M, N, K, a_strides, b_strides, c_strides,
                  BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    tiles_across = tl.cdiv(N, BLOCK_N)
    rows = tl.program_id(0) // tiles_across * BLOCK_M + tl.arange(0, BLOCK_M)
    cols = tl.program_id(0) % tiles_across * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for first_k in range(0, K, BLOCK_K):
        k = first_k + tl.arange(0, BLOCK_K)
        a = tl.load(A + rows[:, None] * a_strides[0] + k[None, :] * a_strides[1],
                    mask=(rows[:, None] < M) & (k[None, :] < K), other=0.0)
        b = tl.load(B + k[:, None] * b_strides[0] + cols[None, :] * b_strides[1],
                    mask=(k[:, None] < K) & (cols[None, :] < N), other=0.0)
        acc = tl.dot(a, b, acc, input_precision="ieee")
    tl.store(C + rows[:, None] * c_strides[0] + cols[None, :] * c_strides[1], acc,
             mask=(rows[:, None] < M) & (cols[None, :] < N))
# [kernel]


def matmul(A, B, C):
    """C = A·B; A is (M, K), B is (K, N), C is (M, N), with any strides."""
    (M, K), N = A.shape, B.shape[1]
    tiles = triton.cdiv(M, BLOCK_M) * triton.cdiv(N, BLOCK_N)
    matmul_kernel[(tiles,)](A, B, C, M, N, K, A.stride(), B.stride(), C.stride(), BLOCK_M, BLOCK_N, BLOCK_K)
