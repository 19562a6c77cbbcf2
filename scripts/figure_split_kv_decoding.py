#!/usr/bin/env python3
"""Draws the figure of lesson 30: a sequence's pages in the cache, its tiles of keys in splits and warps, and the merges.

Which tiles a split and a warp get is computed as the lesson's contract says.

Usage: scripts/figure_split_kv_decoding.py [FIGURE.svg]
"""

import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
LENGTH, TILE, PAGE, SPLITS, WARPS = 168, 16, 32, 3, 4
TABLE, PAGES = (4, 1, 7, 0, 2, 5), 8  # of the sequence, and in the cache

LEFT, UNIT, HIGH = 96, 49, 26  # UNIT: of a tile
STYLE = charts.style("""
  .middle { text-anchor: middle; }
  .mono { font-family: ui-monospace, monospace; }
  .box { fill: #f6f8fa; stroke: #818b98; }
  .split0 { fill: #b6d4fe; stroke: #0a58ca; }
  .split1 { fill: #ffd8a8; stroke: #b35900; }
  .split2 { fill: #c3e6cb; stroke: #1a7f37; }
  .way { stroke: #818b98; fill: none; }
""", """
    .box { fill: #161b22; stroke: #7d8590; }
    .split0 { fill: #17386b; stroke: #79b0ff; }
    .split1 { fill: #5c3a14; stroke: #ffb86b; }
    .split2 { fill: #1b4a2a; stroke: #56d364; }
    .way { stroke: #7d8590; }
""")


def box(kind, x, y, width, label):
    return [f'<rect class="{kind}" x="{x:g}" y="{y}" width="{width:g}" height="{HIGH}" rx="3"/>',
            f'<text class="small middle" x="{x + width / 2:g}" y="{y + 17}">{label}</text>']


def way(x_from, y_from, x_to, y_to):
    return f'<path class="way" d="M {x_from:g} {y_from} L {x_to:g} {y_to}"/>'


def draw():
    tiles = -(-LENGTH // TILE)
    each = -(-tiles // SPLITS)
    page_width = UNIT * PAGE // TILE
    rows = {"cache": 46, "table": 118, "tiles": 168, "warps": 236, "splits": 298, "merged": 364}
    body = [f'<text class="title" x="16" y="26">A sequence of {LENGTH} tokens in pages of {PAGE}, '
            f'with {SPLITS} splits</text>']
    for name, label in (("cache", "cache"), ("table", "table"), ("tiles", "tiles"), ("warps", "warps"),
                        ("splits", "splits"), ("merged", "result")):
        body.append(f'<text x="16" y="{rows[name] + 17}">{label}</text>')
    cache_width = (tiles * UNIT) / PAGES
    for page in range(PAGES):
        body += box("box", LEFT + page * cache_width, rows["cache"], cache_width - 3,
                    f"page {page}" if page in TABLE else "")
    for number, page in enumerate(TABLE):
        x = LEFT + number * page_width
        width = min(page_width, LEFT + tiles * UNIT - x)
        body.append(way(x + width / 2, rows["table"], LEFT + (page + 0.5) * cache_width, rows["cache"] + HIGH))
        body += box("box mono", x, rows["table"], width - 3, page)
    parts = {}
    for tile in range(tiles):
        split, warp = tile // each, tile % each % WARPS
        x = LEFT + tile * UNIT
        tokens = min(LENGTH - tile * TILE, TILE)
        body += box(f"split{split}", x, rows["tiles"], UNIT * tokens / TILE - 3, tile)
        parts.setdefault(split, []).append((warp, x))
    for split in range(SPLITS):
        xs = [x for _, x in parts[split]]
        left, right = min(xs), max(xs) + UNIT
        width = (right - left) / WARPS
        middle = (left + right) / 2
        for warp in range(WARPS):
            x = left + warp * width
            has = [tile_x for owner, tile_x in parts[split] if owner == warp]
            for tile_x in has:
                body.append(way(tile_x + UNIT / 2 - 2, rows["tiles"] + HIGH, x + width / 2, rows["warps"]))
            body += box(f"split{split}" if has else "box", x, rows["warps"], width - 3, "lse" if has else "−∞")
            body.append(way(x + width / 2, rows["warps"] + HIGH, middle, rows["splits"]))
        body += box(f"split{split}", middle - 70, rows["splits"], 140, f"O, lse of split {split}")
        body.append(way(middle, rows["splits"] + HIGH, LEFT + tiles * UNIT / 2, rows["merged"]))
    body += box("box", LEFT + tiles * UNIT / 2 - 70, rows["merged"], 140, "O, lse")
    return charts.picture(body, rows["merged"] + HIGH + 20,
                          f"{LENGTH} tokens in {len(TABLE)} pages: {tiles} tiles, {SPLITS} splits, and how they are merged",
                          STYLE, width=664)


def main():
    check_words()
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else DOCS / "figures" / "30_split_kv_decoding.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
