#!/usr/bin/env python3
"""Draws the figure of lesson 06: bytes that a matrix product reads for each multiply-add, against the side of its tiles,
as check mode counts them.

docs/figures/06_block_matmul_counts.json has the counts. To count anew, with `course` built:

    scripts/figure_block_matmul.py --count

Usage: scripts/figure_block_matmul.py [--count] [FIGURE.svg]
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
COURSE = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")) / "bin" / "course"
COUNTS = FIGURES / "06_block_matmul_counts.json"

# Label, explanation, entry, source.
SMALL = "tests/lessons/bench/06_block_matmul/less_reuse.cu"
SOLUTION = "solutions/06_block_matmul/block_matmul.cu"
OTHER = "tests/lessons/alternatives/06_block_matmul/strided_ownership.cu"
ROWS = [
    ("no tiles", "1 element a thread", "matmul", SMALL),
    ("tiles of 16 × 16", "1 element a thread", "matmul_tiled", SMALL),
    ("tiles of 32 × 32", "1 element a thread", "matmul_tiled", SOLUTION),
    ("tiles of 64 × 64", "4 × 4 elements a thread", "matmul", OTHER),
    ("tiles of 128 × 128", "8 × 8 elements a thread", "matmul", SOLUTION),
]
CASES = {"matmul_tiled": "tiled: reads A and B as often as tiles",
         "matmul": "reads A and B as often as tiles of 64 x 64"}
M, N, K = 128, 256, 64  # of these cases

LEFT, BAR_LEFT, BYTES_WIDE, ROW, TOP = 24, 196, 50, 54, 78
STYLE = charts.style("""
  .global { fill: #0a58ca; }
  .shared { fill: #bc4c00; }
""", """
    .global { fill: #79b0ff; }
    .shared { fill: #f0883e; }
""")


def first_launch(source, case):
    """What check mode counted in the first launch of a case."""
    with tempfile.TemporaryDirectory() as folder:
        result = pathlib.Path(folder) / "counts.json"
        subprocess.run([COURSE, "profile", "06", "--file", ROOT / source, "--case", case, "--all", "--json", result],
                       check=True, stdout=subprocess.DEVNULL)
        return json.loads(result.read_text(encoding="utf-8"))["launches"][0]


def count():
    counts = []
    for label, thread, entry, source in ROWS:
        counters = first_launch(source, CASES[entry])["total"]  # of row-major matrices
        counts.append({"tile": label, "thread": thread, "source": source, "entry": entry,
                       "global_bytes": counters["global_load"]["bytes"],
                       "shared_bytes": counters["shared_load"]["bytes_asked"]})
    COUNTS.write_text(json.dumps({"M": M, "N": N, "K": K, "counts": counts}, indent=2) + "\n", encoding="utf-8")
    print(f"wrote {COUNTS}")


def draw():
    recorded = json.loads(COUNTS.read_text(encoding="utf-8"))
    products = recorded["M"] * recorded["N"] * recorded["K"]
    title = "Bytes read for each multiply-add"
    body = [
        f'<text class="title" x="{LEFT}" y="26">{title}</text>',
        f'<rect class="global" x="{BAR_LEFT}" y="40" width="12" height="12" rx="2"/>',
        f'<text class="small" x="{BAR_LEFT + 18}" y="51">from global memory</text>',
        f'<rect class="shared" x="{BAR_LEFT + 170}" y="40" width="12" height="12" rx="2"/>',
        f'<text class="small" x="{BAR_LEFT + 188}" y="51">from shared memory</text>',
    ]
    for index, row in enumerate(recorded["counts"]):
        y = TOP + index * ROW
        body.append(f'<text x="{LEFT}" y="{y + 12}">{row["tile"]}</text>')
        body.append(f'<text class="small" x="{LEFT}" y="{y + 30}">{row["thread"]}</text>')
        for kind, offset in (("global", 0), ("shared", 18)):
            value = row[f"{kind}_bytes"] / products
            body.append(f'<rect class="{kind}" x="{BAR_LEFT}" y="{y + offset}" width="{max(value * BYTES_WIDE, 0.5):.1f}" '
                        'height="14" rx="2"/>')
            body.append(f'<text class="small" x="{BAR_LEFT + value * BYTES_WIDE + 6:.1f}" y="{y + offset + 11}">'
                        f'{value:.3g}</text>')
    height = TOP + len(recorded["counts"]) * ROW + 18
    body.append(f'<text class="small" x="{LEFT}" y="{height - 12}">Counted by check mode: M = {recorded["M"]}, '
                f'N = {recorded["N"]}, K = {recorded["K"]}, row-major</text>')
    return charts.picture(body, height, f"{title}, for tiles of five sizes", STYLE)


def main():
    check_words()
    arguments = sys.argv[1:]
    if "--count" in arguments:
        arguments.remove("--count")
        count()
    if len(arguments) > 1:
        sys.exit(__doc__)
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / "06_block_matmul.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
