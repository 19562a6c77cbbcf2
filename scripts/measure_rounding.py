#!/usr/bin/env python3
"""Measures what 16 bits cost lesson 22's kernel: its errors against attention in float64 on the same numbers, by length, by
magnitude, and where one key takes nearly all of the weight.

The kernel runs in the simulator. Beside its errors stand those of P rounded to 16 bits and of nothing else, in float64.

Usage: scripts/measure_rounding.py
Writes docs/results/22_rounding.json; `scripts/update_tables.py` then fills the notes' tables. Needs NumPy and `course`
built.
"""

import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"measure_rounding.py needs NumPy (Debian and Ubuntu: apt-get install python3-numpy): {error}.")

from make_golden_rounding import ROOT, round_16, stored

COURSE = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")) / "bin" / "course"
RESULT = ROOT / "docs" / "results" / "22_rounding.json"
FORMATS = ("bfloat16", "float16")
QUERIES, D, SEED = 128, 64, 20261125
LENGTHS = (64, 256, 1024, 4096, 16384)
MAGNITUDES = (1, 4, 16, 64)  # of Q and K
GAPS = (0, 6, 9, 12, 15, 18)  # by which the score of key 0 is above the others' mean


def normal(keys):
    """Standard normal Q, K and V, one head."""
    rng = np.random.default_rng(SEED)
    return {name: rng.standard_normal((1, 1, rows, D)) for name, rows in (("q", QUERIES), ("k", keys), ("v", keys))}


def with_magnitude(factor):
    x = normal(1024)
    return {**x, "q": factor * x["q"], "k": factor * x["k"]}


def with_gap(gap):
    """Key 0 has a score of `gap` from every query, and a value of 0: what heads make of a token that they do not need."""
    x = normal(1024)
    x["q"][..., 0], x["k"][..., 0] = 8.0, 0.0  # the scale is 1/8
    x["k"][0, 0, 0, :], x["v"][0, 0, 0, :] = 0.0, 0.0
    x["k"][0, 0, 0, 0] = gap
    return x


def words(x, format):
    """x rounded to the format, as a file holds it; what float16 has no number for is infinite."""
    return stored(round_16(x, format), format)


def kernel(x, format, folder):
    """O and lse of the lesson's solution."""
    for name, array in x.items():
        np.save(folder / f"{name}.npy", words(array, format))
    subprocess.run([COURSE, "run", "22", "--solution", "--backend", "cpu", "--in", folder, "--out", folder / "out"],
                   check=True, stdout=subprocess.DEVNULL)
    O, lse = (np.load(folder / "out" / f"{name}.npy") for name in ("o", "lse"))
    if format == "bfloat16":
        O = (O.astype(np.uint32) << 16).view(np.float32)
    return O.astype(np.float64), lse.astype(np.float64)


def exact(x, operands=None):
    """O and lse in float64; `operands` is the format that P is rounded to."""
    S = np.einsum("bhid,bhjd->bhij", x["q"], x["k"]) * D**-0.5
    top = S.max(axis=-1, keepdims=True)
    P = np.exp(S - top)
    l = P.sum(axis=-1, keepdims=True)
    return np.einsum("bhij,bhjd->bhid", round_16(P, operands) / l, x["v"]), (top + np.log(l))[..., 0]


def row(x, folder, **setting):
    """The errors of both formats: the largest in O, as a share of the largest |O|, and the largest in lse."""
    print(setting, flush=True)
    result = dict(setting)
    for format in FORMATS:
        rounded = {name: round_16(array, format) for name, array in x.items()}
        O, lse = exact(rounded)
        largest = np.abs(O).max()
        got_O, got_lse = kernel(rounded, format, folder)
        result[format] = {"largest_product": np.abs(np.einsum("bhid,bhjd->bhij", rounded["q"], rounded["k"])).max(),
                          "O": np.abs(got_O - O).max() / largest, "lse": np.abs(got_lse - lse).max(),
                          "O_of_rounded_P": np.abs(exact(rounded, format)[0] - O).max() / largest}
    return result


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        result = {"command": "scripts/measure_rounding.py", "date": datetime.date.today().isoformat(),
                  "numpy": np.__version__, "queries": QUERIES, "D": D,
                  "lengths": [row(normal(keys), folder, keys=keys) for keys in LENGTHS],
                  "magnitudes": [row(with_magnitude(factor), folder, factor=factor) for factor in MAGNITUDES],
                  "gaps": [row(with_gap(gap), folder, gap=gap) for gap in GAPS]}
    RESULT.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
