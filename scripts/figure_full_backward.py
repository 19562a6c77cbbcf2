#!/usr/bin/env python3
"""Draws the figure of lesson 17: the tiles of queries and keys that meet in the kernel of dQ and in that of dK and dV,
with a causal mask, a window and sink tokens.

They are what the solution did in the simulator, recorded in docs/figures/17_full_backward_tiles_*.csv. To run it again,
and to draw:

    scripts/figure_full_backward.py --measure

Usage: scripts/figure_full_backward.py [--measure] [FIGURE.svg]
"""

import sys

import attention_tiles
from diagrams import charts

LESSON = "17_full_backward"
WINDOW, SINKS = 160, 4
KERNELS = ("queries", "keys")
TILE = 64  # queries and keys of a tile of the backward kernels
CELL, TOP = 15, 84  # pixels for 32 keys, and above the panels


def small(x, y, text, anchor="start"):
    return f'<text class="small" x="{x:g}" y="{y:g}" text-anchor="{anchor}">{text}</text>'


def panel(tiles, x, caption):
    """One recording; `x` is where its grid begins."""
    return [small(x, TOP - 22, caption), small(x, TOP - 6, f"keys 0 to {tiles.keys - 1}"),
            *attention_tiles.grid(tiles, x, TOP, CELL)]


def tiles_of_queries(tiles, x):
    """How many tiles of keys each tile of queries meets: behind its row."""
    right = x + tiles.keys / tiles.group * CELL
    for query in tiles.first_queries():
        y = TOP + (query + TILE / 2) / tiles.group * CELL + 4
        yield small(x - 6, y, f"{query}…", "end")
        yield small(right + 8, y, len(tiles.loaded_of(query)))


def tiles_of_keys(tiles, x):
    """How many tiles of queries each tile of keys meets: below its column."""
    bottom = TOP + tiles.queries / tiles.group * CELL
    for key in range(0, tiles.keys, TILE):
        count = sum(tiles.is_loaded(query, key) for query in tiles.first_queries())
        yield small(x + (key + TILE / 2) / tiles.group * CELL, bottom + 16, count, "middle")


def figure():
    of_queries, of_keys = (attention_tiles.read(f"{LESSON}_tiles_{kernel}.csv") for kernel in KERNELS)
    if of_queries.loaded != of_keys.loaded:
        sys.exit("the two kernels let different tiles meet")
    title = f"Causal, a window of {WINDOW} and {SINKS} sink tokens: the tiles that meet"
    left, right = 64, 376
    body = [*panel(of_queries, left, "dQ: a tile of queries stays"), *tiles_of_queries(of_queries, left),
            *panel(of_keys, right, "dK, dV: a tile of keys stays"), *tiles_of_keys(of_keys, right)]
    key_x, key_y = left, TOP + of_queries.queries / of_queries.group * CELL + 34
    for names, text in ((("whole",), "nothing is hidden"), (("seen", "masked"), "masked: seen, not seen"),
                        (("skipped",), "never meet")):
        body += [f'<rect class="{name} key" x="{key_x + index * 14}" y="{key_y:g}" width="14" height="14"/>'
                 for index, name in enumerate(names)]
        body.append(small(key_x + len(names) * 14 + 6, key_y + 11, text))
        key_x += len(names) * 14 + 30 + round(6.4 * len(text))
    height = round(key_y + 32)
    return charts.picture(
        [f'<text class="title" x="24" y="30">{title}</text>', *body], height, title, attention_tiles.STYLE)


if __name__ == "__main__":
    attention_tiles.BLOCK_M = TILE
    recordings = [(f"{LESSON}_tiles.cu", f"{LESSON}_tiles_{kernel}.csv", (kernel, str(WINDOW), str(SINKS)))
                  for kernel in KERNELS]
    attention_tiles.main(__doc__, LESSON, recordings, figure)
