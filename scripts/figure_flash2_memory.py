#!/usr/bin/env python3
"""Draws the second figure of lesson 09: memory and time of attention against N, from the results of the benchmarks.

The points are those of docs/results/07_naive_attention_h200.json, 08_flash1_forward_h200.json,
09_flash2_forward_h200.json and 09_naive_torch_h200.json; the notes of the lessons say how to measure anew.

Usage: scripts/figure_flash2_memory.py [FIGURE.svg]
"""

import json
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
DIM, HEADS = 64, 64  # of the points that are drawn; 4 batches of 16 heads

TOP, WIDTH, HEIGHT = 76, 210, 250
PANELS = {"bytes": 66, "milliseconds": 372}  # left edges
X_LOW, X_HIGH = 10, 14  # log2 of N
LIMITS = {"bytes": (7, 11), "milliseconds": (-0.5, 2.2)}  # log10
RADIUS = {"PyTorch": 5.5, "07": 3, "08": 5.5, "09": 3}  # who coincides with another lies below it, and is larger
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #e1e6eb; }
  polyline { fill: none; stroke-width: 2; }
  .of-07 { stroke: #0a58ca; fill: #0a58ca; }
  .of-PyTorch { stroke: #818b98; fill: #818b98; }
  .of-08 { stroke: #8250df; fill: #8250df; }
  .of-09 { stroke: #b35900; fill: #b35900; }
  text.key { stroke: none; font-size: 12px; }
  polyline.of-07, polyline.of-PyTorch, polyline.of-08, polyline.of-09 { fill: none; }
""", """
    .grid { stroke: #262c36; }
    .of-07 { stroke: #79b0ff; fill: #79b0ff; }
    .of-PyTorch { stroke: #9198a1; fill: #9198a1; }
    .of-08 { stroke: #d2a8ff; fill: #d2a8ff; }
    .of-09 { stroke: #ffb86b; fill: #ffb86b; }
""")


def results(file, name):
    rows = json.loads((DOCS / "results" / file).read_text(encoding="utf-8"))[name]
    return [row for row in rows if row["D"] == DIM]


def measured():
    """For each lesson the rows (N, bytes beside Q, K and V, milliseconds)."""
    output = 4 * HEADS * DIM
    return {
        "07": [(row["N"], row["S_and_P_bytes"] + output * row["N"], row["milliseconds"])
               for row in results("07_naive_attention_h200.json", "naive_attention")],
        "PyTorch": [(row["N"], row["extra_bytes"], row["milliseconds"])
                    for row in results("09_naive_torch_h200.json", "torch_naive_attention")],
        "08": [(row["Nq"], row["result_bytes"], row["milliseconds"])
               for row in results("08_flash1_forward_h200.json", "flash1_forward")],
        "09": [(row["Nq"], row["result_bytes"], row["milliseconds"])
               for row in results("09_flash2_forward_h200.json", "flash2_forward")],
    }


def draw():
    data = measured()
    body = [f'<text class="title" x="24" y="26">Attention on an NVIDIA H200, 4 batches of 16 heads, D = {DIM}, float32</text>']
    for column, (panel, title) in enumerate((("bytes", "memory beside Q, K and V"), ("milliseconds", "time"))):
        left, (low, high) = PANELS[panel], LIMITS[panel]

        def x_of(size, left=left):
            return left + (math.log2(size) - X_LOW) / (X_HIGH - X_LOW) * WIDTH

        def y_of(value, low=low, high=high):
            return TOP + HEIGHT - (math.log10(value) - low) / (high - low) * HEIGHT

        body.append(f'<text class="small" x="{left}" y="{TOP - 20}">{title}</text>')
        labels = ({10**7: "10 MB", 10**8: "100 MB", 10**9: "1 GB", 10**10: "10 GB", 10**11: "100 GB"} if column == 0 else
                  {1: "1 ms", 10: "10 ms", 100: "100 ms"})
        for value, label in labels.items():
            body += [f'<line class="grid" x1="{left}" y1="{y_of(value):.1f}" x2="{left + WIDTH}" y2="{y_of(value):.1f}"/>',
                     f'<text class="small right" x="{left - 8}" y="{y_of(value) + 4:.1f}">{label}</text>']
        for power in range(X_LOW, X_HIGH + 1):
            body.append(f'<text class="small middle" x="{x_of(2**power):.1f}" y="{TOP + HEIGHT + 18}">{2**power}</text>')
        for lesson in RADIUS:
            points = [(x_of(row[0]), y_of(row[1 + column])) for row in data[lesson]]
            body.append(f'<polyline class="of-{lesson}" points="{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
            body += [f'<circle class="of-{lesson}" cx="{x:.1f}" cy="{y:.1f}" r="{RADIUS[lesson]}"/>' for x, y in points]
    middle = (PANELS["bytes"] + PANELS["milliseconds"] + WIDTH) / 2
    body.append(f'<text class="small middle" x="{middle:.0f}" y="{TOP + HEIGHT + 40}">N, as many queries as keys</text>')
    names = {"07": "07 naive", "PyTorch": "PyTorch, naive", "08": "08 FlashAttention", "09": "09 FlashAttention-2"}
    x = 66
    for lesson in RADIUS:
        y = TOP + HEIGHT + 66
        body += [f'<circle class="of-{lesson}" cx="{x}" cy="{y - 4}" r="4"/>',
                 f'<text class="of-{lesson} key" x="{x + 10}" y="{y}">{names[lesson]}</text>']
        x += 130
    height = TOP + HEIGHT + 84
    return charts.picture(body, height, "Memory and time of attention against the number of queries and keys", STYLE)


def main():
    check_words()
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures" / "09_flash2_forward_memory.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
