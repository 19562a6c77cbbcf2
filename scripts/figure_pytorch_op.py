#!/usr/bin/env python3
"""Draws the figure of lesson 29: a kernel in the framework's stream, and one in another stream.

Usage: scripts/figure_pytorch_op.py [FIGURE.svg]
"""

from diagrams import LEFT, arrow, box, picture, text, write_pictures

AT, WIDTH, HIGH = LEFT + 150, 130, 40
STEPS = (("writes Q, K, V", "blue"), ("your kernel", "brown"), ("reads O, lse", "teal"))


def lane(y, name, boxes):
    """A stream with its work in order; `boxes`: place, words and colour of each."""
    body = text(LEFT, y + HIGH / 2 + 5, name)
    for place, words, colour in boxes:
        body += box(AT + place * (WIDTH + 30), y, WIDTH, HIGH, colour, words)
    return body


def between(y, place):
    x = AT + place * (WIDTH + 30) + WIDTH
    return arrow((x + 3, y + HIGH / 2), (x + 27, y + HIGH / 2))


def draw():
    body = text(LEFT, 26, "In the framework's stream: one after the other", "title")
    body += lane(42, "framework's stream", [(place, words, colour) for place, (words, colour) in enumerate(STEPS)])
    body += between(42, 0) + between(42, 1)
    body += text(LEFT, 122, "In the default stream: nothing says when", "title")
    body += lane(138, "framework's stream", [(0, *STEPS[0]), (1, *STEPS[2])])
    body += between(138, 0)
    body += lane(194, "default stream", [(1.5, *STEPS[1])])
    return picture(body, 252, "Two timelines. In the framework's stream, the framework writes Q, K and V, then the kernel runs, then O and "
                   "lse are read. With the kernel in the default stream, no arrow leads to it or from it.")  # fmt: skip


if __name__ == "__main__":
    write_pictures({"29_pytorch_op": draw}, __doc__)
