"""Lesson 05 in Triton."""

import triton
import triton.language as tl

BLOCK = 1024


# [kernel]
@triton.jit
def online_softmax_kernel(X, Y, cols, x_stride, y_stride, BLOCK: tl.constexpr):
    X += tl.program_id(0) * x_stride
    Y += tl.program_id(0) * y_stride
    m, l = -float("inf"), 0.0
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(X + offsets, mask=offsets < cols, other=-float("inf"))
        m_new = tl.maximum(m, tl.max(x, axis=0))
        base = tl.where(m_new == -float("inf"), 0.0, m_new)
        l = l * tl.exp(m - base) + tl.sum(tl.exp(x - base), axis=0)
        m = m_new
    for start in range(0, cols, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        x = tl.load(X + offsets, mask=offsets < cols)
        tl.store(Y + offsets, tl.exp(x - m) / l, mask=offsets < cols)
# [kernel]


def online_softmax(X, Y):
    """Y = softmax of each row of X; both are (rows, cols), with elements of a row side by side."""
    online_softmax_kernel[(len(X),)](X, Y, X.shape[1], X.stride(0), Y.stride(0), BLOCK)
