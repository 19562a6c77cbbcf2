"""The last thread writes behind the end of a shared array."""

from numba import cuda, float32


@cuda.jit
def shift_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread + 1] = x[thread]  # bug: thread 63 writes tile[64]
    cuda.syncthreads()
    y[thread] = tile[thread] if thread > 0 else 0.0
