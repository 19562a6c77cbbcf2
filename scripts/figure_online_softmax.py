#!/usr/bin/env python3
"""Draws the figure of lesson 05 from a recorded run: the maximum and the sum of a row, column by column.

docs/figures/05_online_softmax_trace.cu records them in the simulator. To make both anew:

    ./course simulate docs/figures/05_online_softmax_trace.cu > docs/figures/05_online_softmax_trace.csv
    scripts/figure_online_softmax.py

Usage: scripts/figure_online_softmax.py [TRACE.csv [FIGURE.svg]]
"""

import csv
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

HEIGHT = 430
LEFT, RIGHT = 56, 600
UPPER, LOWER = (52, 206), (252, 384)  # top and bottom of the two plots
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .column { fill: #818b98; }
  .line { fill: none; stroke-width: 2.5; }
  .max { stroke: #a45a00; }
  .sum { stroke: #0a58ca; }
  .wrong { stroke: #818b98; stroke-dasharray: 5 4; stroke-width: 2; }
  text.max { fill: #a45a00; stroke: none; }
  text.sum { fill: #0a58ca; stroke: none; }
  text.wrong { fill: #59636e; stroke: none; }
""", """
    .grid { stroke: #3d444d; }
    .column { fill: #9198a1; }
    .max { stroke: #ffb757; }
    .sum { stroke: #79b0ff; }
    .wrong { stroke: #9198a1; }
    text.max { fill: #ffb757; }
    text.sum { fill: #79b0ff; }
    text.wrong { fill: #b7bfc9; }
""")


def read_trace(path):
    """One dictionary of numbers for each column."""
    with open(path, newline="", encoding="utf-8") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


def steps(points):
    """A line that keeps its height until the next point."""
    path = [f"{points[0][0]:.1f},{points[0][1]:.1f}"]
    for (_, before), (at, after) in zip(points, points[1:]):
        path += [f"{at:.1f},{before:.1f}", f"{at:.1f},{after:.1f}"]
    return " ".join(path)


def draw(trace):
    count = len(trace)

    def across(col):
        return LEFT + (RIGHT - LEFT) * col / (count - 1)

    def scale(plot, lowest, highest):
        top, bottom = plot
        return lambda value: bottom - (bottom - top) * (value - lowest) / (highest - lowest)

    values = [row["x"] for row in trace]
    upper = scale(UPPER, math.floor(min(values)), math.ceil(max(values)))
    highest = 5 * math.ceil(max(row["unrescaled"] for row in trace) / 5)
    lower = scale(LOWER, 0, highest)
    body = ['<text class="title" x="24" y="28">One row, column by column: its maximum so far</text>',
            '<text class="title" x="24" y="240">and the sum of exp(x − maximum so far)</text>']
    for value in range(math.floor(min(values)), math.ceil(max(values)) + 1, 2):
        body += [f'<line class="grid" x1="{LEFT}" y1="{upper(value):.1f}" x2="{RIGHT}" y2="{upper(value):.1f}"/>',
                 f'<text class="small right" x="{LEFT - 8}" y="{upper(value) + 4:.1f}">{str(value).replace("-", "−")}</text>']
    for value in range(0, highest + 1, 5):
        body += [f'<line class="grid" x1="{LEFT}" y1="{lower(value):.1f}" x2="{RIGHT}" y2="{lower(value):.1f}"/>',
                 f'<text class="small right" x="{LEFT - 8}" y="{lower(value) + 4:.1f}">{value}</text>']
    for col in range(0, count, 16):
        body.append(f'<text class="small middle" x="{across(col):.1f}" y="{LOWER[1] + 18}">{col}</text>')
    body.append(f'<text class="small middle" x="{(LEFT + RIGHT) // 2}" y="{LOWER[1] + 36}">column</text>')
    body += [f'<circle class="column" cx="{across(row["col"]):.1f}" cy="{upper(row["x"]):.1f}" r="2"/>' for row in trace]
    for name, place, key in [("max", upper, "max"), ("wrong", lower, "unrescaled"), ("sum", lower, "sum")]:
        points = [(across(row["col"]), place(row[key])) for row in trace]
        body.append(f'<polyline class="line {name}" points="{steps(points)}"/>')
    last = trace[-1]
    body += [f'<text class="max" x="{RIGHT + 8}" y="{upper(last["max"]) + 5:.1f}">max</text>',
             f'<text class="sum" x="{RIGHT + 8}" y="{lower(last["sum"]) + 5:.1f}">sum</text>',
             f'<text class="wrong" x="{RIGHT - 4}" y="{lower(last["unrescaled"]) - 8:.1f}" text-anchor="end">'
             "never rescaled</text>"]
    return charts.picture(body, HEIGHT, "The maximum and the sum of a row after each of its columns", STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    trace = arguments[0] if arguments else FIGURES / "05_online_softmax_trace.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "05_online_softmax.svg"
    figure.write_text(draw(read_trace(trace)), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
