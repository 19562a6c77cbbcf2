"""A racing store that an optimiser removes, because the next line overwrites it."""

from numba import cuda, float32


@cuda.jit
def publish_kernel(x, y, n):
    chosen = cuda.shared.array(1, float32)
    thread = cuda.threadIdx.x
    chosen[0] = x[thread]  # bug: every thread writes its own value
    chosen[0] = x[0]  # bug: and this one, which another's line above may overwrite
    cuda.syncthreads()
    y[thread] = chosen[0]
