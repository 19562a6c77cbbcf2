#!/usr/bin/env python3
"""Draws how attention makes O of Q, K and V (lesson 07), and how the backward pass goes back (lessons 14 and 15).

The shapes are those of lesson 07's example in its figure: Nq = 6 queries, Nk = 8 keys, D = 3.

Usage: scripts/figure_attention.py [FIGURE.svg]
"""

from diagrams import LEFT, arrow, box, picture, text, write_pictures

CELL = 11
NQ, NK, D = 6, 8, 3


def matrix(x, y, rows, cols, colour, name, shape):
    """A grid of cells with its name above and its shape below."""
    drawn = text(x + cols * CELL / 2, y - 8, name, "title middle")
    drawn += [f'<rect class="{colour}" x="{x:g}" y="{y:g}" width="{cols * CELL}" height="{rows * CELL}"/>']
    lines = [f"M {x + i * CELL:g} {y:g} v {rows * CELL}" for i in range(1, cols)]
    lines += [f"M {x:g} {y + i * CELL:g} h {cols * CELL}" for i in range(1, rows)]
    drawn += [f'<path class="line-{colour}" style="stroke-width: 0.5" d="{" ".join(lines)}"/>']
    return drawn + text(x + cols * CELL / 2, y + rows * CELL + 17, shape, "small middle")


def steps():
    top, row = 96, 2  # `row`: the query that is followed
    body = text(LEFT, 28, "Attention of one head: three steps, and the shape of each matrix", "title")
    body += text(LEFT, 48, f"{NQ} queries, {NK} keys, D = {D}. One query is one row of Q, S, P and O.", "small")
    places = {"Q": (LEFT + 4, NQ, D, "blue"), "Kᵀ": (96, D, NK, "brown"), "S": (244, NQ, NK, "grey"),
              "P": (392, NQ, NK, "violet"), "V": (511, NK, D, "teal"), "O": (604, NQ, D, "red")}
    shapes = {"Q": "Nq × D", "Kᵀ": "D × Nk", "S": "Nq × Nk", "P": "Nq × Nk", "V": "Nk × D", "O": "Nq × D"}
    for name, (x, rows, cols, colour) in places.items():
        body += matrix(x, top, rows, cols, colour, name, shapes[name])
        if rows == NQ:  # the query that is followed
            body += [f'<rect class="line-red" x="{x:g}" y="{top + row * CELL:g}" width="{cols * CELL}" height="{CELL}"/>']
    middle = top + NQ * CELL / 2
    for x, words in ((76, "·"), (496, "·")):
        body += text(x, middle + 5, words, "title middle")
    for x0, x1, words in ((190, 238, "· scale"), (338, 386, "softmax"), (550, 598, "")):
        body += arrow((x0, middle), (x1, middle)) + text((x0 + x1) / 2 - 2, middle - 9, words, "small middle")
    below = top + NK * CELL + 42
    for x, lines in ((96, ("1. Every query meets", "every key.")), (244, ("S and P: Nq · Nk", "numbers each.")),
                     (392, ("2. Each row of P", "sums to 1.")), (520, ("3. Values, weighted", "by a row of P."))):
        for i, words in enumerate(lines):
            body += text(x, below + 16 * i, words, "small")
    return picture(body, below + 34, "Q times K transposed, times the scale, gives S; softmax of each row gives P; P times V gives O.")


def node(x, y, words, colour, below=""):
    return box(x - 62, y - 20, 124, 40, colour, words, below)


