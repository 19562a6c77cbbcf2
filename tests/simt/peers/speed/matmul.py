"""C = A B in tiles of 16 by 16 in shared memory."""

from numba import cuda, float32

SIZE = 256
TILE = 16


@cuda.jit
def matmul_kernel(A, B, C):
    A_smem = cuda.shared.array((TILE, TILE), float32)
    B_smem = cuda.shared.array((TILE, TILE), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + y, cuda.blockIdx.x * TILE + x
    total = float32(0)
    for first in range(0, SIZE, TILE):
        A_smem[y, x] = A[row * SIZE + first + x]
        B_smem[y, x] = B[(first + y) * SIZE + col]
        cuda.syncthreads()
        for k in range(TILE):
            total += A_smem[y, k] * B_smem[k, x]
        cuda.syncthreads()
    C[row * SIZE + col] = total
