"""The same through a pointer to the row, whose length the pointer has forgotten."""

from numba import cuda, float32


@cuda.jit
def next_column_kernel(x, y, n):
    tile = cuda.shared.array((8, 8), float32)
    row, col = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8
    tile[row, col] = x[8 * row + col]
    cuda.syncthreads()
    tile_row = tile[row]
    if row < 7:
        y[8 * row + col] = tile_row[col + 1]  # bug: column 8 is column 0 of the next row
