#!/usr/bin/env python3
"""Counts in the simulator what each step of lesson 06 is worth: one element a thread, a tile of registers, wide reads, two
pairs of slabs.

The steps are the solution, or edits of it. Each is run as a test case of the lesson, which has to pass.

Usage: scripts/measure_matmul_steps.py
Writes docs/results/06_steps.json; `scripts/update_tables.py` then fills the notes' table. Needs `course` built.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from options import check_words
from solution_page import page_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
COURSE = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")) / "bin" / "course"
SOLUTION = ROOT / "solutions" / "06_block_matmul" / "block_matmul.cu"
RESULT = ROOT / "docs" / "results" / "06_steps.json"
CASES = {"matmul_tiled": "tiled: reads A and B as often as tiles", "matmul": "reads A and B as often as tiles of 64 x 64"}
M, N, K = 128, 256, 64  # of these cases

NARROW_READS = ("""  const float4 four = *reinterpret_cast<const float4*>(from_smem);
  to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
""", """  for (int e = 0; e < 4; ++e) to[e] = from_smem[e];
""")
TWO_PAIRS = ("""  __shared__ alignas(16) Slab A_smem, B_smem;
""", """  __shared__ alignas(16) Slab A_smem[2], B_smem[2];
""")
LOAD_AHEAD = ("""  for (std::int64_t first_k = 0; first_k < K; first_k += kDepth) {
    load_slab(A, first_row, first_k, A_smem);
    load_slab(Bt, first_col, first_k, B_smem);
    __syncthreads();  // both slabs are complete: a thread may read what others loaded
    multiply_add(A_smem, B_smem, first_i, first_j, acc);
    __syncthreads();  // all threads have read them: the next step may overwrite them
  }
""", """  load_slab(A, first_row, 0, A_smem[0]);
  load_slab(Bt, first_col, 0, B_smem[0]);
  for (std::int64_t first_k = 0, now = 0; first_k < K; first_k += kDepth, now = 1 - now) {
    __syncthreads();  // this pair is complete, and all threads have read the other one
    if (first_k + kDepth < K) {
      load_slab(A, first_row, first_k + kDepth, A_smem[1 - now]);
      load_slab(Bt, first_col, first_k + kDepth, B_smem[1 - now]);
    }
    multiply_add(A_smem[now], B_smem[now], first_i, first_j, acc);
  }
""")
# Step, entry, edits of the solution.
STEPS = [
    ("one element a thread", "matmul_tiled", []),
    ("8 × 8 elements in registers", "matmul", [NARROW_READS]),
    ("reads of 16 bytes", "matmul", []),
    ("two pairs of slabs", "matmul", [TWO_PAIRS, LOAD_AHEAD]),
]


def with_edits(edits):
    text = page_of(SOLUTION.read_text(encoding="utf-8"))
    for before, after in edits:
        if text.count(before) != 1:
            sys.exit(f"the solution of lesson 06 has {text.count(before)} times instead of once:\n{before}")
        text = text.replace(before, after)
    return text


def count(entry, edits):
    """The counters of the first launch of the entry's case."""
    with tempfile.TemporaryDirectory() as folder:
        kernel, result = pathlib.Path(folder) / "block_matmul.cu", pathlib.Path(folder) / "counts.json"
        kernel.write_text(with_edits(edits), encoding="utf-8")
        subprocess.run([COURSE, "profile", "06", "--file", kernel, "--case", CASES[entry], "--all", "--json", result], check=True,
                       stdout=subprocess.DEVNULL)
        launch = json.loads(result.read_text(encoding="utf-8"))["launches"][0]
    total = launch["total"]
    blocks = launch["grid"][0] * launch["grid"][1] * launch["grid"][2]
    warps = launch["block"][0] * launch["block"][1] * launch["block"][2] // 32
    return {"shared_bytes": total["shared_load"]["bytes_asked"], "shared_reads": total["shared_load"]["requests"],
            "wavefronts": total["shared_load"]["wavefronts"], "barriers": total["barriers"] // (blocks * warps)}


def main():
    check_words()
    if len(sys.argv) > 1:
        sys.exit(__doc__)
    rows = [{"step": step, "entry": entry, **count(entry, edits)} for step, entry, edits in STEPS]
    RESULT.write_text(json.dumps({"M": M, "N": N, "K": K, "rows": rows}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {RESULT}")


if __name__ == "__main__":
    main()
