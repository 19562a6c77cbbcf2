"""O = softmax(Q K^T / sqrt(d)) V, one thread a query row, online softmax."""

import math

from numba import cuda, float32

ROWS = 128
DIM = 32


@cuda.jit
def attention_kernel(Q, K, V, O):
    row = cuda.grid(1)
    q = cuda.local.array(DIM, float32)
    o = cuda.local.array(DIM, float32)
    for d in range(DIM):
        q[d] = Q[row * DIM + d]
        o[d] = 0
    largest, total = -math.inf, 0.0
    for key in range(ROWS):
        score = 0.0
        for d in range(DIM):
            score += q[d] * K[key * DIM + d]
        score *= 0.17677669  # 1 / sqrt(32)
        new_largest = max(largest, score)
        shrink, weight = math.exp(largest - new_largest), math.exp(score - new_largest)
        total = total * shrink + weight
        for d in range(DIM):
            o[d] = o[d] * shrink + weight * V[key * DIM + d]
        largest = new_largest
    for d in range(DIM):
        O[row * DIM + d] = o[d] / total
