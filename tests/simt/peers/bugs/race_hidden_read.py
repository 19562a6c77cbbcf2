"""A racing read that an optimiser moves into a branch that this run does not take."""

from numba import cuda, float32


@cuda.jit
def maybe_mirror_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    tile[thread] = x[thread]  # bug: no barrier between this write
    opposite = tile[63 - thread]  # bug: and this read
    if n < 0:
        y[thread] = opposite
