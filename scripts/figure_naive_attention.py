#!/usr/bin/env python3
"""Draws the figure of lesson 07: the bytes that naive attention moves, by counter and by formula.

The counters are those of the simulator, recorded in docs/figures/07_naive_attention_traffic.csv. To count again, from
the solution as it is, and to draw:

    scripts/figure_naive_attention.py --measure

Usage: scripts/figure_naive_attention.py [--measure] [FIGURE.svg]
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
DATA = FIGURES / "07_naive_attention_traffic.csv"
DIM, TILE = 64, 128  # of the driver; rows and columns of the solution's tiles
SIZES = (32, 64, 128, 256, 512)

LEFT, TOP, WIDTH, HEIGHT = 76, 64, 400, 250
X_LOW, X_HIGH = 5, 13  # log2 of N along the axis
LOW_BYTES, HIGH_BYTES = 14, 31  # log2 of the bytes on the other: 16 KiB to 2 GiB
STYLE = charts.style("""
  .grid { stroke: #e1e6eb; }
  .square { stroke: #0a58ca; fill: none; stroke-width: 2; }
  .linear { stroke: #b35900; fill: none; stroke-width: 2; }
  .of-square { fill: #0a58ca; }
  .of-linear { fill: #b35900; }
""", """
    .grid { stroke: #262c36; }
    .square { stroke: #79b0ff; }
    .linear { stroke: #ffb86b; }
    .of-square { fill: #79b0ff; }
    .of-linear { fill: #ffb86b; }
""")


def measure():
    """Counts with the simulator and writes the CSV: bytes read and written by each of the three kernels."""
    lesson = ROOT / "lessons" / "07_naive_attention" / "naive_attention.hpp"
    solution = ROOT / "solutions" / "07_naive_attention" / "naive_attention.cu"
    driver = FIGURES / "07_naive_attention_traffic.cu"
    with tempfile.TemporaryDirectory() as folder, DATA.open("w", newline="", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        (folder / lesson.name).write_text(lesson.read_text(encoding="utf-8"), encoding="utf-8")
        program = folder / "traffic.cu"
        program.write_text(solution.read_text(encoding="utf-8") + driver.read_text(encoding="utf-8"), encoding="utf-8")
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["N", "kernel", "bytes_read", "bytes_written"])
        for size in SIZES:
            report = folder / "report.json"
            subprocess.run([ROOT / "course", "simulate", "--profile", "--report", report, program, "--", str(size)],
                           check=True, stderr=subprocess.DEVNULL)
            launches = json.loads(report.read_text(encoding="utf-8"))["launches"]
            for name, launch in zip(("scores", "softmax", "output"), launches, strict=True):
                total = launch["total"]
                rows.writerow([size, name, total["global_load"]["bytes"], total["global_store"]["bytes"]])


def formula(size):
    """Bytes of S and P, and bytes of Q, K, V and O, that the solution moves for one head."""
    tiles = math.ceil(size / TILE)
    square = 4 * 5 * size * size  # S written once and read twice, P written once and read once
    linear = 4 * size * DIM * (3 * tiles + 1)  # Q, K and V read once for each tile across; O written
    return square, linear


def counted(rows):
    """The same two numbers for each N, from the counters."""
    result = {}
    for row in rows:
        size, read, written = int(row["N"]), int(row["bytes_read"]), int(row["bytes_written"])
        square, linear = result.get(size, (0, 0))
        one = 4 * size * size
        if row["kernel"] == "scores":
            square, linear = square + written, linear + read
        elif row["kernel"] == "softmax":
            square += read + written
        else:
            square, linear = square + one, linear + (read - one) + written
        result[size] = (square, linear)
    return result


def x_of(size):
    return LEFT + (math.log2(size) - X_LOW) / (X_HIGH - X_LOW) * WIDTH


def y_of(bytes_):
    return TOP + HEIGHT - (math.log2(bytes_) - LOW_BYTES) / (HIGH_BYTES - LOW_BYTES) * HEIGHT


def draw():
    with DATA.open(encoding="utf-8") as file:
        points = counted(csv.DictReader(file))
    sizes = [2**power for power in range(X_LOW, X_HIGH + 1)]
    body = [
        f'<text class="title" x="24" y="26">Bytes moved by naive attention, one head, D = {DIM}</text>',
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
    for index, name in enumerate(("square", "linear")):
        line = " ".join(f"{x_of(size):.1f},{y_of(formula(size)[index]):.1f}" for size in sizes)
        body.append(f'<polyline class="{name}" points="{line}"/>')
        for size, values in points.items():
            body.append(f'<circle class="of-{name}" cx="{x_of(size):.1f}" cy="{y_of(values[index]):.1f}" r="4"/>')
        y = y_of(formula(sizes[-1])[index])
        body.append(f'<text class="of-{name}" x="{LEFT + WIDTH + 10}" y="{y + 4:.1f}">'
                    f'{("S and P", "Q, K, V and O")[index]}</text>')
    height = TOP + HEIGHT + 54
    return charts.picture(
        body, height, "Bytes that naive attention moves, against the number of queries and keys", STYLE)


def main():
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(__doc__)
    if "--measure" in sys.argv:
        measure()
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / "07_naive_attention.svg"
    figure.write_text(draw(), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
