"""An integer is divided by an input that may be zero."""

from numba import cuda


@cuda.jit
def divide_kernel(x, y, n):
    y[cuda.threadIdx.x] = n // int(x[cuda.threadIdx.x])  # bug: x[0] is 0
