#!/usr/bin/env python3
"""Draws the figure of lesson 11: how the rows of a group lie in a tile, and the bytes of K and V that are read.

The bytes are those of the simulator's counters, recorded in docs/figures/11_grouped_query_traffic.csv: of one launch of
the solution for all heads, and of a launch for each head alone, which is what a kernel reads whose blocks have one head
each. To count again, from the solution as it is, and to draw:

    scripts/figure_grouped_query.py --measure

Usage: scripts/figure_grouped_query.py [--measure] [FIGURE.svg]
"""

import csv
import json
import pathlib
import subprocess
import sys
import tempfile

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
DATA = FIGURES / "11_grouped_query_traffic.csv"
HEADS, DIM = 8, 64  # of the driver
FEW, MANY = 8, 256  # queries
HEADS_OF_K = (8, 4, 2, 1)

GROUP, QUERIES, CELL = 4, 8, 14  # of the drawing of a tile
PANEL_WIDTH, PANEL_HEIGHT, PANEL_TOP = 236, 150, 236
STYLE = charts.style("""
  .cell { font-size: 10px; fill: #ffffff; text-anchor: middle; }
  .grid { stroke: #e1e6eb; }
  .empty { fill: none; stroke: #59636e; stroke-dasharray: 3 3; }
  .packed { fill: #0a58ca; }
  .alone { fill: #b35900; }
  .m0 { fill: #0a58ca; }
  .m1 { fill: #1a7f37; }
  .m2 { fill: #b35900; }
  .m3 { fill: #8250df; }
""", """
    .cell { fill: #0d1117; }
    .grid { stroke: #262c36; }
    .empty { stroke: #b7bfc9; }
    .packed { fill: #79b0ff; }
    .alone { fill: #ffb86b; }
    .m0 { fill: #79b0ff; }
    .m1 { fill: #56d364; }
    .m2 { fill: #ffb86b; }
    .m3 { fill: #d2a8ff; }
""")


def measure():
    """Counts with the simulator and writes the CSV: bytes of K and V that are read, packed and head by head."""
    lesson = ROOT / "lessons" / "11_grouped_query" / "grouped_query.hpp"
    solution = ROOT / "solutions" / "11_grouped_query" / "grouped_query.cu"
    driver = FIGURES / "11_grouped_query_traffic.cu"
    with tempfile.TemporaryDirectory() as folder, DATA.open("w", newline="", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        (folder / lesson.name).write_text(lesson.read_text(encoding="utf-8"), encoding="utf-8")
        program = folder / "traffic.cu"
        program.write_text(solution.read_text(encoding="utf-8") + driver.read_text(encoding="utf-8"), encoding="utf-8")
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["Nq", "H_kv", "packed", "head_by_head"])
        for queries in (FEW, MANY):
            for heads in HEADS_OF_K:
                report = folder / "report.json"
                subprocess.run([ROOT / "course", "simulate", "--profile", "--report", report, program, "--",
                                str(queries), str(heads)], check=True, stderr=subprocess.DEVNULL)
                launches = json.loads(report.read_text(encoding="utf-8"))["launches"]
                if len(launches) != 1 + HEADS:
                    sys.exit(f"{len(launches)} launches instead of {1 + HEADS}")
                read = [launch["total"]["global_load"]["bytes"] for launch in launches]
                q_bytes = 4 * HEADS * queries * DIM  # Q is read once by all of them
                rows.writerow([queries, heads, read[0] - q_bytes, sum(read[1:]) - q_bytes])


def tile():
    """The rows of a group of 4 heads with 8 queries, in the order of the solution."""
    left, top = 24, 62
    body = [f'<text class="title" x="{left}" y="26">A tile of 128 rows: the {QUERIES} queries of the {GROUP} heads of a group</text>',
            f'<text class="small" x="{left}" y="48">query 0 of each head, query 1 of each head, ...: row = query · 4 + member</text>']
    for row in range(QUERIES * GROUP):
        query, member = divmod(row, GROUP)
        x = left + row * CELL
        body += [f'<rect class="m{member}" x="{x + 0.5}" y="{top}" width="{CELL - 1}" height="22"/>',
                 f'<text class="cell" x="{x + CELL / 2}" y="{top + 15}">{query}</text>']
    end = left + QUERIES * GROUP * CELL
    body += [f'<rect class="empty" x="{end + 4}" y="{top + 0.5}" width="{640 - end - 4}" height="21" rx="2"/>',
             f'<text class="small" x="{(end + 644) / 2}" y="{top + 16}" text-anchor="middle">96 rows of zeros</text>']
    for member in range(GROUP):
        x = left + member * 100
        body += [f'<rect class="m{member}" x="{x}" y="{top + 34}" width="12" height="12"/>',
                 f'<text class="small" x="{x + 18}" y="{top + 45}">member {member}</text>']
    body.append(f'<text class="small" x="{left + 4 * 100}" y="{top + 45}">the number is the query</text>')
    return body


def panel(left, title, rows, top_kib, step):
    body = [f'<text x="{left}" y="{PANEL_TOP - 18}">{title}</text>']
    for kib in range(0, top_kib + 1, step):
        y = PANEL_TOP + PANEL_HEIGHT * (1 - kib / top_kib)
        body += [f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + PANEL_WIDTH}" y2="{y:.1f}"/>',
                 f'<text class="small" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{kib}</text>']
    for index, row in enumerate(rows):
        middle = left + PANEL_WIDTH * (index + 0.5) / len(rows)
        for name, column, shift in (("alone", "head_by_head", -20), ("packed", "packed", 1)):
            height = PANEL_HEIGHT * int(row[column]) / 1024 / top_kib
            body.append(f'<rect class="{name}" x="{middle + shift:.1f}" y="{PANEL_TOP + PANEL_HEIGHT - height:.1f}" '
                        f'width="19" height="{height:.1f}"/>')
        body.append(f'<text class="small" x="{middle:.1f}" y="{PANEL_TOP + PANEL_HEIGHT + 18}" '
                    f'text-anchor="middle">{row["H_kv"]}</text>')
    body.append(f'<text class="small" x="{left + PANEL_WIDTH / 2}" y="{PANEL_TOP + PANEL_HEIGHT + 38}" '
                'text-anchor="middle">heads of K and V</text>')
    return body


def draw():
    with DATA.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    few, many = ([row for row in rows if int(row["Nq"]) == queries] for queries in (FEW, MANY))
    top_of = lambda some: max(int(row[column]) for row in some for column in ("packed", "head_by_head")) // 1024
    body = [
        *tile(),
        f'<text class="title" x="24" y="160">KiB of K and V read for {HEADS} heads of Q, 256 keys, D = {DIM}</text>',
        '<rect class="alone" x="24" y="174" width="12" height="12"/>',
        '<text class="small" x="42" y="185">a block has rows of one head</text>',
        '<rect class="packed" x="224" y="174" width="12" height="12"/>',
        '<text class="small" x="242" y="185">a block has rows of all heads of a group</text>',
        *panel(68, f"{FEW} queries", few, top_of(few), top_of(few) // 4),
        *panel(400, f"{MANY} queries", many, top_of(many), top_of(many) // 4),
    ]
    height = PANEL_TOP + PANEL_HEIGHT + 54
    return charts.picture(
        body, height, "How the rows of a group lie in a tile, and the bytes of K and V that are read", STYLE)


def main():
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(__doc__)
    if "--measure" in sys.argv:
        measure()
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / "11_grouped_query.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
