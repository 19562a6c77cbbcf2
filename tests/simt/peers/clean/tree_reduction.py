"""A sum over a block by halves, with a barrier after each."""

from numba import cuda, float32


@cuda.jit
def add_block_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[64 * cuda.blockIdx.x + thread]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if thread < step:
            tile[thread] += tile[thread + step]
        cuda.syncthreads()
        step //= 2
    if thread == 0:
        y[cuda.blockIdx.x] = tile[0]
