#!/usr/bin/env python3
"""Draws the ladder of docs/home.md from the lessons' lesson.json: every lesson stands above those that it needs.

A line leads from a lesson to each that needs it, unless a lesson between them needs it as well. The names of the parts
are those of README.md.

Usage: scripts/figure_ladder.py [FIGURE.svg]
"""

import html
import json
import pathlib
import re
import sys

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURE = ROOT / "docs" / "figures" / "ladder.svg"

# Where a lesson stands: column 0 to 2 from the left, and storey from the ground up.
PLACES = {
    1: (1, 0), 2: (1, 1), 3: (1, 2),
    4: (0, 3), 5: (0, 4),
    6: (1, 4), 7: (1, 5),
    8: (1, 6), 9: (1, 7), 10: (1, 8), 11: (1, 9), 12: (0, 9), 13: (0, 10),
    14: (2, 5), 15: (2, 9), 16: (2, 10), 17: (1, 11), 18: (1, 12), 19: (0, 12), 20: (0, 5),
    21: (0, 6), 22: (2, 13), 23: (0, 7), 24: (2, 14), 29: (2, 12), 30: (1, 14),
}
# The text of a part: column, and the storey of its first line.
LABELS = {1: (0, 0), 2: (0, 2), 3: (2, 4), 4: (0, 8), 5: (2, 11), 6: (0, 11), 8: (1, 13)}
PAST = {(17, 29)}  # lines that end in the middle, since another one passes where they would end
WIDE = {17: 56, 18: 20}  # what a rung with a long title has more than others
SHORT = {24: "Backward on tensor cores", 30: "Decoding"}  # titles that are too long even so

LEFT, GAP = 14, 12
BOX, HIGH, STOREY = 204, 32, 52  # a rung, and from one to the next
TOP = 52
TAB = 28  # with the number
STYLE = """
  .page { fill: #ffffff; }
  text { font: 12px system-ui, sans-serif; fill: #1f2328; }
  .title { font-size: 14px; font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .number { font-weight: 700; fill: #ffffff; text-anchor: middle; }
  .rung { fill: #ffffff; stroke-width: 1.5; }
  .halo { fill: none; stroke: #ffffff; stroke-width: 7; }
  .needs { fill: none; stroke: #818b98; stroke-width: 1.75; }
  .head { fill: #818b98; }
  .part1 { stroke: #0a58ca; } .fill1 { fill: #0a58ca; }
  .part2 { stroke: #8250df; } .fill2 { fill: #8250df; }
  .part3 { stroke: #0b7285; } .fill3 { fill: #0b7285; }
  .part4 { stroke: #a45a00; } .fill4 { fill: #a45a00; }
  .part5 { stroke: #c2255c; } .fill5 { fill: #c2255c; }
  .part6 { stroke: #1a7f37; } .fill6 { fill: #1a7f37; }
  .part8 { stroke: #6e5b00; } .fill8 { fill: #6e5b00; }
  text.part { font-weight: 600; font-size: 14px; stroke: none; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #b7bfc9; }
    .number { fill: #0d1117; }
    .rung { fill: #161b22; }
    .halo { stroke: #0d1117; }
    .needs { stroke: #7d8590; }
    .head { fill: #7d8590; }
    .part1 { stroke: #79b0ff; } .fill1 { fill: #79b0ff; }
    .part2 { stroke: #d2a8ff; } .fill2 { fill: #d2a8ff; }
    .part3 { stroke: #56d4dd; } .fill3 { fill: #56d4dd; }
    .part4 { stroke: #ffb757; } .fill4 { fill: #ffb757; }
    .part5 { stroke: #ff9bb9; } .fill5 { fill: #ff9bb9; }
    .part6 { stroke: #56d364; } .fill6 { fill: #56d364; }
    .part8 { stroke: #e3d26f; } .fill8 { fill: #e3d26f; }
  }
""".strip("\n")


def read_lessons():
    """What lesson.json has, by number."""
    files = sorted((ROOT / "lessons").glob("*/lesson.json"))
    return {lesson["number"]: lesson for lesson in (json.loads(file.read_text(encoding="utf-8")) for file in files)}


