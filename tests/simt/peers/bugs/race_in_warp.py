"""Neighbours in one warp exchange values through shared memory without __syncwarp()."""

from numba import cuda, float32


@cuda.jit
def swap_neighbours_kernel(x, y, n):
    tile = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]  # bug: nothing orders this write
    y[thread] = tile[thread ^ 1]  # bug: and the neighbour's read
