#!/usr/bin/env python3
"""Draws the figure of lesson 03 from a recorded run: the error of a float32 sum against how many parts it is summed in.

docs/figures/03_weighted_row_sum_errors.cu measures the errors in the simulator. To make both anew:

    ./course simulate docs/figures/03_weighted_row_sum_errors.cu > docs/figures/03_weighted_row_sum_errors.csv
    scripts/figure_weighted_row_sum.py

Usage: scripts/figure_weighted_row_sum.py [ERRORS.csv [FIGURE.svg]]
"""

import csv
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

HEIGHT = 372
LEFT, RIGHT, TOP, BOTTOM = 76, 500, 48, 312  # of the plot
LOWEST, HIGHEST = -8, -4  # powers of ten of the error
SERIES = {1: ("one", "1 thread"), 32: ("warp", "32 threads"), 256: ("block", "256 threads")}
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .line { fill: none; stroke-width: 2.5; }
  .one { stroke: #a45a00; fill: #a45a00; }
  .warp { stroke: #0a58ca; fill: #0a58ca; }
  .block { stroke: #1a7f37; fill: #1a7f37; }
  .line.one, .line.warp, .line.block { fill: none; }
  text.one, text.warp, text.block { stroke: none; }
""", """
    .grid { stroke: #3d444d; }
    .one { stroke: #ffb757; fill: #ffb757; }
    .warp { stroke: #79b0ff; fill: #79b0ff; }
    .block { stroke: #6fdd8b; fill: #6fdd8b; }
""")


def read_errors(path):
    """{parts: [(cols, error), ...]}, in the order of the file."""
    errors = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            errors.setdefault(int(row["parts"]), []).append((int(row["cols"]), float(row["error"])))
    return errors


def draw(errors):
    columns = [cols for cols, _ in errors[1]]
    first, last = math.log2(columns[0]), math.log2(columns[-1])

    def x(cols):
        return LEFT + (RIGHT - LEFT) * (math.log2(cols) - first) / (last - first)

    def y(error):
        return BOTTOM - (BOTTOM - TOP) * (math.log10(error) - LOWEST) / (HIGHEST - LOWEST)

    body = [f'<text class="title" x="24" y="28">Relative error of a float32 sum of numbers in [0, 1)</text>']
    for power in range(LOWEST, HIGHEST + 1):
        at = f"{y(10.0**power):.1f}"
        body.append(f'<line class="grid" x1="{LEFT}" y1="{at}" x2="{RIGHT}" y2="{at}"/>')
        body.append(
            f'<text class="small right" x="{LEFT - 8}" y="{float(at) + 4:.1f}">10'
            f'<tspan dy="-5" font-size="9">{"−" if power < 0 else ""}{abs(power)}</tspan></text>'
        )
    for log2 in range(int(first), int(last) + 1, 4):
        at = f"{x(2**log2):.1f}"
        body.append(f'<line class="grid" x1="{at}" y1="{TOP}" x2="{at}" y2="{BOTTOM}"/>')
        body.append(f'<text class="small middle" x="{at}" y="{BOTTOM + 18}">{2**log2:,}</text>')
    body.append(f'<text class="small middle" x="{(LEFT + RIGHT) // 2}" y="{BOTTOM + 40}">columns of the row</text>')
    for parts, points in errors.items():
        name, label = SERIES[parts]
        path = " ".join(f"{x(cols):.1f},{y(error):.1f}" for cols, error in points)
        body.append(f'<polyline class="line {name}" points="{path}"/>')
        body += [f'<circle class="{name}" cx="{x(cols):.1f}" cy="{y(error):.1f}" r="3"/>' for cols, error in points]
        body.append(f'<text class="{name}" x="{RIGHT + 12}" y="{y(points[-1][1]) + 5:.1f}">{label}</text>')
    return charts.picture(
        body, HEIGHT, "Relative error of a float32 sum against the number of columns, summed by 1, 32 and 256 threads",
        STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    errors = arguments[0] if arguments else FIGURES / "03_weighted_row_sum_errors.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "03_weighted_row_sum.svg"
    figure.write_text(draw(read_errors(errors)))
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
