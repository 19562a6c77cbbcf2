"""A launch with too many threads in a block, whose error nobody looks at."""

from numba import cuda


@cuda.jit
def double_kernel(x, y, n):
    y[cuda.threadIdx.x] = 2 * x[cuda.threadIdx.x]
