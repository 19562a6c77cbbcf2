#!/usr/bin/env python3
"""Draws the figure of lesson 08: the bytes that lessons 07, 08 and 09 move, by counter and by formula.

The counters are those of the simulator, recorded in docs/figures/08_flash1_forward_traffic.csv. To count again, from
the solutions as they are, and to draw:

    scripts/figure_flash1_forward.py --measure

Usage: scripts/figure_flash1_forward.py [--measure] [FIGURE.svg]
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
DATA = FIGURES / "08_flash1_forward_traffic.csv"
DIM = 64  # of the driver
QUERIES, KEYS = 128, 64  # in the solutions' tiles; lesson 07 has tiles of 128 x 128
SIZES = (32, 64, 128, 256, 512)
CALLS = {
    "07_naive_attention": "naive_attention(Q, K, V, S, P, O, scale)",
    "08_flash1_forward": "flash1_forward(Q, K, V, O, l, m, scale)",
    "09_flash2_forward": "flash2_forward(Q, K, V, O, lse, scale)",
}
LABELS = ("07, S and P in memory", "08, O in memory", "09, O in registers")

LEFT, TOP, WIDTH, HEIGHT = 76, 64, 400, 250
X_LOW, X_HIGH = 5, 13  # log2 of N along the axis
LOW_BYTES, HIGH_BYTES = 14, 31  # log2 of the bytes on the other: 16 KiB to 2 GiB
STYLE = charts.style("""
  .grid { stroke: #e1e6eb; }
  .l07 { stroke: #0a58ca; fill: none; stroke-width: 2; }
  .l08 { stroke: #b35900; fill: none; stroke-width: 2; }
  .l09 { stroke: #1a7f37; fill: none; stroke-width: 2; }
  .of-l07 { fill: #0a58ca; }
  .of-l08 { fill: #b35900; }
  .of-l09 { fill: #1a7f37; }
""", """
    .grid { stroke: #262c36; }
    .l07 { stroke: #79b0ff; }
    .l08 { stroke: #ffb86b; }
    .l09 { stroke: #56d364; }
    .of-l07 { fill: #79b0ff; }
    .of-l08 { fill: #ffb86b; }
    .of-l09 { fill: #56d364; }
""")


def measure():
    """Counts with the simulator and writes the CSV: bytes read and written by all kernels of each lesson."""
    driver = (FIGURES / "08_flash1_forward_traffic.cu").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder, DATA.open("w", newline="", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["lesson", "N", "bytes_read", "bytes_written"])
        for lesson, call in CALLS.items():
            name = lesson[3:]
            header = ROOT / "lessons" / lesson / f"{name}.hpp"
            (folder / header.name).write_text(header.read_text(encoding="utf-8"), encoding="utf-8")
            solution = (ROOT / "solutions" / lesson / f"{name}.cu").read_text(encoding="utf-8")
            program = folder / "traffic.cu"
            program.write_text(solution + driver.replace("  // the call\n", f"  course::{call};\n"), encoding="utf-8")
            for size in SIZES:
                report = folder / "report.json"
                subprocess.run([ROOT / "course", "simulate", "--profile", "--report", report, program, "--", str(size)],
                               check=True, stderr=subprocess.DEVNULL)
                totals = [launch["total"] for launch in json.loads(report.read_text(encoding="utf-8"))["launches"]]
                rows.writerow([lesson, size, sum(total["global_load"]["bytes"] for total in totals),
                               sum(total["global_store"]["bytes"] for total in totals)])


def formula(size):
    """Bytes that the solutions of lessons 07, 08 and 09 move for one head."""
    matrix, row = 4 * size * DIM, 4 * size
    across, down, squares = math.ceil(size / KEYS), math.ceil(size / QUERIES), math.ceil(size / 128)
    naive = 4 * 5 * size * size + (3 * squares + 1) * matrix
    # K and V once; Q, O, l and m read for each tile of keys; O, l and m written as often, and once more
    flash1 = 2 * matrix + across * (2 * matrix + 2 * row) + (across + 1) * (matrix + 2 * row)
    flash2 = 2 * matrix + 2 * down * matrix + row
    return naive, flash1, flash2


def x_of(size):
    return LEFT + (math.log2(size) - X_LOW) / (X_HIGH - X_LOW) * WIDTH


def y_of(bytes_):
    return TOP + HEIGHT - (math.log2(bytes_) - LOW_BYTES) / (HIGH_BYTES - LOW_BYTES) * HEIGHT


def draw():
    with DATA.open(encoding="utf-8") as file:
        counted = list(csv.DictReader(file))
    sizes = [2**power for power in range(X_LOW, X_HIGH + 1)]
    body = [
        f'<text class="title" x="24" y="26">Bytes moved for one head, D = {DIM}</text>',
        '<text class="small" x="24" y="46">points: counted by the simulator; lines: by formula</text>',
    ]
    for power, label in ((14, "16 KiB"), (17, "128 KiB"), (20, "1 MiB"), (23, "8 MiB"), (26, "64 MiB"), (29, "512 MiB")):
        y = y_of(2**power)
        body += [f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}"/>',
                 f'<text class="small" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>']
    for size in sizes:
        body.append(f'<text class="small" x="{x_of(size):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{size}</text>')
    body.append(f'<text class="small" x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">'
                "N, as many queries as keys</text>")
    for index, (lesson, label) in enumerate(zip(CALLS, LABELS, strict=True)):
        style = f"l{lesson[:2]}"
        line = " ".join(f"{x_of(size):.1f},{y_of(formula(size)[index]):.1f}" for size in sizes)
        body.append(f'<polyline class="{style}" points="{line}"/>')
        for row in counted:
            if row["lesson"] == lesson:
                y = y_of(int(row["bytes_read"]) + int(row["bytes_written"]))
                body.append(f'<circle class="of-{style}" cx="{x_of(int(row["N"])):.1f}" cy="{y:.1f}" r="4"/>')
        y = y_of(formula(sizes[-1])[index]) + (-4, 8, 4)[index]  # the first two lines end side by side
        body.append(f'<text class="of-{style}" x="{LEFT + WIDTH + 10}" y="{y:.1f}">{label}</text>')
    height = TOP + HEIGHT + 54
    return charts.picture(
        body, height, "Bytes that attention moves in lessons 07, 08 and 09, against the number of queries and keys",
        STYLE)


def main():
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(__doc__)
    if "--measure" in sys.argv:
        measure()
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / "08_flash1_forward.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
