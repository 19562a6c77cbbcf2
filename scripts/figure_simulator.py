#!/usr/bin/env python3
"""Draws the figure of docs/simulator.md: which words of memory the 32 lanes of one warp touch in one instruction.

docs/figures/simulator_transpose.cu transposes a matrix in three ways. docs/figures/simulator_transpose.csv has what one
warp of it touched, as the simulator recorded it. To record anew, with `course` built:

    scripts/figure_simulator.py --record

Usage: scripts/figure_simulator.py [--record] [FIGURE.svg]
"""

import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
COURSE = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")) / "bin" / "course"
PROGRAM = FIGURES / "simulator_transpose.cu"
TRACE = FIGURES / "simulator_transpose.csv"
WARP, LANES, WORD, SECTOR, BANKS = 3, 32, 4, 32, 32  # sizes in bytes

# What to record: the launch, and which access of it.
ACCESSES = {
    "row": (0, "load", "global"),  # without a tile, both sides in one kernel
    "column": (0, "store", "global"),
    "unpadded": (1, "load", "shared"),  # rows of 32 words
    "padded": (2, "load", "shared"),  # rows of 33 words
}

CELL, SIDE = 8, 32
LEFTS, TOPS, HEIGHT = (60, 384), (90, 466), 816  # of the four pictures
STYLE = charts.style("""
  .right { text-anchor: end; }
  .middle { text-anchor: middle; }
  .memory { fill: #f3f5f7; }
  .line { stroke: #d1d9e0; }
  .moved { fill: #f6c99f; }
  .global { fill: #0a58ca; }
  .shared { fill: #8250df; }
  text.cost { font-weight: 600; }
""", """
    .memory { fill: #1a2029; }
    .line { stroke: #3d444d; }
    .moved { fill: #7a4a1c; }
    .global { fill: #79b0ff; }
    .shared { fill: #d2a8ff; }
""")


def record(path):
    """Runs the program once for each launch, and writes the lanes of the accesses that are drawn."""
    rows = []
    for name, (launch, kind, memory) in ACCESSES.items():
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.json"
            subprocess.run([COURSE, "simulate", "--trace", trace, "--at", f"{launch},0,0,0,{WARP}", PROGRAM],
                           check=True, stdout=subprocess.DEVNULL, cwd=ROOT)
            steps = json.loads(trace.read_text(encoding="utf-8"))["steps"]
        found = [step for step in steps if (step["kind"], step["memory"]) == (kind, memory)]
        if len(found) != 1:
            sys.exit(f"launch {launch} has {len(found)} steps of the kind {memory} {kind} instead of 1")
        step = found[0]
        rows += [[name, step["array"], step["sectors"], step["wavefronts"], lane["lane"], lane["offset"]]
                 for lane in step["lanes"]]
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["access", "array", "sectors", "wavefronts", "lane", "offset"])
        writer.writerows(rows)
    print(f"wrote {path}")


