#!/usr/bin/env python3
"""Checks that NumPy and the course read each other's .npy files.

usage: npy_interop.py HELPER

HELPER is the program built from tests/tensor/npy_interop_helper.cpp. Exit status: 0 if every file agrees,
1 if one does not, 77 (skipped) without NumPy.
"""

import itertools
import pathlib
import subprocess
import sys
import tempfile

from options import check_words

try:
    import numpy as np
except ImportError:
    print("SKIPPED: NumPy is not installed (Debian and Ubuntu: apt-get install python3-numpy)")
    sys.exit(77)

DTYPES = ["float16", "float32", "float64", "int32", "int64", "uint16"]  # uint16: the words of bfloat16
SHAPES = [(), (0,), (1,), (7,), (3, 0, 2), (4, 1), (5, 3), (2, 3, 4), (2, 3, 4, 5)]
VERSIONS = [(1, 0), (2, 0), (3, 0)]


def numpy_array(dtype, shape, rng):
    """Random bits: every NaN, subnormal and sign that the type has."""
    count = int(np.prod(shape, dtype=np.int64))
    return np.frombuffer(rng.bytes(count * np.dtype(dtype).itemsize), dtype=dtype).reshape(shape)


def check_what_numpy_writes(helper, folder):
    """NumPy writes, the course reads and writes again, NumPy reads: the same bits in row-major order."""
    rng = np.random.default_rng(2026)
    cases = []
    for dtype, shape, version, byte_order, order in itertools.product(DTYPES, SHAPES, VERSIONS, "<>", "CF"):
        array = numpy_array(dtype, shape, rng)
        original = folder / f"in{len(cases)}.npy"
        with original.open("wb") as file:
            stored = np.asarray(array.astype(np.dtype(dtype).newbyteorder(byte_order)), order=order)
            np.lib.format.write_array(file, stored, version=version)
        label = f"{dtype} {shape} version {version} byte order {byte_order} memory order {order}"
        cases.append((label, array, original, folder / f"out{len(cases)}.npy"))

    subprocess.run([helper, "copy"] + [str(path) for case in cases for path in case[2:]], check=True)
    for label, array, _, copy in cases:
        result = np.load(copy, allow_pickle=False)
        assert result.dtype == array.dtype, f"{label}: came back as {result.dtype}"
        assert result.shape == array.shape, f"{label}: came back with shape {result.shape}"
        assert result.flags.c_contiguous, f"{label}: came back in another memory order"
        assert result.tobytes() == array.tobytes(), f"{label}: came back with other values"
    return len(cases)


def words_of_bfloat16(numbers):
    """Numbers that bfloat16 has, as it stores them: the upper half of a float32."""
    return (numbers.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def check_what_the_course_rounds(helper, folder):
    """Numbers of every size, and those half way between two of float16, become the same float16 as in NumPy."""
    rng = np.random.default_rng(16)
    every = np.arange(0x7c00, dtype=np.uint16).view(np.float16).astype(np.float32)
    half_way = (every[1:] + every[:-1]) / 2
    numbers = np.concatenate([every, half_way, np.nextafter(half_way, 0), np.nextafter(half_way, 1e9),
                              rng.standard_normal(10000).astype(np.float32) * np.exp2(rng.integers(-30, 20, 10000))])
    numbers = np.concatenate([numbers, -numbers, [np.inf, -np.inf, 65519, 65520, 1e30]]).astype(np.float32)
    np.save(folder / "numbers.npy", numbers)
    subprocess.run([helper, "round", str(folder / "numbers.npy"), str(folder / "rounded.npy")], check=True)
    with np.errstate(over="ignore"):
        wanted = numbers.astype(np.float16)
    assert np.load(folder / "rounded.npy").tobytes() == wanted.tobytes(), "float16 is rounded in another way"
    return len(numbers)


def check_what_the_course_writes(helper, folder):
    """The course writes arrays that NumPy knows how to compute."""
    subprocess.run([helper, "make", str(folder)], check=True)
    checked = 0
    for dtype, rank in itertools.product(DTYPES, range(5)):
        shape = (5, 4, 3, 2)[:rank]
        expected = np.arange(np.prod(shape, dtype=np.int64)).reshape(shape)
        expected = words_of_bfloat16(expected) if dtype == "uint16" else expected.astype(dtype)
        variants = {f"{dtype}_{rank}.npy": expected}
        if rank >= 2:
            variants[f"{dtype}_{rank}_transposed.npy"] = expected.swapaxes(0, 1)
        for name, wanted in variants.items():
            for mmap_mode in (None, "r") if rank > 0 else (None,):
                got = np.load(folder / name, allow_pickle=False, mmap_mode=mmap_mode)
                assert got.dtype == wanted.dtype, f"{name}: {got.dtype}"
                assert np.array_equal(got, wanted), f"{name}: other values"
                checked += 1
    return checked


def main():
    check_words()
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        try:
            read = check_what_numpy_writes(sys.argv[1], folder)
            written = check_what_the_course_writes(sys.argv[1], folder)
            rounded = check_what_the_course_rounds(sys.argv[1], folder)
        except (AssertionError, subprocess.CalledProcessError) as error:
            print(f"FAILED: {error}")
            return 1
    print(f"NumPy {np.__version__}: {read} files read and {written} written by the course agree, and {rounded} numbers "
          "rounded to float16")
    return 0


if __name__ == "__main__":
    sys.exit(main())
