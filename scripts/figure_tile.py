#!/usr/bin/env python3
"""Draws which elements of a block's tile a thread has (lesson 09), and what lies in shared memory when (09 and 15).

All numbers are the code's own: common/device/attention_tile.hpp and the tiles of the solutions.

Usage: scripts/figure_tile.py [FIGURE.svg]
"""

import re

from diagrams import LEFT, ROOT, WIDTH, box, constant, picture, text, write_pictures

TILE = "common/device/attention_tile.hpp"
THREAD_ROWS, ACROSS = constant(TILE, "kThreadRows_"), constant(TILE, "kThreadsAcross")  # the rows unless a shape has others
LANES = constant("common/device/reduce.hpp", "kWarpSize")
PAD = 4  # floats after each step of the sum in a SharedTile, as lesson 06's notes say


def shape(lesson, name):
    """(kBlockM, kBlockN, kDim) of AttentionShape `name` in a lesson's solution."""
    source = next((ROOT / "solutions").glob(f"{lesson}_*/*.cu")).read_text(encoding="utf-8")
    return tuple(map(int, re.search(rf"{name} = (?:device::)?AttentionShape<(\d+), (\d+), (\d+)>", source).groups()))


def bytes_of(rows, depth):
    """The size of a SharedTile<rows, depth>."""
    return 4 * depth * (rows + PAD)


def lanes():
    rows, cols, _ = shape("09", "NarrowShape")
    cell, x0, y0 = 3.0, LEFT + 60, 96
    down = rows // THREAD_ROWS
    group = 4 * down  # from a thread's first four rows to its others, as TileShape::row() has it
    body = text(LEFT, 28, f"A block's tile of S: {rows} queries, {cols} keys, {rows * cols // (THREAD_ROWS * (cols // ACROSS))} threads", "title")
    body += text(LEFT, 48, f"{ACROSS} neighbouring lanes share {THREAD_ROWS} rows. Each has 4 columns of them.", "small")
    body += [f'<rect class="grey" x="{x0}" y="{y0}" width="{cols * cell:g}" height="{rows * cell:g}"/>']
    for first in (0, group):  # warp 0: two halves, of ACROSS lanes each
        for half, colour in enumerate(("blue", "brown")):
            y = y0 + (first + 4 * half) * cell
            body += [f'<rect class="{colour}" x="{x0}" y="{y:g}" width="{cols * cell:g}" height="{4 * cell:g}"/>']
        body += [f'<rect class="red" x="{x0 + 4 * 5 * cell:g}" y="{y0 + first * cell:g}" width="{4 * cell:g}" height="{4 * cell:g}"/>']
        body += text(x0 - 8, y0 + (first + 3) * cell, f"rows {first}–{first + 3}", "small end")
    body += text(x0, y0 - 8, "keys 0", "small") + text(x0 + cols * cell, y0 - 8, str(cols - 1), "small end")
    right = x0 + cols * cell + 40
    said = [("blue", f"warp 0, lanes 0–{ACROSS - 1}: rows 0–3 and {group}–{group + 3}"),
            ("brown", f"warp 0, lanes {ACROSS}–{LANES - 1}: rows 4–7 and {group + 4}–{group + 7}"),
            ("red", f"lane 5: {THREAD_ROWS} × {cols // ACROSS} scores in registers"),
            ("grey", f"the other {rows // (2 * THREAD_ROWS) - 1} warps, two groups of rows each")]
    for i, (colour, words) in enumerate(said):
        body += box(right, y0 + 8 + 30 * i, 18, 18, colour) + text(right + 28, y0 + 22 + 30 * i, words, "small")
    notes = ["A row's maximum: each lane takes that of its 4 scores,", f"then {ACROSS} lanes agree by shuffles.", "",
             "m: a copy in each of the lanes.", "l: each lane has its own part until the end.", "",
             f"O: the same lanes have the same {THREAD_ROWS} rows of O,", f"D/{ACROSS} columns each. So rescaling O needs no exchange."]
    for i, words in enumerate(notes):
        body += text(right, y0 + 160 + 18 * i, words, "small") if words else []
    return picture(body, round(y0 + rows * cell + 24), f"In a tile of {rows} by {cols} scores, {ACROSS} lanes of a half warp hold {THREAD_ROWS} rows together.")


