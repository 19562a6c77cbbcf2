#!/usr/bin/env python3
"""Draws the figure of lesson 14 from a recorded run: how far difference quotients lie from a gradient, against the step.

docs/figures/14_gradients_differences.cu measures them in the simulator. To make both anew:

    ./course simulate docs/figures/14_gradients_differences.cu > docs/figures/14_gradients_differences.csv
    scripts/figure_gradients.py

Usage: scripts/figure_gradients.py [DIFFERENCES.csv [FIGURE.svg]]
"""

import csv
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

HEIGHT = 420
LEFT, RIGHT, TOP, BOTTOM = 76, 636, 48, 352  # of the plot
SMALLEST_STEP = -40  # powers of two
LOWEST, HIGHEST = -11, 0  # powers of ten of the error
SERIES = {
    ("float32", "one-sided"): "single dashed",
    ("float32", "central"): "single",
    ("float64", "one-sided"): "double dashed",
    ("float64", "central"): "double",
}
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .mark { stroke: #59636e; stroke-dasharray: 2 3; }
  .line { fill: none; stroke-width: 2.5; }
  .dashed { stroke-dasharray: 6 4; }
  .single { stroke: #a45a00; fill: #a45a00; }
  .double { stroke: #0a58ca; fill: #0a58ca; }
  .line.single, .line.double { fill: none; }
  text.single, text.double { stroke: none; }
""", """
    .grid { stroke: #3d444d; }
    .mark { stroke: #b7bfc9; }
    .single { stroke: #ffb757; fill: #ffb757; }
    .double { stroke: #79b0ff; fill: #79b0ff; }
""")


def read_errors(path):
    """{(precision, quotient): [(log2 of the step, error), ...]}, in the order of the file."""
    errors = {}
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            key = row["precision"], row["quotient"]
            errors.setdefault(key, []).append((int(row["log2_step"]), float(row["error"])))
    return errors


def power(base, exponent):
    return f'{base}<tspan dy="-5" font-size="9">{"−" if exponent < 0 else ""}{abs(exponent)}</tspan>'


def draw(errors):
    def x(log2_step):
        return RIGHT + (RIGHT - LEFT) * log2_step / -SMALLEST_STEP

    def y(error):
        return BOTTOM - (BOTTOM - TOP) * (math.log10(error) - LOWEST) / (HIGHEST - LOWEST)

    body = ['<text class="title" x="24" y="28">Relative error of a difference quotient of a softmax</text>']
    for exponent in range(HIGHEST, LOWEST, -2):
        at = y(10.0**exponent)
        body.append(f'<line class="grid" x1="{LEFT}" y1="{at:.1f}" x2="{RIGHT}" y2="{at:.1f}"/>')
        body.append(f'<text class="small right" x="{LEFT - 8}" y="{at + 4:.1f}">{power(10, exponent)}</text>')
    for log2_step in range(SMALLEST_STEP, 1, 10):
        at = f"{x(log2_step):.1f}"
        body.append(f'<line class="grid" x1="{at}" y1="{TOP}" x2="{at}" y2="{BOTTOM}"/>')
        body.append(f'<text class="small middle" x="{at}" y="{BOTTOM + 18}">{power(2, log2_step)}</text>')
    body.append(f'<text class="small middle" x="{(LEFT + RIGHT) // 2}" y="{BOTTOM + 40}">step h</text>')
    tool = f"{x(-13):.1f}"
    body.append(f'<line class="mark" x1="{tool}" y1="{TOP}" x2="{tool}" y2="{BOTTOM}"/>')
    body.append(f'<text class="small middle" x="{tool}" y="{BOTTOM + 18}">{power(2, -13)}</text>')
    for key, points in errors.items():
        inside = [(log2_step, error) for log2_step, error in points if error <= 10.0**HIGHEST]
        path = " ".join(f"{x(log2_step):.1f},{y(error):.1f}" for log2_step, error in inside)
        body.append(f'<polyline class="line {SERIES[key]}" points="{path}"/>')
    for key, log2_step, error in (  # where the labels end: left of their lines
        (("float32", "one-sided"), -19.5, 2e-1),
        (("float32", "central"), -13.3, 2e-3),
        (("float64", "one-sided"), -24, 1e-8),
        (("float64", "central"), -16, 4e-11),
    ):
        name = SERIES[key].split()[0]
        body.append(f'<text class="{name} right" x="{x(log2_step):.1f}" y="{y(error):.1f}">{key[1]}, {key[0]}</text>')
    return charts.picture(
        body, HEIGHT, "Relative error of one-sided and central difference quotients of a softmax against the step, in float32 and float64",
        STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    differences = arguments[0] if arguments else FIGURES / "14_gradients_differences.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "14_gradients.svg"
    figure.write_text(draw(read_errors(differences)))
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
