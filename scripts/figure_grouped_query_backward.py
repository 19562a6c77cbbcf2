#!/usr/bin/env python3
"""Draws the figure of lesson 16: bytes moved for dK and dV of heads that are shared, in two ways.

The bytes are those of the simulator's counters, recorded in docs/figures/16_grouped_query_backward_traffic.csv: of the
solution's kernel of dK and dV, which adds up over the heads of a group in registers; and of the same kernel called so
that it gives dK and dV of single heads, with a kernel behind it that adds these up. To count again, from the solution
as it is, and to draw:

    scripts/figure_grouped_query_backward.py --measure

Usage: scripts/figure_grouped_query_backward.py [--measure] [FIGURE.svg]
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
NAME = "16_grouped_query_backward"
DATA = FIGURES / f"{NAME}_traffic.csv"
HEADS, ROWS, DIM = 8, 128, 64  # of the driver
HEADS_OF_K = (8, 4, 2, 1)
COLUMNS = ["stored_registers", "stored_tensor", "loaded_registers", "loaded_tensor"]

WIDTH, HEIGHT, TOP = 244, 170, 104  # of a panel
STYLE = charts.style("""
  .grid { stroke: #e1e6eb; }
  .registers { fill: #0a58ca; }
  .tensor { fill: #b35900; }
""", """
    .grid { stroke: #262c36; }
    .registers { fill: #79b0ff; }
    .tensor { fill: #ffb86b; }
""")


def count(program, report, heads_of_k):
    """Bytes that the kernels of dK and dV move, in the order of COLUMNS."""
    subprocess.run([ROOT / "course", "simulate", "--profile", "--report", report, program, "--", str(heads_of_k)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    launches = json.loads(report.read_text(encoding="utf-8"))["launches"]
    each = 3 if heads_of_k == HEADS else 5  # delta, dK and dV, dQ, and two sums
    if len(launches) != 3 + heads_of_k * each:
        sys.exit(f"{len(launches)} launches instead of {3 + heads_of_k * each}")
    calls = [launches[3 + head * each:][:each] for head in range(heads_of_k)]
    tensor = [launch for call in calls for launch in [call[1], *call[3:]]]
    return [sum(launch["total"][kind]["bytes"] for launch in some)
            for kind in ("global_store", "global_load") for some in ([launches[1]], tensor)]


def measure():
    """Counts with the simulator and writes the CSV."""
    lesson = ROOT / "lessons" / NAME / "grouped_query_backward.hpp"
    solution = ROOT / "solutions" / NAME / "grouped_query_backward.cu"
    driver = FIGURES / f"{NAME}_traffic.cu"
    with tempfile.TemporaryDirectory() as folder, DATA.open("w", newline="", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        (folder / lesson.name).write_text(lesson.read_text(encoding="utf-8"), encoding="utf-8")
        program = folder / "traffic.cu"
        program.write_text(solution.read_text(encoding="utf-8") + driver.read_text(encoding="utf-8"), encoding="utf-8")
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["H_kv", *COLUMNS])
        for heads in HEADS_OF_K:
            rows.writerow([heads, *count(program, folder / "report.json", heads)])


def panel(left, title, rows, kind, top_kib, step):
    body = [f'<text x="{left}" y="{TOP - 16}">{title}</text>']
    for kib in range(0, top_kib + 1, step):
        y = TOP + HEIGHT * (1 - kib / top_kib)
        body += [f'<line class="grid" x1="{left}" y1="{y:.1f}" x2="{left + WIDTH}" y2="{y:.1f}"/>',
                 f'<text class="small" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{kib}</text>']
    for index, row in enumerate(rows):
        middle = left + WIDTH * (index + 0.5) / len(rows)
        for way, shift in (("registers", -20), ("tensor", 1)):
            height = HEIGHT * int(row[f"{kind}_{way}"]) / 1024 / top_kib
            body.append(f'<rect class="{way}" x="{middle + shift:.1f}" y="{TOP + HEIGHT - height:.1f}" width="19" '
                        f'height="{height:.1f}"/>')
        body.append(f'<text class="small" x="{middle:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">'
                    f'{row["H_kv"]}</text>')
    body.append(f'<text class="small" x="{left + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">'
                'heads of K and V</text>')
    return body


def draw():
    with DATA.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    body = [
        f'<text class="title" x="24" y="26">KiB moved for dK and dV: {HEADS} heads of Q, {ROWS} queries and keys, '
        f'D = {DIM}</text>',
        '<rect class="registers" x="24" y="44" width="12" height="12"/>',
        '<text class="small" x="42" y="55">summed in registers</text>',
        '<rect class="tensor" x="184" y="44" width="12" height="12"/>',
        f'<text class="small" x="202" y="55">dK and dV of {HEADS} heads in memory, then summed</text>',
        *panel(66, "stored", rows, "stored", 800, 200),
        *panel(390, "loaded", rows, "loaded", 4000, 1000),
    ]
    height = TOP + HEIGHT + 54
    return charts.picture(body, height, "Bytes moved for dK and dV of shared heads", STYLE)


def main():
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(__doc__)
    if "--measure" in sys.argv:
        measure()
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / f"{NAME}.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
