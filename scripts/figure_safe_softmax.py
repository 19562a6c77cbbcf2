#!/usr/bin/env python3
"""Draws the figure of lesson 04 from benchmark results: the speed of a softmax against the length of its rows.

The notes of the lesson have the commands that make the results. To draw the figure anew:

    scripts/figure_safe_softmax.py

Usage: scripts/figure_safe_softmax.py [FIGURE.svg]
"""

import json
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
GPU = "h200"

# Class, file of results, label, and where the label stands.
SERIES = [
    ("small", "04_256_threads", "blocks of 256 threads", (540, 1.84)),
    ("large", "04_safe_softmax", "blocks of 1024 threads", (24000, 1.66)),
]

HEIGHT = 392
LEFT, RIGHT, TOP, BOTTOM = 64, 632, 52, 320  # of the plot
HIGHEST = 2.0
SHORTEST = 256  # columns; below, nearly all of the time is waiting
STYLE = """
  .page { fill: #ffffff; }
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .note { font-size: 12px; fill: #59636e; }
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .copy { stroke: #59636e; stroke-dasharray: 5 4; }
  .line { stroke-width: 2.5; }
  .small { stroke: #a45a00; fill: #a45a00; }
  .large { stroke: #0a58ca; fill: #0a58ca; }
  .line.small, .line.large { fill: none; }
  text.small, text.large { stroke: none; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .note { fill: #b7bfc9; }
    .grid { stroke: #3d444d; }
    .copy { stroke: #b7bfc9; }
    .small { stroke: #ffb757; fill: #ffb757; }
    .large { stroke: #79b0ff; fill: #79b0ff; }
  }
""".strip("\n")


def read(name):
    return json.loads((DOCS / "results" / f"{name}_{GPU}.json").read_text(encoding="utf-8"))


def draw():
    results = {name: read(name) for _, name, _, _ in SERIES}
    machine = results[SERIES[-1][1]]
    columns = [row["cols"] for row in machine["safe_softmax"] if row["cols"] >= SHORTEST]
    first, last = math.log2(columns[0]), math.log2(columns[-1])

    def x(cols):
        return LEFT + (RIGHT - LEFT) * (math.log2(cols) - first) / (last - first)

    def y(share):
        return BOTTOM - (BOTTOM - TOP) * share / HIGHEST

    body = ['<text class="title" x="24" y="28">Three reads and one write, by the speed of a copy</text>']
    for percent in range(0, 201, 50):
        at = f"{y(percent / 100):.1f}"
        style = "copy" if percent == 100 else "grid"
        body.append(f'<line class="{style}" x1="{LEFT}" y1="{at}" x2="{RIGHT}" y2="{at}"/>')
        body.append(f'<text class="note right" x="{LEFT - 8}" y="{float(at) + 4:.1f}">{percent} %</text>')
    for log2 in range(int(last), int(first) - 1, -2):
        at = f"{x(2**log2):.1f}"
        body.append(f'<line class="grid" x1="{at}" y1="{TOP}" x2="{at}" y2="{BOTTOM}"/>')
        body.append(f'<text class="note middle" x="{at}" y="{BOTTOM + 18}">{2**log2:,}</text>')
    body.append(f'<text class="note middle" x="{(LEFT + RIGHT) // 2}" y="{BOTTOM + 38}">columns of a row</text>')
    for style, name, label, (label_cols, label_share) in SERIES:
        rows = [row for row in results[name]["safe_softmax"] if row["cols"] >= SHORTEST]
        points = [(row["cols"], row["fraction_of_copy"]) for row in rows]
        path = " ".join(f"{x(cols):.1f},{y(share):.1f}" for cols, share in points)
        body.append(f'<polyline class="line {style}" points="{path}"/>')
        body += [f'<circle class="{style}" cx="{x(cols):.1f}" cy="{y(share):.1f}" r="3"/>' for cols, share in points]
        body.append(f'<text class="{style}" x="{x(label_cols):.1f}" y="{y(label_share):.1f}">{label}</text>')
    body.append(f'<text class="note" x="24" y="{HEIGHT - 12}">{machine["gpu"]}, CUDA {machine["cuda"]}, '
                f'{machine["date"]}; 2<tspan dy="-5" font-size="9">28</tspan><tspan dy="5"> elements</tspan></text>')
    return charts.picture(body, HEIGHT, "Speed of a softmax of three passes against the length of its rows", STYLE)


def main():
    check_words()
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures" / "04_safe_softmax.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
