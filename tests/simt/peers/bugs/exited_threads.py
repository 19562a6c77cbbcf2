"""Half a warp returns, and the rest of the block waits at a barrier."""

from numba import cuda, float32


@cuda.jit
def mirror_48_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread >= 48:
        return  # bug: half of the second warp
    tile[thread] = x[thread]
    cuda.syncthreads()  # bug: which never comes here
    y[thread] = tile[47 - thread]
