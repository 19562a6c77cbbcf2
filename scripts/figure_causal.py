#!/usr/bin/env python3
"""Draws the figure of lesson 10: the tiles of keys that each tile of queries loads, 1024 queries and as many keys.

They are recorded in docs/figures/10_causal_tiles.csv. To run the solution again, and to draw:

    scripts/figure_causal.py --measure

With --schedule it prints the table of the notes instead: how many tiles of keys a GPU goes through one after the
other, if each place for a block takes the next block as soon as it is free.

Usage: scripts/figure_causal.py [--measure] [FIGURE.svg] | --schedule
"""

import heapq
import sys

import attention_tiles
from options import check_words

HEADS = 64  # batches times heads of the measurements
PLACES = 264  # for blocks, with D up to 64: two on each of the 132 multiprocessors of an H200


def figure():
    tiles = attention_tiles.read("10_causal_tiles.csv")
    return attention_tiles.draw("Tiles of keys that each tile of queries loads", [("", tiles)])


def rounds(blocks):
    """The time after which the last of the blocks, begun in this order, is done; their lengths are in tiles of keys."""
    busy_until = [0] * PLACES
    for length in blocks:
        heapq.heappush(busy_until, heapq.heappop(busy_until) + length)
    return max(busy_until)


def schedule():
    print("     N   all keys   tiles along x   last tiles first   all places busy")
    for size in (1024, 2048, 4096, 8192, 16384):
        lengths = [attention_tiles.BLOCK_M // attention_tiles.BLOCK_N * (tile + 1)
                   for tile in range(size // attention_tiles.BLOCK_M)]
        along_x = rounds(length for _ in range(HEADS) for length in reversed(lengths))
        last_first = rounds(length for length in reversed(lengths) for _ in range(HEADS))
        everything = rounds(max(lengths) for _ in lengths for _ in range(HEADS))
        print(f"{size:6}   {everything:8}   {along_x:13}   {last_first:16}   {sum(lengths) * HEADS / PLACES:15.1f}")


if __name__ == "__main__":
    check_words("--schedule")
    if sys.argv[1:] == ["--schedule"]:
        schedule()
    else:
        attention_tiles.main(__doc__, "10_causal", [("10_causal_tiles.cu", "10_causal_tiles.csv", ())], figure)