def product():
    body = text(LEFT, 28, "A product and a softmax, forwards and backwards", "title")
    body += text(LEFT, 48, "Forwards, an operation makes its output. Backwards, it turns the output's gradient into its inputs'.", "small")
    for x0, names in ((LEFT, ("X", "W", "Y = X·W", "dX = dY·Wᵀ", "dW = Xᵀ·dY", "dY")),):
        y = 100
        body += node(x0 + 66, y, names[0], "blue", "(M, K)") + node(x0 + 66, y + 66, names[1], "brown", "(K, N)")
        body += node(x0 + 236, y + 33, names[2], "grey", "(M, N)")
        body += arrow((x0 + 128, y), (x0 + 172, y + 26)) + arrow((x0 + 128, y + 66), (x0 + 172, y + 40))
        y += 170
        body += node(x0 + 66, y, names[3], "blue", "sum over N") + node(x0 + 66, y + 66, names[4], "brown", "sum over M")
        body += node(x0 + 236, y + 33, names[5], "grey", "(M, N)")
        body += arrow((x0 + 174, y + 26), (x0 + 130, y)) + arrow((x0 + 174, y + 40), (x0 + 130, y + 66))
    x0 = 376
    body += node(x0 + 40, 133, "S", "teal", "(rows, cols)") + node(x0 + 200, 133, "P", "violet", "softmax of rows")
    body += arrow((x0 + 102, 133), (x0 + 136, 133))
    body += box(x0 - 46, 283, 172, 40, "teal", "dS = P ∘ (dP − δ)", "δ = rowsum(P ∘ dP)")
    body += node(x0 + 200, 303, "dP", "violet", "(rows, cols)")
    body += arrow((x0 + 138, 303), (x0 + 128, 303))
    body += arrow((x0 + 200, 155), (x0 + 200, 226), (x0 + 60, 226), (x0 + 60, 281)) + text(x0 + 194, 220, "P is needed again", "small end")
    body += text(LEFT, 386, "A product needs its inputs again, a softmax its output.", "small")
    return picture(body, 404, "Y = X W has the gradients dX = dY W transposed and dW = X transposed dY; P = softmax of S has dS = P times dP minus the row sum.")


def backward():
    top, low = 112, 252
    x = [LEFT + 68, LEFT + 236, LEFT + 398, LEFT + 552]
    body = text(LEFT, 28, "Forwards from left to right, backwards from right to left", "title")
    body += text(LEFT, 48, "Below each matrix is its gradient. Sums run over the axis that the result does not have.", "small")
    body += node(x[0], top - 28, "Q", "blue", "(Nq, D)") + node(x[0], top + 28, "K", "brown", "(Nk, D)")
    body += node(x[1], top, "S = Q·Kᵀ·scale", "grey", "(Nq, Nk)") + node(x[2], top, "P = softmax(S)", "violet", "(Nq, Nk)")
    body += node(x[3], top - 28, "V", "teal", "(Nk, D)") + node(x[3], top + 28, "O = P·V", "red", "(Nq, D)")
    body += arrow((x[0] + 62, top - 20), (x[1] - 64, top - 6)) + arrow((x[0] + 62, top + 20), (x[1] - 64, top + 6))
    body += arrow((x[1] + 62, top), (x[2] - 64, top)) + arrow((x[2] + 62, top + 6), (x[3] - 64, top + 20))
    body += arrow((x[3] + 20, top - 8), (x[3] + 20, top + 7))
    body += box(x[0] - 68, low - 50, 136, 44, "blue", "dQ = dS·K·scale", "over keys")
    body += box(x[0] - 68, low + 6, 136, 44, "brown", "dK = dSᵀ·Q·scale", "over queries")
    body += box(x[1] - 74, low - 22, 148, 44, "grey", "dS = P∘(dP − delta)", "delta: one a row")
    body += box(x[2] - 56, low - 22, 112, 44, "violet", "dP = dO·Vᵀ", "over D")
    body += box(x[3] - 62, low - 50, 124, 44, "teal", "dV = Pᵀ·dO", "over queries")
    body += box(x[3] - 62, low + 6, 124, 44, "red", "dO", "given")
    body += arrow((x[1] - 74, low - 8), (x[0] + 70, low - 24)) + arrow((x[1] - 74, low + 8), (x[0] + 70, low + 24))
    body += arrow((x[2] - 56, low), (x[1] + 76, low)) + arrow((x[3] - 62, low + 22), (x[2] + 56, low + 6))
    body += arrow((x[3] + 20, low + 6), (x[3] + 20, low - 5))
    body += text(LEFT, low + 82, "delta = rowsum(P ∘ dP) = rowsum(dO ∘ O): known before the first tile, because O and dO are there.", "small")
    body += text(LEFT, low + 100, "dV and dK sum over queries, dQ over keys: hence two kernels, with a loop over one and over the other.", "small")
    return picture(body, low + 118, "The matrices of attention and their gradients, with the axis that each gradient sums over.")


if __name__ == "__main__":
    write_pictures({"07_naive_attention_steps": steps, "14_gradients_graph": product, "15_flash2_backward_graph": backward},
                   __doc__)
