"""The guard of the last block lets one thread too many pass."""

from numba import cuda


@cuda.jit
def double_kernel(x, y, n):
    i = cuda.grid(1)
    if i <= n:
        y[i] = 2 * x[i]  # bug: i == n is outside
