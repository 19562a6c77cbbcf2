"""Bytes are written one by one and read in pairs, without a barrier."""

from numba import cuda, uint8


@cuda.jit
def pair_bytes_kernel(x, y, n):
    octets = cuda.shared.array(64, uint8)
    thread = cuda.threadIdx.x
    octets[thread] = x[thread]  # bug: no barrier between this byte
    y[thread] = octets[63 - thread]  # bug: and this one
