"""Threads count into shared bins without an atomic."""

from numba import cuda, int32


@cuda.jit
def count_kernel(x, y, n):
    bins = cuda.shared.array(8, int32)
    thread = cuda.threadIdx.x
    if thread < 8:
        bins[thread] = 0
    cuda.syncthreads()
    bins[int(x[thread])] += 1  # bug: two threads may count into one bin at once
    cuda.syncthreads()
    if thread < 8:
        y[thread] = bins[thread]
