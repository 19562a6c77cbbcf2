#!/usr/bin/env python3
"""Draws the figure of lesson 19: what three ways to take powers of 2 cost at large scores.

docs/figures/19_register_tiling_rounding.cu measures them in the simulator. To make both anew:

    ./course simulate docs/figures/19_register_tiling_rounding.cu > docs/figures/19_register_tiling_rounding.csv
    scripts/figure_register_tiling.py

Usage: scripts/figure_register_tiling.py [ROUNDING.csv [FIGURE.svg]]
"""

import csv
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

HEIGHT, TOP, BOTTOM = 360, 104, 302
PLOTS = [("lse", "largest error of lse", 64, 320, (-7, -3)), ("output", "largest error of a result", 392, 648, (-8, -4))]
WAYS = [("scaled_first", "times log₂ e, then minus the maximum"), ("one_fmaf", "both in one fmaf"),
        ("difference_first", "minus the maximum, then times log₂ e")]
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .line { fill: none; stroke-width: 2.5; }
  .scaled_first { stroke: #bc4c00; }
  .one_fmaf { stroke: #0a58ca; stroke-dasharray: 6 4; }
  .difference_first { stroke: #1a7f37; }
""", """
    .grid { stroke: #3d444d; }
    .scaled_first { stroke: #f0883e; }
    .one_fmaf { stroke: #79b0ff; }
    .difference_first { stroke: #56d364; }
""")


def power(exponent: int) -> str:
    return "10" + str(exponent).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def draw(rows: list[dict]) -> str:
    body = []
    for index, (way, words) in enumerate(WAYS):
        x, y = ((24, 52), (352, 52), (24, 74))[index]
        body += [f'<line class="line {way}" x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}"/>',
                 f'<text class="small" x="{x + 30}" y="{y + 4}">{words}</text>']
    scores = sorted({float(row["score"]) for row in rows})
    low, high = math.log2(scores[0]), math.log2(scores[-1])
    for key, title, left, right, (least, most) in PLOTS:
        def across(score, left=left, right=right):
            return left + (right - left) * (math.log2(score) - low) / (high - low)

        def down(error, least=least, most=most):
            return BOTTOM - (BOTTOM - TOP) * (math.log10(error) - least) / (most - least)

        body.append(f'<text class="title" x="{left - 40}" y="28">{title[0].upper()}{title[1:]}</text>')
        for exponent in range(least, most + 1):
            y = down(10.0 ** exponent)
            body += [f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}"/>',
                     f'<text class="small right" x="{left - 8}" y="{y + 4:.1f}">{power(exponent)}</text>']
        for score in scores:
            body.append(f'<text class="small middle" x="{across(score):.1f}" y="{BOTTOM + 20}">{score:.0f}</text>')
        body.append(f'<text class="small middle" x="{(left + right) / 2:.0f}" y="{BOTTOM + 42}">size of the scores</text>')
        for way, _ in WAYS:
            points = " ".join(f"{across(float(row['score'])):.1f},{down(float(row[key])):.1f}" for row in rows if row["way"] == way)
            body.append(f'<polyline class="line {way}" points="{points}"/>')
    return charts.picture(
        body, HEIGHT, "Errors of lse and of a result against the size of the scores, for three ways to take powers of 2",
        STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    recorded = arguments[0] if arguments else FIGURES / "19_register_tiling_rounding.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "19_register_tiling.svg"
    with open(recorded, newline="", encoding="utf-8") as file:
        figure.write_text(draw(list(csv.DictReader(file))), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
