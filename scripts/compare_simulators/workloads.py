"""The two kernels whose time is compared: their inputs, launches and true results."""

import numpy as np


def numbers(count, seed):
    """Numbers in [-0.5, 0.5), bit for bit those of the CUDA programs."""
    mixed = (np.arange(count, dtype=np.uint32) + np.uint32(seed)) * np.uint32(2654435761)
    return (mixed >> np.uint32(8)).astype(np.float32) / np.float32(16777216) - np.float32(0.5)


def multiply(A, B):
    A, B = (np.float64(matrix).reshape(256, 256) for matrix in (A, B))
    return A @ B


def attend(Q, K, V):
    Q, K, V = (np.float64(matrix).reshape(128, 32) for matrix in (Q, K, V))
    weights = np.exp(Q @ K.T / np.sqrt(32))
    return weights / weights.sum(axis=1, keepdims=True) @ V


# name: what it is, grid and block, inputs, elements of an input and of the result, true result, largest error allowed
WORKLOADS = {
    "matmul": ("tiled matmul, 16 x 16 tiles, N = 256, float32", (16, 16), (16, 16), 2, 256 * 256, multiply, 1e-4),
    "attention": ("attention, a thread a row, N = 128, d = 32, float32", (4,), (32,), 3, 128 * 32, attend, 1e-5),
}


def inputs_of(name):
    _, _, _, count, elements, _, _ = WORKLOADS[name]
    return [numbers(elements, 1000003 * i) for i in range(count)]


def largest_error(name, result):
    reference = WORKLOADS[name][5]
    return float(np.max(np.abs(np.float64(result) - reference(*inputs_of(name)).ravel())))


def is_right(name, result):
    return result.size == WORKLOADS[name][4] and largest_error(name, result) <= WORKLOADS[name][6]