def places(title, subtitle, columns, barriers, rows, notes):
    """What lies in which place at which time. `barriers`: columns that end with one; `rows`: bytes of a place, and what
    lies there, as (first column, last column, words, colour)."""
    x0, y0, pitch = LEFT + 96, 108, 42
    width = (WIDTH - LEFT - x0) / len(columns)
    body = text(LEFT, 28, title, "title") + text(LEFT, 48, subtitle, "small")
    for i, lines in enumerate(columns):
        for j, words in enumerate(lines.split("\n")):
            body += text(x0 + (i + 0.5) * width, 78 + 15 * j, words, "small middle")
    for i in barriers:
        x = x0 + i * width
        body += [f'<path class="arrow" stroke-dasharray="3 4" d="M {x:g} {y0 - 6} V {y0 + len(rows) * pitch}"/>']
    for i, (size, spans) in enumerate(rows):
        y = y0 + i * pitch
        body += text(LEFT, y + 21, f"{size:,} bytes", "small")
        for first, last, words, colour in spans:
            body += box(x0 + first * width + 2, y, (last - first + 1) * width - 4, pitch - 8, colour, words)
    for i, words in enumerate(notes):
        body += text(LEFT, y0 + len(rows) * pitch + 18 + 17 * i, words, "small")
    return body, y0 + len(rows) * pitch + 18 + 17 * len(notes)


def forward_places():
    M, N, D = shape("09", "NarrowShape")
    body, height = places(
        "What lies in shared memory, from barrier to barrier", f"One round of the loop at D = {D}. Dashed lines are barriers of the block.",
        ["load K and V", "S = Q·Kᵀ, hide,\nfold_scores", "put P,\nO += P·V"], (1, 2),
        [(bytes_of(M, D), [(0, 2, "Q, for all rounds", "blue")]),
         (max(bytes_of(N, D), bytes_of(M, N)), [(0, 1, "K", "brown"), (2, 2, "P", "violet")]),
         (bytes_of(D, N), [(0, 2, "V, transposed", "teal")])],
        ["P takes the place of K: every warp has multiplied with K by then. The next round begins with a barrier,",
         "too: every warp has multiplied with P and V, and both may be overwritten."])
    return picture(body, height, "P takes the place of K in shared memory once S has been computed; Q and V stay.")


def backward_places():
    M, N, D = shape("15", "NarrowShape")
    body, height = places(
        "keys_kernel: what lies in shared memory, from barrier to barrier",
        f"One round at D = {D}. Dashed lines are barriers of the block; between P and dS, the warp's is enough.",
        ["load Q\nand dO", "Sᵀ, dPᵀ,\nPᵀ, dSᵀ", "load both\ntransposed, put Pᵀ", "dV += Pᵀ·dO", "put dSᵀ,\ndK += dSᵀ·Q"],
        (1, 2, 3),
        [(bytes_of(N, D), [(0, 4, "K, for all rounds", "brown")]), (bytes_of(N, D), [(0, 4, "V, for all rounds", "teal")]),
         (max(bytes_of(M, D), bytes_of(D, M)), [(0, 1, "Q", "blue"), (2, 4, "dO, transposed", "red")]),
         (max(bytes_of(M, D), bytes_of(D, M)), [(0, 1, "dO", "red"), (2, 4, "Q, transposed", "blue")]),
         (bytes_of(M, N), [(2, 3, "Pᵀ", "violet"), (4, 4, "dSᵀ", "grey")])],
        ["Each transposed tile takes the other's place. queries_kernel does the same with fewer tiles: Q and dO",
         "stay, K gives way to its transpose, V to dS."])
    return picture(body, height, "In keys_kernel, dO transposed takes the place of Q, Q transposed that of dO, and dS that of P.")


if __name__ == "__main__":
    write_pictures({"09_flash2_forward_tile": lanes, "09_flash2_forward_places": forward_places,
                    "15_flash2_backward_places": backward_places}, __doc__)
