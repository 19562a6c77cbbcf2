#!/usr/bin/env python3
"""Calls lessons' libraries through scripts/torch_comparison/library.py, in the simulator, with arrays of this test.

Usage: compare_torch_simulated_test.py COURSE LIBSIMT
"""

import ctypes
import math
import pathlib
import random
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
from torch_comparison import library  # noqa: E402

COURSE, LIBSIMT = None, None
TO_DEVICE, TO_HOST = 1, 2
B, H, N, D = 1, 2, 9, 4


class Device:
    """Memory of the simulated device."""

    def __init__(self, path):
        self.cuda = ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
        self.cuda.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
        self.cuda.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]

    def array(self, numbers):
        """Device memory with these numbers; its address."""
        host = (ctypes.c_float * len(numbers))(*numbers)
        pointer = ctypes.c_void_p()
        if self.cuda.cudaMalloc(ctypes.byref(pointer), ctypes.sizeof(host)) != 0:
            raise MemoryError("cudaMalloc")
        self.cuda.cudaMemcpy(pointer, host, ctypes.sizeof(host), TO_DEVICE)
        return pointer.value

    def numbers(self, address, count):
        host = (ctypes.c_float * count)()
        self.cuda.cudaDeviceSynchronize()
        self.cuda.cudaMemcpy(host, address, ctypes.sizeof(host), TO_HOST)
        return list(host)


def strides_of(layout):
    """Of (B, H, N, D) in elements."""
    return (H * N * D, N * D, D, 1) if layout == "bhnd" else (N * H * D, D, H * D, 1)


def attention(Q, K, V, strides, seen, sink):
    """O by the definition, as the numbers lie in memory; `sink` joins each denominator."""
    O = [0.0] * len(Q)
    for head in range(H):
        for i in range(N):
            def at(array, row, col, head=head):
                return array[head * strides[1] + row * strides[2] + col]

            weights = [math.exp(sum(at(Q, i, d) * at(K, j, d) for d in range(D)) / D**0.5) if seen(i, j) else 0.0
                       for j in range(N)]
            total = sum(weights) + math.exp(sink)
            for d in range(D):
                O[head * strides[1] + i * strides[2] + d] = sum(
                    weight * at(V, j, d) for j, weight in enumerate(weights)) / total
    return O


class Entries(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.device = Device(LIBSIMT)
        cls.paths = library.build_libraries(COURSE, [9, 13], "cpu")

    def attend(self, lesson, layout, settings, seen, sink=None):
        generator = random.Random(1)
        Q, K, V = ([generator.gauss(0, 1) for _ in range(B * H * N * D)] for _ in range(3))
        strides, shape = strides_of(layout), (B, H, N, D)
        arrays = {name: self.device.array(numbers) for name, numbers in (("Q", Q), ("K", K), ("V", V))}
        arrays["O"] = self.device.array([math.nan] * (B * H * N * D))
        views = {name: library.make_view(address, shape, strides) for name, address in arrays.items()}
        views["lse"] = library.make_view(self.device.array([math.nan] * (B * H * N)), (B, H, N), (H * N, N, 1))
        if sink is not None:
            views["sink"] = ctypes.c_void_p(self.device.array([sink] * H))
        loaded = library.Library(self.paths[lesson])
        loaded.bind(lesson, "forward", views, {"scale": D**-0.5, **settings})()
        expected = attention(Q, K, V, strides, seen, -math.inf if sink is None else sink)
        for found, exact in zip(self.device.numbers(arrays["O"], B * H * N * D), expected):
            self.assertAlmostEqual(found, exact, places=5)

    def test_views_carry_both_orders_of_axes(self):
        for layout in ("bhnd", "bnhd"):
            with self.subTest(layout):
                self.attend(9, layout, {}, lambda i, j: True)

    def test_numbers_and_a_null_pointer_arrive(self):
        self.attend(13, "bhnd", {"window": 3, "sinks": 2}, lambda i, j: j <= i and (i - j < 3 or j < 2))

    def test_a_pointer_arrives(self):
        self.attend(13, "bhnd", {"window": 3, "sinks": 0}, lambda i, j: j <= i and i - j < 3, sink=0.5)

    def test_the_entry_of_another_lesson_is_refused(self):
        with self.assertRaisesRegex(library.LibraryError, "has no entry causal_attention"):
            library.Library(self.paths[9]).bind(10, "forward", {}, {})

    def test_an_entry_with_other_parameters_is_refused(self):
        before = library.ENTRIES[9, "forward"]
        self.addCleanup(library.ENTRIES.__setitem__, (9, "forward"), before)
        library.ENTRIES[9, "forward"] = (before[0], "Q K V O lse scale causal")
        with self.assertRaisesRegex(library.LibraryError, "out of date"):
            library.Library(self.paths[9]).bind(9, "forward", {}, {})


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    COURSE, LIBSIMT = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
