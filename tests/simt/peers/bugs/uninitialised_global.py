"""The input was allocated, but never written."""

from numba import cuda


@cuda.jit
def absolute_kernel(x, y, n):
    value = x[cuda.threadIdx.x]  # bug: nobody wrote x
    y[cuda.threadIdx.x] = -value if value < 0 else value
