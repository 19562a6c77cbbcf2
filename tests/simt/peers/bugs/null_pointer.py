"""The input was never allocated."""

from numba import cuda


@cuda.jit
def double_kernel(x, y, n):
    y[cuda.threadIdx.x] = 2 * x[cuda.threadIdx.x]  # bug: x is None
