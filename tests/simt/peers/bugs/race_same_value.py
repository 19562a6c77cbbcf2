"""Every thread that sees a large value raises the same flag."""

from numba import cuda, int32


@cuda.jit
def raise_flag_kernel(x, y, n):
    found = cuda.shared.array(1, int32)
    thread = cuda.threadIdx.x
    if thread == 0:
        found[0] = 0
    cuda.syncthreads()
    if x[thread] > 3:
        found[0] = 1  # bug: several threads write it, all the same value
    cuda.syncthreads()
    y[thread] = found[0]
