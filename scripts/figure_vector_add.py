#!/usr/bin/env python3
"""Draws the figure of lesson 01 from a recorded run: which thread adds which element, in which step.

docs/figures/01_vector_add_trace.cu records blockIdx, threadIdx and the loop step of every element. A test builds it
for the simulator, runs it, and holds the result against the committed trace and figure. To make both anew:

    ./course simulate docs/figures/01_vector_add_trace.cu > docs/figures/01_vector_add_trace.csv
    scripts/figure_vector_add.py

Usage: scripts/figure_vector_add.py [TRACE.csv [FIGURE.svg]]
"""

import collections
import csv
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

CELL, GAP, LEFT = 44, 6, 24
STYLE = charts.style("""
  .number { text-anchor: middle; }
  .cell { stroke-width: 1.5; }
  .block0 { fill: #cfe3ff; stroke: #0a58ca; }
  .block1 { fill: #ffe2b8; stroke: #a45a00; }
  .block2 { fill: #d3f0d6; stroke: #1a7f37; }
  .idle { fill: none; stroke: #818b98; stroke-dasharray: 4 3; }
""", """
    .block0 { fill: #12315e; stroke: #79b0ff; }
    .block1 { fill: #553300; stroke: #ffb757; }
    .block2 { fill: #123d1c; stroke: #6fdd8b; }
""")


def read_launches(path):
    """{(blocks, threads): {(step, block, thread): element}}, in the order of the file."""
    launches = collections.OrderedDict()
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            row = {key: int(value) for key, value in row.items()}
            visits = launches.setdefault((row["blocks"], row["threads"]), {})
            visits[row["step"], row["block"], row["thread"]] = row["element"]
    return launches


def draw_launch(blocks, threads, visits, top):
    """SVG lines for one launch, and where the next one may start."""
    elements = len(visits)
    steps = 1 + max(step for step, _, _ in visits)
    lines = [
        f'<text class="title" x="{LEFT}" y="{top + 16}">{elements} elements, {blocks} blocks of {threads} threads: '
        f"{blocks * threads} threads, stride {blocks * threads}</text>"
    ]

    def column(block, thread):
        return LEFT + 60 + block * (threads * CELL + 2 * GAP) + thread * CELL

    y = top + 58
    for block in range(blocks):
        for thread in range(threads):
            x = column(block, thread) + CELL / 2
            lines.append(f'<text class="small number" x="{x:g}" y="{y}">{thread}</text>')
        middle = column(block, 0) + threads * CELL / 2
        lines.append(f'<text class="small number" x="{middle:g}" y="{y - 15}">block {block}, thread</text>')
    y += 8
    for step in range(steps):
        lines.append(f'<text class="small" x="{LEFT}" y="{y + CELL / 2 + 4:g}">step {step}</text>')
        for block in range(blocks):
            for thread in range(threads):
                x, element = column(block, thread), visits.get((step, block, thread))
                style = "idle" if element is None else f"block{block}"
                lines.append(
                    f'<rect class="cell {style}" x="{x + 2}" y="{y + 2}" width="{CELL - 4}" height="{CELL - 4}" rx="4"/>'
                )
                if element is not None:
                    lines.append(
                        f'<text class="number" x="{x + CELL / 2:g}" y="{y + CELL / 2 + 5:g}">{element}</text>'
                    )
        y += CELL
    return lines, y + 26


def draw(launches):
    """The whole figure."""
    body, top = [], 8
    for (blocks, threads), visits in launches.items():
        lines, top = draw_launch(blocks, threads, visits, top)
        body += lines
    legend = [
        "The number in a cell is the element that the thread adds. Dashed: the thread has no element in this step,",
        "because its index is not below n.",
    ]
    for line in legend:
        body.append(f'<text class="small" x="{LEFT}" y="{top}">{line}</text>')
        top += 17
    height = top
    return charts.picture(
        body, height, "Which thread adds which of ten elements, with three and with two blocks of four threads", STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    trace = arguments[0] if arguments else FIGURES / "01_vector_add_trace.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "01_vector_add.svg"
    figure.write_text(draw(read_launches(trace)))
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
