#!/usr/bin/env python3
"""Draws the figure of lesson 13: the tiles that are loaded with a window, without and with sink tokens, and the weights
of a row of eight keys for several learned sinks.

Both are what the solution gave in the simulator, recorded in docs/figures/13_attention_sinks_*.csv. To run it again, and
to draw:

    scripts/figure_attention_sinks.py --measure

Usage: scripts/figure_attention_sinks.py [--measure] [FIGURE.svg]
"""

import csv

import attention_tiles
from attention_tiles import BLOCK_M, FIGURES
from diagrams import charts

LESSON = "13_attention_sinks"
WINDOW, SINKS = 192, 4
CELL, SIDE, TOP = 5, 160, 84  # pixels for 32 keys, for all 1024, and above the panels
CHART, BAR, STEP = 456, 20, 32  # where the chart begins, and its bars
STYLE = """
  .share { fill: #0a58ca; stroke: #ffffff; stroke-width: 0.75; }
  .sink { fill: none; stroke: #59636e; stroke-dasharray: 3 2; }
  @media (prefers-color-scheme: dark) {
    .share { fill: #4a8ff0; stroke: #0d1117; }
    .sink { stroke: #b7bfc9; }
  }
""".strip("\n")


def small(x, y, text, anchor="start"):
    return f'<text class="small" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


def panel(tiles, x, caption):
    """The tiles of a recording; behind each row, how many of them the tile of queries loads."""
    body = [small(x, TOP - 22, caption), small(x, TOP - 6, f"keys 0 to {tiles.keys - 1}")]
    body += attention_tiles.grid(tiles, x, TOP, CELL)
    for query in tiles.first_queries():
        y = TOP + (query + BLOCK_M / 2) / tiles.group * CELL + 4
        body.append(small(x + SIDE + 6, y, len(tiles.loaded_of(query))))
        if x < 100:
            body.append(small(x - 6, y, f"{query}…", "end"))
    return body


def chart(rows):
    """A bar for each learned sink: the weights of the eight keys, one above the other, and what is left for the
    sink."""
    body = [small(CHART, TOP - 22, "weights of 8 keys, for a"), small(CHART, TOP - 6, "learned sink of")]
    for index, row in enumerate(rows):
        x, y = CHART + index * STEP, float(TOP + SIDE)
        for weight in row["weights"]:
            y -= weight * SIDE
            body.append(f'<rect class="share" x="{x}" y="{y:.2f}" width="{BAR}" height="{weight * SIDE:.2f}"/>')
        if y > TOP + 0.5:
            body.append(f'<rect class="sink" x="{x + 0.5}" y="{TOP}" width="{BAR - 1}" height="{y - TOP:.2f}"/>')
        sink = "none" if row["sink"] == float("-inf") else f"{row['sink']:g}"
        body.append(small(x + BAR / 2, TOP + SIDE + 16, sink, "middle"))
    return body


def read_weights():
    with (FIGURES / f"{LESSON}_weights.csv").open(encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [{"sink": float(row[0]), "lse": float(row[1]), "weights": [float(weight) for weight in row[2:]]} for row in rows]


def figure():
    without, with_sinks = (attention_tiles.read(f"{LESSON}_tiles_{sinks}.csv") for sinks in (0, SINKS))
    title = "Tiles with a window and with sink tokens; weights with a learned sink"
    key_y = TOP + SIDE + 34
    body = [*panel(without, 64, f"window of {WINDOW}"), *panel(with_sinks, 266, f"and {SINKS} sink tokens"),
            *chart(read_weights())]
    key_x = 64
    for names, text in ((("whole",), "no mask"), (("masked", "seen"), "masked; dark: seen"), (("skipped",), "never loaded"),
                        (("share",), "a key"), (("sink",), "the sink")):
        body += [f'<rect class="{name} key" x="{key_x + index * 14}" y="{key_y}" width="14" height="14"/>'
                 for index, name in enumerate(names)]
        body.append(small(key_x + len(names) * 14 + 6, key_y + 11, text))
        key_x += len(names) * 14 + 26 + round(6.2 * len(text))
    height = key_y + 32
    return charts.picture(
        [f'<text class="title" x="24" y="30">{title}</text>', *body], height, title,
        f"{attention_tiles.STYLE}\n{STYLE}")


if __name__ == "__main__":
    recordings = [(f"{LESSON}_tiles.cu", f"{LESSON}_tiles_{sinks}.csv", (str(WINDOW), str(sinks)))
                  for sinks in (0, SINKS)]
    recordings.append((f"{LESSON}_weights.cu", f"{LESSON}_weights.csv", ()))
    attention_tiles.main(__doc__, LESSON, recordings, figure)
