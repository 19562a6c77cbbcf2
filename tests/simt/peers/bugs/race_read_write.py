"""A block is mirrored through shared memory without a barrier."""

from numba import cuda, float32


@cuda.jit
def mirror_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]  # bug: no barrier between this write
    y[thread] = tile[63 - thread]  # bug: and this read
