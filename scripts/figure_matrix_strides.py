#!/usr/bin/env python3
"""Draws the figure of lesson 02 from benchmark results: how fast four ways to move a matrix are.

docs/results/README.md has the commands that make the results. To draw the figure anew:

    scripts/figure_matrix_strides.py

Usage: scripts/figure_matrix_strides.py [FIGURE.svg]
"""

import json
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
GPU = "h200"

# Label, explanation, file of results, measurement in it.
BARS = [
    ("strided copy, rows to rows", "reads and writes side by side", "02_matrix_strides", "copy_rows_to_rows"),
    ("transpose, padded tile", "reads and writes side by side", "02_matrix_strides", "transpose"),
    ("transpose, unpadded tile", "32 passes through the banks for each read of the tile", "02_unpadded_tile",
     "transpose"),
    ("transpose by strided copy", "writes side by side, reads a row apart", "02_matrix_strides",
     "copy_columns_to_rows"),
    ("transpose without a tile", "reads side by side, writes a row apart", "02_naive_transpose", "transpose"),
]

LEFT, BAR_LEFT, BAR_WIDTH, ROW, TOP = 24, 216, 380, 52, 44
STYLE = charts.style("""
  .bar { fill: #0a58ca; }
  .all { fill: #e7ebf0; }
""", """
    .bar { fill: #79b0ff; }
    .all { fill: #262c36; }
""")


def read(name):
    return json.loads((DOCS / "results" / f"{name}_{GPU}.json").read_text(encoding="utf-8"))


def draw():
    machine = read(BARS[0][2])
    title = f"Moving {machine['rows']} × {machine['cols']} floats: share of the speed of a device-to-device copy"
    body = [f'<text class="title" x="{LEFT}" y="26">{title}</text>']
    for index, (label, why, name, key) in enumerate(BARS):
        result, y = read(name)[key], TOP + index * ROW
        share, rate = result["fraction_of_copy"], result["gigabytes_per_second"] / 1000
        body += [
            f'<text x="{LEFT}" y="{y + 16}">{label}</text>',
            f'<rect class="all" x="{BAR_LEFT}" y="{y + 2}" width="{BAR_WIDTH}" height="18" rx="3"/>',
            f'<rect class="bar" x="{BAR_LEFT}" y="{y + 2}" width="{share * BAR_WIDTH:.1f}" height="18" rx="3"/>',
            f'<text x="{BAR_LEFT + BAR_WIDTH + 8}" y="{y + 16}">{share * 100:.0f} %</text>',
            f'<text class="small" x="{BAR_LEFT}" y="{y + 36}">{rate:.2f} TB/s: {why}</text>',
        ]
    height = TOP + len(BARS) * ROW + 22
    body.append(f'<text class="small" x="{LEFT}" y="{height - 12}">{machine["gpu"]}, CUDA {machine["cuda"]}, '
                f'{machine["date"]}</text>')
    return charts.picture(body, height, "Speed of a strided copy and of four transposes on a GPU", STYLE)


def main():
    check_words()
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures" / "02_matrix_strides.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
