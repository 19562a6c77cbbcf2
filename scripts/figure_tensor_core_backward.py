#!/usr/bin/env python3
"""Draws the figure of lesson 24: what rounding to 16 bits costs dQ, by the number of keys.

docs/figures/24_tensor_core_backward_rounding.cu measures it in the simulator. To make both anew:

    ./course simulate docs/figures/24_tensor_core_backward_rounding.cu > docs/figures/24_tensor_core_backward_rounding.csv
    scripts/figure_tensor_core_backward.py

Usage: scripts/figure_tensor_core_backward.py [ROUNDING.csv [FIGURE.svg]]
"""

import csv
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

HEIGHT, TOP, BOTTOM = 360, 104, 302
PLOTS = [("bfloat16", 64, 320, (-4, 0)), ("float16", 392, 648, (-4, 0))]
WAYS = [("operands", "dS rounded, as the kernels do"), ("sums", "dQ rounded after each tile"),
        ("delta", "delta rounded")]
SCORES = "2"  # the size of the scores that is drawn
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .line { fill: none; stroke-width: 2.5; }
  .delta { stroke: #bc4c00; }
  .sums { stroke: #0a58ca; stroke-dasharray: 6 4; }
  .operands { stroke: #1a7f37; }
""", """
    .grid { stroke: #3d444d; }
    .delta { stroke: #f0883e; }
    .sums { stroke: #79b0ff; }
    .operands { stroke: #56d364; }
""")


def power(exponent: int) -> str:
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def draw(rows: list[dict]) -> str:
    body = []
    for index, (way, words) in enumerate(WAYS):
        x, y = ((24, 52), (352, 52), (24, 74))[index]
        body += [f'<line class="line {way}" x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}"/>',
                 f'<text class="small" x="{x + 30}" y="{y + 4}">{words}</text>']
    rows = [row for row in rows if row["scores"] == SCORES]
    lengths = sorted({int(row["keys"]) for row in rows})
    low, high = math.log2(lengths[0]), math.log2(lengths[-1])
    for kind, left, right, (least, most) in PLOTS:
        def across(keys, left=left, right=right):
            return left + (right - left) * (math.log2(keys) - low) / (high - low)

        def down(error, least=least, most=most):
            return BOTTOM - (BOTTOM - TOP) * (math.log10(error) - least) / (most - least)

        body.append(f'<text class="title" x="{left - 40}" y="28">Error of dQ, {kind}</text>')
        for exponent in range(least, most + 1):
            y = down(10.0 ** exponent)
            body += [f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>',
                     f'<text class="small right" x="{left - 8}" y="{y + 4:.1f}">{power(exponent)}</text>']
        for keys in lengths:
            body.append(f'<text class="small middle" x="{across(keys):.1f}" y="{BOTTOM + 20}">{keys:,}</text>')
        body.append(f'<text class="small middle" x="{(left + right) / 2:.0f}" y="{BOTTOM + 42}">keys</text>')
        for way, _ in WAYS:
            points = " ".join(f"{across(int(row['keys'])):.1f},{down(float(row[way])):.1f}"
                              for row in rows if row["type"] == kind)
            body.append(f'<polyline class="line {way}" points="{points}"/>')
    return charts.picture(
        body, HEIGHT, "Errors of dQ against the number of keys in both types, where dS, dQ or delta is rounded to 16 bits",
        STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    recorded = arguments[0] if arguments else FIGURES / "24_tensor_core_backward_rounding.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "24_tensor_core_backward.svg"
    with open(recorded, newline="", encoding="utf-8") as file:
        figure.write_text(draw(list(csv.DictReader(file))), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
