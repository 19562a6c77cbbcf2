#!/usr/bin/env python3
"""Draws the figure of lesson 20: when slabs are sent for, land and are multiplied, with one, two and three stages.

The times are those of the loop of the lesson, played through: a load takes LATENCY units, of which any number run side
by side; a product takes PRODUCT units, one after the other; a stage is free once its product has ended.

Usage: scripts/figure_async_pipeline.py [FIGURE.svg]
"""

import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
LATENCY, PRODUCT, SLABS, STAGES = 3, 2, 6, (1, 2, 3)

UNIT, ROW, LEFT, TOP = 18, 20, 96, 58
STYLE = charts.style("""
  .middle { text-anchor: middle; }
  .load { fill: #b6d4fe; stroke: #0a58ca; }
  .product { fill: #ffd8a8; stroke: #b35900; }
  .end { stroke: #59636e; stroke-dasharray: 3 3; }
""", """
    .load { fill: #17386b; stroke: #79b0ff; }
    .product { fill: #5c3a14; stroke: #ffb86b; }
    .end { stroke: #b7bfc9; }
""")


def played(stages):
    """For each slab when it is sent for and when its product begins."""
    ahead = stages - 1
    sent, begins = [], []
    for slab in range(SLABS):
        done = begins[-1] + PRODUCT if begins else 0  # with the slab before
        # In the prologue; or behind the barrier of the round `ahead` rounds earlier, which frees its stage.
        sent.append(done if ahead == 0 else 0 if slab < ahead else begins[slab - ahead])
        begins.append(max(sent[slab] + LATENCY, done))
    return sent, begins


def box(kind, x, y, units, label):
    left, width = LEFT + x * UNIT, units * UNIT
    return [f'<rect class="{kind}" x="{left}" y="{y}" width="{width}" height="{ROW - 4}" rx="3"/>',
            f'<text class="small middle" x="{left + width / 2:g}" y="{y + 12}">{label}</text>']


def draw():
    body = [f'<text class="title" x="24" y="26">{SLABS} slabs; a load takes {LATENCY} units of time, a product {PRODUCT}</text>']
    y = TOP
    for stages in STAGES:
        sent, begins = played(stages)
        places = min(stages, 2) if stages > 2 else 1  # loads that run side by side
        body.append(f'<text x="24" y="{y + 12}">{stages} {"stage" if stages == 1 else "stages"}</text>')
        for slab in range(SLABS):
            body += box("load", sent[slab], y + ROW * (slab % places), LATENCY, str(slab))
            body += box("product", begins[slab], y + ROW * places, PRODUCT, str(slab))
        end = begins[-1] + PRODUCT
        x = LEFT + end * UNIT
        body += [f'<line class="end" x1="{x}" y1="{y - 6}" x2="{x}" y2="{y + ROW * (places + 1)}"/>',
                 f'<text class="small" x="{x + 6}" y="{y + ROW * places + 12}">{end}</text>']
        y += ROW * (places + 1) + 26
    body += box("load", 0, y, LATENCY, "load") + box("product", LATENCY + 1, y, LATENCY + 1, "product")
    width, height = 664, y + 36
    return charts.picture(
        body, height, "Loads and products of six slabs over time, with one, two and three stages", STYLE, width=width)


def main():
    check_words()
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures" / "20_async_pipeline.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
