"""A prefix sum in one array: each thread reads its own element again after the barrier."""

from numba import cuda, float32


@cuda.jit
def scan_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]
    cuda.syncthreads()
    step = 1
    while step < 64:
        left = tile[thread - step] if thread >= step else 0.0
        cuda.syncthreads()
        tile[thread] += left
        cuda.syncthreads()
        step *= 2
    y[thread] = tile[thread]
