"""A column index past the end of its row lands in the next row of the same array."""

from numba import cuda, float32


@cuda.jit
def next_column_kernel(x, y, n):
    tile = cuda.shared.array((8, 8), float32)
    row, col = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    tile[row, col] = x[8 * row + col]
    cuda.syncthreads()
    if row < 7:
        y[8 * row + col] = tile[row, col + 1]  # bug: column 8 is column 0 of the next row
