"""Half of a shared array is filled, all of it is read."""

from numba import cuda, float32


@cuda.jit
def half_fill_kernel(x, y, n):
    tile = cuda.shared.array(64, float32)
    thread = cuda.threadIdx.x
    if thread < 32:
        tile[thread] = x[thread]
    cuda.syncthreads()
    value = tile[thread]  # bug: nobody wrote the second half
    y[thread] = -value if value < 0 else value
