"""Lesson 01 in Triton."""

import triton
import triton.language as tl

BLOCK = 1024


# [kernel]
@triton.jit
def vector_add_kernel(a, b, c, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(c + offsets, tl.load(a + offsets, mask=mask) + tl.load(b + offsets, mask=mask), mask=mask)
# [kernel]


def vector_add(a, b, c):
    """c = a + b; all are (n)."""
    vector_add_kernel[(triton.cdiv(len(c), BLOCK),)](a, b, c, len(c), BLOCK)
