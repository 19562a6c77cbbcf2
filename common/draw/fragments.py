#!/usr/bin/env python3
"""Draws which lane holds which element of the operands of mma.m16n8k16, and what ldmatrix.x4 moves; prints the same as
sentences, a paragraph a line.

Usage: common/draw/fragments.py --out FIGURE.svg
"""

import argparse
import pathlib

import charts
from trace_picture import CELL, Squares, assemble, text

TITLE = "Which lane holds what: C (16 × 8) += A (16 × 16) · B (16 × 8)"
LINE_BYTES, CHUNK = 128, 16


def lane_of_a(row, k):
    """The lane and the register that hold A[row][k]."""
    return row % 8 * 4 + k % 8 // 2, row // 8 + k // 8 * 2


def lane_of_b(k, col):
    return col * 4 + k % 8 // 2, k // 8


def lane_of_c(row, col):
    """The lane that holds C[row][col], and its number there."""
    return row % 8 * 4 + col // 2, row // 8 * 2 + col % 2


def line_of_matrix(lane):
    """Which of the four matrices of ldmatrix.x4 a lane points to, and to which of its lines."""
    return lane // 8, lane % 8


def swizzled(line, chunk):
    """Where a chunk of a line stands in shared memory."""
    return chunk ^ line % 8


WORDS = [
    f"{TITLE}. The number in a square is the lane, 0 to 31; a lane's two neighbours along k share a register.",
    "A: with g = lane / 4 and p = 2 · (lane mod 4), register 0 has row g and columns p and p + 1; register 1 row g + 8; "
    "register 2 row g, columns p + 8 and p + 9; register 3 row g + 8, columns p + 8 and p + 9.",
    "B: register 0 has rows p and p + 1 of column g, register 1 rows p + 8 and p + 9.",
    "C: numbers 0 and 1 are row g, columns p and p + 1; numbers 2 and 3 are row g + 8.",
    "ldmatrix.x4: lanes 0 to 7 point to the 8 lines of matrix 0, 16 bytes each, lanes 8 to 15 to those of matrix 1, and so "
    "on. Then lane l gets numbers 2 · (l mod 4) and the next of line l / 4 of each matrix, in a register each.",
    "The swizzle: chunk c of line l, 16 bytes, stands at c ^ (l mod 8) of its line. The same chunk of 8 lines lies in 32 "
    "different banks.",
]


def outline(x, y, cols, rows, step=8):
    """The border of a matrix and of its 8 x 8 quarters."""
    lines = [f"M{x + c * CELL} {y}v{rows * CELL}" for c in range(0, cols + 1, step)]
    lines += [f"M{x} {y + r * CELL}h{cols * CELL}" for r in range(0, rows + 1, step)]
    return f'<path class="box" d="{"".join(lines)}"/>'


def draw_operands(x, y):
    """B above C, A left of C, as one multiplies by hand. Gives the lines and where they end."""
    squares, a_left, c_left, b_top = Squares(), x, x + 17 * CELL, y + 14
    a_top = b_top + 17 * CELL
    for row in range(16):
        for k in range(0, 16, 2):
            squares.add(a_left + k * CELL, a_top + row * CELL, 2, [lane_of_a(row, k)[0]])
        for col in range(8):
            squares.add(c_left + col * CELL, a_top + row * CELL, 1, [lane_of_c(row, col)[0]])
            squares.add(c_left + col * CELL, b_top + row * CELL, 1, [lane_of_b(row, col)[0]])
    body = squares.svg() + [outline(a_left, a_top, 16, 16), outline(c_left, a_top, 8, 16), outline(c_left, b_top, 8, 16)]
    body += [text("title", a_left, a_top - 6, "A, rows by k"), text("title", c_left, b_top - 6, "B, k by columns"),
             text("title end", c_left + 8 * CELL, a_top + 17 * CELL - 2, "C")]
    return body, a_top + 17 * CELL


def draw_ldmatrix(x, y):
    """The lane that points to each line of the four matrices of A."""
    squares = Squares()
    for lane in range(32):
        matrix, line = line_of_matrix(lane)
        squares.add(x + matrix // 2 * 8 * CELL, y + (matrix % 2 * 8 + line) * CELL, 8, [lane])
    return squares.svg() + [outline(x, y, 16, 16)], y + 16 * CELL


def draw_swizzle(x, y):
    """Where the chunks of 8 lines of 128 bytes stand: in each place the number of the chunk, shaded by it."""
    chunks = LINE_BYTES // CHUNK
    body = []
    for line in range(8):
        for chunk in range(chunks):
            at = x + swizzled(line, chunk) * 2 * CELL
            body.append(f'<rect class="l{chunk}" x="{at + 0.5}" y="{y + line * CELL + 0.5}" width="{2 * CELL - 1}" '
                        f'height="{CELL - 1}"/><g class="n t{chunk}"><text x="{at + CELL}" y="{y + line * CELL + 12}">'
                        f"{chunk}</text></g>")
    return body, y + 8 * CELL


def draw():
    """The file, and the sentences."""
    body, bottom = draw_operands(charts.LEFT, 48)
    body += [text("small", charts.LEFT, 70, "A number is the lane that holds"),
             text("small", charts.LEFT, 70 + CELL, "the element, in a register together"),
             text("small", charts.LEFT, 70 + 2 * CELL, "with its neighbour along k, or in C"),
             text("small", charts.LEFT, 70 + 3 * CELL, "in one by itself.")]
    top = bottom + 34
    body.append(text("title", charts.LEFT, top - 8, "ldmatrix.x4: which lane points to which line of A"))
    lines, end = draw_ldmatrix(charts.LEFT, top)
    body += lines
    body.append(text("title", charts.LEFT + 19 * CELL, top + 8 * CELL - 8 - 4 * CELL, "8 lines in shared memory, swizzled"))
    lines, _ = draw_swizzle(charts.LEFT + 19 * CELL, top + 4 * CELL)
    body += lines
    body.append(text("small", charts.LEFT + 19 * CELL, top + 13 * CELL, "A number is a chunk of its line."))
    return assemble(TITLE, body, end + 20, WORDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, metavar="FIGURE.svg")
    pathlib.Path(parser.parse_args().out).write_text(draw(), encoding="utf-8")
    print("\n".join(WORDS))


if __name__ == "__main__":
    main()
