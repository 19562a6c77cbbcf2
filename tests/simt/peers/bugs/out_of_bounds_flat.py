"""The same in a flat array that only the kernel's author takes for 8 rows of 8."""

from numba import cuda, float32


@cuda.jit
def next_column_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    row, col = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    tile[8 * row + col] = x[8 * row + col]
    cuda.syncthreads()
    if row < 7:
        y[8 * row + col] = tile[8 * row + col + 1]  # bug: column 8 is column 0 of the next row
