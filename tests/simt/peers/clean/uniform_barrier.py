"""A barrier inside a branch that a whole block takes, or leaves, together."""

from numba import cuda, float32


@cuda.jit
def mirror_first_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    i = 64 * cuda.blockIdx.x + thread
    if cuda.blockIdx.x == 0:
        tile[thread] = x[i]
        cuda.syncthreads()
        y[i] = tile[63 - thread]
    else:
        y[i] = x[i]
