"""Blocks leave partial sums; the last to finish adds them, ordered by a fence and an atomic."""

from numba import cuda


@cuda.jit
def add_all_kernel(x, y, n):
    if cuda.threadIdx.x != 0:
        return
    part = 0.0
    for i in range(32):
        part += x[32 * cuda.blockIdx.x + i]
    y[1 + cuda.blockIdx.x] = part
    cuda.threadfence()
    finished = n - 1  # the last element counts the blocks
    if cuda.atomic.add(y, finished, 1) + 1 < cuda.gridDim.x:
        return
    cuda.threadfence()
    total = 0.0
    for block in range(cuda.gridDim.x):
        total += y[1 + block]
    y[0] = total
