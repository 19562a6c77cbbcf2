"""Every block adds to one number in global memory, without an atomic."""

from numba import cuda


@cuda.jit
def add_blocks_kernel(x, y, n):
    if cuda.threadIdx.x == 0:
        y[0] += x[cuda.blockIdx.x]  # bug: blocks run at the same time
