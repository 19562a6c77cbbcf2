"""A tile is refilled while slow threads still read it: the second barrier of the loop is missing."""

from numba import cuda, float32


@cuda.jit
def add_rounds_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    total = 0.0
    for first in range(0, n, 64):
        tile[thread] = x[first + thread]  # bug: overwrites what the last round
        cuda.syncthreads()
        total += tile[63 - thread]  # bug: still reads here
    y[thread] = total
