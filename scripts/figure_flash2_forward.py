#!/usr/bin/env python3
"""Draws the first figure of lesson 09 from a recorded run: m, l and an element of O of one row, tile by tile.

docs/figures/09_flash2_forward_row.cu records them in the simulator. To make both anew:

    ./course simulate docs/figures/09_flash2_forward_row.cu > docs/figures/09_flash2_forward_row.csv
    scripts/figure_flash2_forward.py

Usage: scripts/figure_flash2_forward.py [ROW.csv [FIGURE.svg]]
"""

import csv
import math
import pathlib
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

FIGURES = pathlib.Path(__file__).resolve().parent.parent / "docs" / "figures"

HEIGHT = 560
LEFT, RIGHT = 56, 588
PLOTS = {"m": (52, 186), "l": (240, 350), "O": (404, 504)}  # top and bottom
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .grid { stroke: #d1d9e0; }
  .score { fill: #818b98; }
  .line { fill: none; stroke-width: 2.5; }
  .m { stroke: #a45a00; }
  .l { stroke: #0a58ca; }
  .O { stroke: #1a7f37; }
  .drop { fill: none; stroke-width: 2.5; stroke-dasharray: 4 3; }
  .quotient { fill: none; stroke: #59636e; stroke-width: 1.5; }
  text.m { fill: #a45a00; stroke: none; }
  text.l { fill: #0a58ca; stroke: none; }
  text.O { fill: #1a7f37; stroke: none; }
""", """
    .grid { stroke: #3d444d; }
    .score { fill: #9198a1; }
    .m { stroke: #ffb757; }
    .l { stroke: #79b0ff; }
    .O { stroke: #56d364; }
    .quotient { stroke: #b7bfc9; }
    text.m { fill: #ffb757; stroke: none; }
    text.l { fill: #79b0ff; stroke: none; }
    text.O { fill: #56d364; stroke: none; }
""")


def read_row(path):
    """The scores of the row, and one dictionary for each tile."""
    names = ("number", "m", "rescale", "l_rescaled", "l", "O_rescaled", "O")
    with open(path, newline="", encoding="utf-8") as file:
        lines = list(csv.reader(file))
    scores = [float(line[2]) for line in lines if line[0] == "score"]
    tiles = [dict(zip(names, map(float, line[1:]), strict=True)) for line in lines if line[0] == "tile"]
    return scores, tiles


def number(value, digits):
    return f"{value:.{digits}f}".replace("-", "−")


def draw(scores, tiles):
    width = len(scores) // len(tiles)

    def across(key):
        return LEFT + (RIGHT - LEFT) * key / len(scores)

    def scale(name, lowest, highest):
        top, bottom = PLOTS[name]
        return lambda value: bottom - (bottom - top) * (value - lowest) / (highest - lowest)

    def grid(name, place, values):
        for value in values:
            y = place(value)
            body.extend([f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>',
                         f'<text class="small right" x="{LEFT - 8}" y="{y + 4:.1f}">{number(value, 0)}</text>'])
        for tile in range(len(tiles) + 1):
            x, (top, bottom) = across(tile * width), PLOTS[name]
            body.append(f'<line class="grid" x1="{x:.1f}" y1="{top}" x2="{x:.1f}" y2="{bottom}"/>')

    def fold(name, place, key):
        """What is kept, drawn from tile to tile: down by the factor at once, then up by what the tile adds."""
        before = 0.0
        for tile, row in enumerate(tiles):
            x, end, rescaled = across(tile * width), across((tile + 1) * width), row[f"{key}_rescaled"]
            if row["rescale"] < 1 and tile > 0:
                body.append(f'<polyline class="drop {name}" points="{x:.1f},{place(before):.1f} {x:.1f},{place(rescaled):.1f}"/>')
                if name == "l":
                    body.append(f'<text class="small middle" x="{x:.1f}" y="{place(before) - 6:.1f}">× {row["rescale"]:.2f}</text>')
            body.append(f'<polyline class="line {name}" points="{x:.1f},{place(rescaled):.1f} {end:.1f},{place(row[key]):.1f}"/>')
            before = row[key]
        body.append(f'<text class="{name}" x="{RIGHT + 8}" y="{place(before) + (14 if name == "O" else 5):.1f}">{key}</text>')

    last = tiles[-1]
    body = ['<text class="title" x="24" y="28">The scores of a row, and the maximum m of all keys so far</text>']
    low, high = math.floor(min(scores)), math.ceil(max(scores))
    place = scale("m", low, high)
    grid("m", place, range(low + low % 4, high + 1, 4))
    body += [f'<circle class="score" cx="{across(key + 0.5):.1f}" cy="{place(score):.1f}" r="1.5"/>' for key, score in enumerate(scores)]
    line = " ".join(f"{across((tile + side) * width):.1f},{place(row['m']):.1f}" for tile, row in enumerate(tiles) for side in (0, 1))
    body += [f'<polyline class="line m" points="{line}"/>',
             f'<text class="m" x="{RIGHT + 8}" y="{place(last["m"]) + 5:.1f}">m</text>']

    for name, title, step in (("l", "The sum l, on the maximum so far", 4),
                              ("O", "An element of O, on the maximum so far; and O / l", 2)):
        top, _ = PLOTS[name]
        body.append(f'<text class="title" x="24" y="{top - 18}">{title}</text>')
        lowest, highest = (step * math.floor(min(0, *(row[name] for row in tiles)) / step),
                           step * math.ceil(max(0, *(row[name] for row in tiles)) / step))
        place = scale(name, lowest, highest)
        grid(name, place, range(lowest, highest + 1, step))
        fold(name, place, name)
    line = " ".join(f"{across((tile + 1) * width):.1f},{place(row['O'] / row['l']):.1f}" for tile, row in enumerate(tiles))
    body += [f'<polyline class="quotient" points="{line}"/>',
             f'<text class="small" x="{RIGHT + 8}" y="{place(last["O"] / last["l"]) - 3:.1f}">O / l</text>']
    bottom = PLOTS["O"][1]
    for tile in range(len(tiles) + 1):
        body.append(f'<text class="small middle" x="{across(tile * width):.1f}" y="{bottom + 18}">{tile * width}</text>')
    body.append(f'<text class="small middle" x="{(LEFT + RIGHT) // 2}" y="{bottom + 38}">key, in tiles of {width}</text>')
    return charts.picture(body, HEIGHT, "m, l and an element of O of one row while eight tiles of keys pass by", STYLE)


def main():
    check_words()
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    row = arguments[0] if arguments else FIGURES / "09_flash2_forward_row.csv"
    figure = arguments[1] if len(arguments) > 1 else FIGURES / "09_flash2_forward.svg"
    figure.write_text(draw(*read_row(row)), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
