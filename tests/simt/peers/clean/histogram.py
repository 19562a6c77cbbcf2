"""Threads count into shared bins, and blocks into global ones, with atomics."""

from numba import cuda, int32


@cuda.jit
def count_kernel(x, y, n):
    bins = cuda.shared.array(8, int32)
    thread = cuda.threadIdx.x
    if thread < 8:
        bins[thread] = 0
    cuda.syncthreads()
    cuda.atomic.add(bins, int(x[64 * cuda.blockIdx.x + thread]), 1)
    cuda.syncthreads()
    if thread < 8:
        cuda.atomic.add(y, thread, bins[thread])