def read_trace(path):
    """For each access its array, its counts and the word that each lane touches."""
    accesses = {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            access = accesses.setdefault(row["access"], {"array": row["array"], "sectors": int(row["sectors"]),
                                                         "wavefronts": int(row["wavefronts"]), "words": []})
            access["words"].append(int(row["offset"]) // WORD)
    return accesses


def cell(name, x, y, col, row, width=1):
    return (f'<rect class="{name}" x="{x + col * CELL + 0.5}" y="{y + row * CELL + 0.5}" '
            f'width="{width * CELL - 1}" height="{CELL - 1}" rx="1"/>')


def draw_grid(x, y, rows, every):
    """The background: `rows` rows of 32 words, with a line after each `every` words."""
    size = SIDE * CELL
    body = [f'<rect class="memory" x="{x}" y="{y}" width="{size}" height="{rows * CELL}" rx="2"/>']
    body += [f'<line class="line" x1="{x + col * CELL}" y1="{y}" x2="{x + col * CELL}" y2="{y + rows * CELL}"/>'
             for col in range(every, SIDE, every)]
    return body


def label_rows(x, y, words):
    """At the left, the number of the first word of every eighth row."""
    labels = [f'<text class="small right" x="{x - 10}" y="{y - 12}">word</text>']
    return labels + [f'<text class="small right" x="{x - 6}" y="{y + row * CELL + 8}">{row * SIDE}</text>'
                     for row in range(0, words // SIDE, 8)]


def draw_global(x, y, access, title):
    """Memory in rows of 32 words, the sectors that travel, and in them the words that a lane asked for."""
    words = access["words"]
    per_sector = SECTOR // WORD
    body = [f'<text x="{x}" y="{y - 12}">{title}</text>', *draw_grid(x, y, SIDE, per_sector),
            *label_rows(x, y, SIDE * SIDE)]
    for sector in sorted({word // per_sector for word in words}):
        first = sector * per_sector
        body.append(cell("moved", x, y, first % SIDE, first // SIDE, per_sector))
    body += [cell("global", x, y, word % SIDE, word // SIDE) for word in words]
    moved, asked = access["sectors"] * SECTOR, len(words) * WORD
    bottom = y + SIDE * CELL
    body += [f'<text class="cost" x="{x}" y="{bottom + 22}">{access["sectors"]} sectors</text>',
             f'<text class="small" x="{x}" y="{bottom + 40}">{moved:,} bytes travel, {asked} are wanted</text>']
    return body


def draw_shared(x, y, access, title, rows):
    """The tile as its words lie in the banks: bank b is column b."""
    words = access["words"]
    body = [f'<text x="{x}" y="{y - 12}">{title}</text>', *draw_grid(x, y, rows, 1), *label_rows(x, y, rows * SIDE)]
    body += [cell("shared", x, y, word % BANKS, word // BANKS) for word in words]
    for bank in range(0, BANKS + 1, 8):
        shown = min(bank, BANKS - 1)
        body.append(f'<text class="small middle" x="{x + shown * CELL + CELL / 2}" y="{y + rows * CELL + 16}">{shown}'
                    '</text>')
    body.append(f'<text class="small right" x="{x - 6}" y="{y + rows * CELL + 16}">bank</text>')
    wanted = len({word % BANKS for word in words})
    passes = access["wavefronts"]
    bottom = y + (SIDE + 1) * CELL + 16  # the same for both pictures
    body += [f'<text class="cost" x="{x}" y="{bottom + 24}">{passes} {"pass" if passes == 1 else "passes"} '
             'through the banks</text>',
             f'<text class="small" x="{x}" y="{bottom + 42}">32 words in {wanted} {"bank" if wanted == 1 else "banks"}'
             '</text>']
    return body


def draw(accesses):
    body = [
        '<text class="title" x="24" y="28">Global memory: one instruction of a warp, and the sectors that it touches'
        '</text>',
        f'<rect class="global" x="{LEFTS[0]}" y="42" width="{CELL}" height="{CELL}" rx="1"/>',
        f'<text class="small" x="{LEFTS[0] + 14}" y="50">a word that a lane asks for</text>',
        f'<rect class="moved" x="{LEFTS[0] + 190}" y="42" width="{CELL}" height="{CELL}" rx="1"/>',
        f'<text class="small" x="{LEFTS[0] + 204}" y="50">the rest of its sector, which travels along</text>',
        *draw_global(LEFTS[0], TOPS[0], accesses["row"], "32 lanes load along a row"),
        *draw_global(LEFTS[1], TOPS[0], accesses["column"], "32 lanes store down a column"),
        '<text class="title" x="24" y="424">Shared memory: a warp reads a column of a tile, and the banks that it needs'
        '</text>',
        *draw_shared(LEFTS[0], TOPS[1], accesses["unpadded"], "rows of 32 words", 32),
        *draw_shared(LEFTS[1], TOPS[1], accesses["padded"], "rows of 33 words", 33),
    ]
    return charts.picture(
        body, HEIGHT, "Which sectors of global memory and which banks of shared memory a warp touches", STYLE)


def main():
    check_words()
    arguments = sys.argv[1:]
    if "--record" in arguments:
        arguments.remove("--record")
        record(TRACE)
    if len(arguments) > 1:
        sys.exit(__doc__)
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / "simulator_transpose.svg"
    figure.write_text(draw(read_trace(TRACE)), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
