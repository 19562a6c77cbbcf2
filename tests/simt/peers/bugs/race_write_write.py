"""Two warps fold their values into the same 32 elements."""

from numba import cuda, float32


@cuda.jit
def fold_kernel(x, y, n):
    tile = cuda.shared.array(32, float32)
    thread = cuda.threadIdx.x
    tile[thread % 32] = x[thread]  # bug: threads 32 apart write one element
    cuda.syncthreads()
    if thread < 32:
        y[thread] = tile[thread]
