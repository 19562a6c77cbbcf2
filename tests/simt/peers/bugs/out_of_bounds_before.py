"""Differences of neighbours, without a guard for the first element."""

from numba import cuda


@cuda.jit
def difference_kernel(x, y, n):
    i = cuda.grid(1)
    y[i] = x[i] - x[i - 1]  # bug: thread 0 reads in front of x
