"""The two halves of a block meet at two different barriers."""

from numba import cuda, float32


@cuda.jit
def two_barriers_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread < 32:
        tile[thread] = x[thread]
        cuda.syncthreads()  # bug: half of the block waits here
    else:
        tile[thread] = -x[thread]
        cuda.syncthreads()  # bug: the other half here
    y[thread] = tile[63 - thread]
