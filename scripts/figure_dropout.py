#!/usr/bin/env python3
"""Draws the figure of lesson 18: which weights its three kernels drop, around a place where four tiles meet.

That is what the solution did in the simulator, recorded in docs/figures/18_dropout_masks.csv. To run it again, and to
draw:

    scripts/figure_dropout.py --measure

Usage: scripts/figure_dropout.py [--measure] [FIGURE.svg]
"""

import csv
import sys

import attention_tiles
from diagrams import charts

LESSON = "18_dropout"
DATA = f"{LESSON}_masks.csv"
FIRST, COUNT, BOUNDARY = 48, 32, 64  # the queries and keys that are drawn, and where tiles meet
CELL, TOP, LEFT, GAP = 4.25, 92, 30, 20  # pixels
PANELS = [("O", 0, "O, head 0", "a row of tiles"), ("dV", 0, "dV, head 0", "a column of tiles"),
          ("dQ", 0, "dQ, head 0", "a row of tiles"), ("O", 1, "O, head 1", "another head")]


def read():
    """{(kernel, head): [a string for each query, with an x for each key whose weight is dropped]}"""
    masks = {}
    with (attention_tiles.FIGURES / DATA).open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            masks.setdefault((row["kernel"], int(row["head"])), []).append(row["keys"])
    return masks


def text(style, x, y, words, anchor="start"):
    return f'<text class="{style}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{words}</text>'


def panel(mask, x, name, caption):
    size = COUNT * CELL
    middle = (BOUNDARY - FIRST) * CELL
    cells = "".join(
        f"M{x + (key - FIRST) * CELL:g} {TOP + (query - FIRST) * CELL:g}h{CELL}v{CELL}h-{CELL}z"
        for query in range(FIRST, FIRST + COUNT) for key in range(FIRST, FIRST + COUNT) if mask[query][key] == "x")
    dropped = sum(row.count("x") for row in mask) / sum(map(len, mask))
    return [text("label", x, TOP - 26, name), text("small", x, TOP - 10, caption),
            f'<rect class="skipped" x="{x:g}" y="{TOP}" width="{size:g}" height="{size:g}"/>',
            f'<path class="seen" d="{cells}"/>',
            f'<path class="boundary" d="M{x + middle:g} {TOP - 4}v{size + 8:g}M{x - 4:g} {TOP + middle:g}h{size + 8:g}"/>',
            text("small", x, TOP + size + 20, f"{100 * dropped:.1f} % of all")]


def figure():
    masks = read()
    if not masks["O", 0] == masks["dV", 0] == masks["dQ", 0]:
        sys.exit("the three kernels do not drop the same weights")
    title = f"Weights that are dropped, of queries and keys {FIRST} to {FIRST + COUNT - 1}, with p = 0.25"
    body = []
    for index, (kernel, head, name, caption) in enumerate(PANELS):
        body += panel(masks[kernel, head], LEFT + index * (COUNT * CELL + GAP), name, caption)
    height = round(TOP + COUNT * CELL + 40)
    style = attention_tiles.STYLE.replace(
        "  @media", "  .label { font-size: 13px; }\n  .boundary { stroke: #0a58ca; stroke-width: 1; fill: none; }\n  @media")
    style = style.removesuffix("  }") + "    .boundary { stroke: #79b0ff; }\n  }"
    return charts.picture([text("title", 24, 30, title), *body], height, title, style)


if __name__ == "__main__":
    attention_tiles.main(__doc__, LESSON, [(f"{LESSON}_masks.cu", DATA, ())], figure)
