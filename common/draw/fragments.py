#!/usr/bin/env python3
"""Draws which lane holds which element of the operands of mma.m16n8k16, and what ldmatrix.x4 moves; prints the same as
sentences, a paragraph a line. With --operand: how two fragments of C become one of A.

Usage: common/draw/fragments.py --out FIGURE.svg [--operand]
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


OPERAND_TITLE = "From accumulators to an operand: S (16 × 16), two fragments of C, is A of P · V"
OPERAND_WORDS = [
    f"{OPERAND_TITLE}. The number in a square is the lane that holds the element.",
    "Left, two products gave 16 columns of S: each lane has numbers 0 to 3 of the left fragment and 0 to 3 of the right one.",
    "Right, the same squares as A: numbers 0 and 1 of the left fragment, rounded to 16 bits, are register 0; 2 and 3 are "
    "register 1; 0 and 1 of the right fragment are register 2; 2 and 3 are register 3.",
    "In every square the lane is the same on both sides: no number changes its lane, so P needs no shared memory.",
]


def operand_register(row, col):
    """The register of A that becomes of an element of two neighbouring fragments of C, by the lane that holds it."""
    number = lane_of_c(row, col % 8)[1]
    return col // 8 * 2 + number // 2


def draw_operand():
    """Two fragments of C, side by side, and the fragment of A that they are. Checks that no lane differs."""
    left, right, top = charts.LEFT, charts.LEFT + 19 * CELL, 78
    squares, body = Squares(), []
    for row in range(16):
        for col in range(16):
            lane, register = lane_of_a(row, col)
            if lane != lane_of_c(row, col % 8)[0] or register != operand_register(row, col):
                raise ValueError(f"S[{row}][{col}] would have to change its place")
            squares.add(left + col * CELL, top + row * CELL, 1, [lane])
            if col % 2 == 0:
                squares.add(right + col * CELL, top + row * CELL, 2, [lane])
    body += squares.svg() + [outline(left, top, 16, 16), outline(right, top, 16, 16)]
    body += [text("title", left, top - 24, "S: a float32 a square"), text("title", right, top - 24, "A: two of 16 bits a register")]
    for half, name in enumerate(("left fragment of C", "right fragment of C")):
        body.append(text("label", left + half * 8 * CELL, top - 8, name))
    for half, names in enumerate((("registers 0 (above) and 1", "2 and 3"))):
        body.append(text("label", right + half * 8 * CELL, top - 8, names))
    below = top + 16 * CELL + 22
    pairs = ("left 0, 1 → register 0", "left 2, 3 → register 1", "right 0, 1 → register 2", "right 2, 3 → register 3")
    for i, pair in enumerate(pairs):
        body.append(text("small", left + i % 2 * 19 * CELL, below + i // 2 * CELL, f"In each lane: {pair}."))
    return assemble(OPERAND_TITLE, body, below + 2 * CELL + 6, OPERAND_WORDS)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True, metavar="FIGURE.svg")
    parser.add_argument("--operand", action="store_true", help="how two fragments of C become one of A")
    arguments = parser.parse_args()
    picture, words = (draw_operand(), OPERAND_WORDS) if arguments.operand else (draw(), WORDS)
    pathlib.Path(arguments.out).write_text(picture, encoding="utf-8")
    print("\n".join(words))


if __name__ == "__main__":
    main()