def read_parts():
    """The names of the parts, from the table of lessons in README.md."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    return {int(number): name for number, name in re.findall(r"^\| (\d) (.+?) \| \[", readme, re.MULTILINE)}


def direct_needs(lessons):
    """Pairs of a lesson and one that needs it, without those that follow from others."""
    below = {}  # everything that a lesson rests on
    for number in sorted(lessons):
        direct = set(lessons[number]["prerequisites"])
        below[number] = direct.union(*(below[needed] for needed in direct))
    return [(needed, number) for number in sorted(lessons) for needed in lessons[number]["prerequisites"]
            if not any(needed in below[other] for other in lessons[number]["prerequisites"])]


HIGHEST = max(storey for _, storey in PLACES.values())


def left_of(column):
    return LEFT + column * (BOX + GAP)


def top_of(storey):
    return TOP + (HIGHEST - storey) * STOREY


def middle_of(number):
    return left_of(PLACES[number][0]) + BOX / 2


def draw_need(needed, number):
    """A line from the top of one rung to the bottom of another, through the middle of the gaps between storeys."""
    (from_column, from_storey), (to_column, to_storey) = PLACES[needed], PLACES[number]
    start, end = top_of(from_storey), top_of(to_storey) + HIGH + 6
    # Lines that leave sideways keep off those that go straight up, and so do those that come from the next column.
    aside = 34 * (1 if to_column > from_column else -1)
    # Those from two columns away go up at the far side, beside the lines within their column.
    x_from, x_to = middle_of(needed) + aside, middle_of(number) + (-aside if abs(to_column - from_column) == 1 else 2 * aside)
    if (needed, number) in PAST:
        x_to = middle_of(number)
    if from_column == to_column:
        x_to = middle_of(number)
        path = f"M {x_to:.1f} {start:.1f} V {end:.1f}"
    else:
        turn = start - (STOREY - HIGH) / 2  # above the lower rung, then up beside all others
        r = 6
        way = 1 if x_to > x_from else -1
        path = (f"M {x_from:.1f} {start:.1f} V {turn + r:.1f} "
                f"Q {x_from:.1f} {turn:.1f} {x_from + way * r:.1f} {turn:.1f} "
                f"H {x_to - way * r:.1f} Q {x_to:.1f} {turn:.1f} {x_to:.1f} {turn - r:.1f} V {end:.1f}")
    return [f'<path class="halo" d="{path}"/>', f'<path class="needs" d="{path}"/>',
            f'<path class="head" d="M {x_to - 4:.1f} {end + 1:.1f} h 8 l -4 -7 z"/>']


def draw_rung(lesson):
    column, storey = PLACES[lesson["number"]]
    more = WIDE.get(lesson["number"], 0)
    x, y, part = left_of(column) - more // 2, top_of(storey), lesson["part"]
    size = f'width="{BOX + more}" height="{HIGH}"'
    return [
        f'<rect class="rung part{part}" x="{x}" y="{y}" {size} rx="6"/>',
        f'<path class="fill{part}" d="M {x + TAB} {y} H {x + 6} a 6 6 0 0 0 -6 6 V {y + HIGH - 6} a 6 6 0 0 0 6 6 '
        f'H {x + TAB} z"/>',
        f'<text class="number" x="{x + TAB / 2}" y="{y + 20.5}">{lesson["number"]:02}</text>',
        f'<text x="{x + TAB + 7}" y="{y + 20.5}">{html.escape(SHORT.get(lesson["number"], lesson["title"]))}</text>',
    ]


def duration(minutes):
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest else f"{hours} h"


def draw_label(part, name, lessons):
    column, storey = LABELS[part]
    x, y = left_of(column) + max(WIDE.get(lesson["number"], 0) // 2 for lesson in lessons), top_of(storey) + 12
    minutes = sum(lesson["minutes"] for lesson in lessons)
    return [f'<text class="part fill{part}" x="{x}" y="{y}">{part} {html.escape(name)}</text>',
            f'<text class="small" x="{x}" y="{y + 18}">{len(lessons)} lesson{"s" if len(lessons) > 1 else ""}, {duration(minutes)}</text>']


def draw(lessons, parts):
    if set(lessons) != set(PLACES):
        sys.exit(f"no place for lessons {sorted(set(lessons) ^ set(PLACES))}: say where they stand in PLACES")
    body = [f'<text class="title" x="{LEFT}" y="28">Every lesson stands above those that it needs</text>']
    # Where two lines cross, the one that goes straight up lies above.
    for needed, number in sorted(direct_needs(lessons), key=lambda pair: PLACES[pair[0]][0] == PLACES[pair[1]][0]):
        body += draw_need(needed, number)
    for lesson in lessons.values():
        body += draw_rung(lesson)
    for part, name in parts.items():
        body += draw_label(part, name, [lesson for lesson in lessons.values() if lesson["part"] == part])
    height = TOP + HIGHEST * STOREY + HIGH + 20
    return charts.picture(
        body, height, f"{len(lessons)} lessons in {len(parts)} parts, each above those that it rests on", STYLE)


def main():
    check_words()
    if len(sys.argv) > 2:
        sys.exit(__doc__)
    figure = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else FIGURE
    figure.write_text(draw(read_lessons(), read_parts()), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
