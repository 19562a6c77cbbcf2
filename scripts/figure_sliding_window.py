#!/usr/bin/env python3
"""Draws the figure of lesson 12: the tiles of keys that two windows reach, and the bytes of K and V against N.

The tiles are recorded in docs/figures/12_sliding_window_tiles_256.csv and ..._48.csv, the bytes, which are those of the
simulator's counters, in docs/figures/12_sliding_window_bytes.csv. To run the solution again, and to draw:

    scripts/figure_sliding_window.py --measure

Usage: scripts/figure_sliding_window.py [--measure] [FIGURE.svg]
"""

import csv
import json
import math
import pathlib
import subprocess
import sys
import tempfile

import attention_tiles
from attention_tiles import BLOCK_M, BLOCK_N, FIGURES, ROOT
from options import check_words

WINDOWS = (256, 48)  # of the upper panels, and of two lines
DIM = 64  # of the driver
BYTES = FIGURES / "12_sliding_window_bytes.csv"
SIZES = (128, 256, 512, 1024)

LEFT, TOP, WIDTH, HEIGHT = 76, 372, 420, 200  # of the diagram
X_LOW, X_HIGH = 7, 13  # log2 of N along the axis
LOW_BYTES, HIGH_BYTES = 16, 28  # log2 of the bytes on the other: 64 KiB to 256 MiB
LIGHT = """
  .grid { stroke: #e1e6eb; }
  .line-causal { stroke: #8250df; fill: none; stroke-width: 2; }
  .line-256 { stroke: #0a58ca; fill: none; stroke-width: 2; }
  .line-48 { stroke: #1a7f37; fill: none; stroke-width: 2; }
  .of-causal { fill: #8250df; }
  .of-256 { fill: #0a58ca; }
  .of-48 { fill: #1a7f37; }
""".strip("\n")
DARK = """
    .grid { stroke: #262c36; }
    .line-causal { stroke: #d2a8ff; }
    .line-256 { stroke: #79b0ff; }
    .line-48 { stroke: #56d364; }
    .of-causal { fill: #d2a8ff; }
    .of-256 { fill: #79b0ff; }
    .of-48 { fill: #56d364; }
""".strip("\n")


def tiles_of(window):
    return f"12_sliding_window_tiles_{window}.csv"


def measure():
    """Writes the CSVs: the tiles for each window, and the bytes for each N without a window and with each."""
    for window in WINDOWS:
        attention_tiles.record("12_sliding_window", "12_sliding_window_tiles.cu", tiles_of(window), [str(window)])
    lesson = "sliding_window"
    with tempfile.TemporaryDirectory() as folder, BYTES.open("w", newline="", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        for header in (ROOT / "lessons" / f"12_{lesson}" / f"{lesson}.hpp", FIGURES / "attention_tiles.hpp"):
            (folder / header.name).write_text(header.read_text(encoding="utf-8"), encoding="utf-8")
        program, report = folder / "bytes.cu", folder / "report.json"
        program.write_text((ROOT / "solutions" / f"12_{lesson}" / f"{lesson}.cu").read_text(encoding="utf-8") +
                           (FIGURES / f"12_{lesson}_bytes.cu").read_text(encoding="utf-8"), encoding="utf-8")
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["N", "window", "bytes_of_K_and_V"])
        for size in SIZES:
            for name, keys in (("causal", size), *((window, window) for window in WINDOWS)):
                subprocess.run([ROOT / "course", "simulate", "--profile", "--report", report, program, "--", str(size),
                                str(keys)], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                (launch,) = json.loads(report.read_text(encoding="utf-8"))["launches"]
                rows.writerow([size, name, launch["total"]["global_load"]["bytes"] - 4 * size * DIM])  # less Q


def formula(size, window):
    """Bytes of K and V in the tiles of keys that the solution loads."""
    keys = 0
    for first_query in range(0, size, BLOCK_M):
        begin, end = max(first_query - window + 1, 0), min(first_query + BLOCK_M, size)
        keys += min(math.ceil(end / BLOCK_N) * BLOCK_N, size) - begin // BLOCK_N * BLOCK_N
    return 4 * 2 * DIM * keys


def x_of(size):
    return LEFT + (math.log2(size) - X_LOW) / (X_HIGH - X_LOW) * WIDTH


def y_of(bytes_):
    return TOP + HEIGHT - (math.log2(bytes_) - LOW_BYTES) / (HIGH_BYTES - LOW_BYTES) * HEIGHT


def diagram():
    """SVG of the lower part."""
    with BYTES.open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    body = [
        f'<text class="title" x="24" y="{TOP - 34}">Bytes of K and V for one head, D = {DIM}</text>',
        f'<text class="small" x="24" y="{TOP - 14}">points: counted by the simulator; lines: by formula</text>',
    ]
    for power, label in ((16, "64 KiB"), (19, "512 KiB"), (22, "4 MiB"), (25, "32 MiB"), (28, "256 MiB")):
        y = y_of(2**power)
        body += [f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}"/>',
                 f'<text class="small" x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>']
    sizes = [2**power for power in range(X_LOW, X_HIGH + 1)]
    for size in sizes:
        body.append(f'<text class="small" x="{x_of(size):.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{size}</text>')
    body.append(f'<text class="small" x="{LEFT + WIDTH / 2}" y="{TOP + HEIGHT + 38}" text-anchor="middle">'
                "N, as many queries as keys</text>")
    for name in ("causal", *map(str, WINDOWS)):
        def window_at(size, name=name):
            return size if name == "causal" else int(name)

        line = " ".join(f"{x_of(size):.1f},{y_of(formula(size, window_at(size))):.1f}" for size in sizes)
        body.append(f'<polyline class="line-{name}" points="{line}"/>')
        for row in rows:
            if row["window"] == name:
                point = int(row["bytes_of_K_and_V"])
                if point != formula(int(row["N"]), window_at(int(row["N"]))):
                    sys.exit(f"{BYTES.name}: N = {row['N']}, {name}: {point} bytes are not what the formula says")
                body.append(f'<circle class="of-{name}" cx="{x_of(int(row["N"])):.1f}" cy="{y_of(point):.1f}" r="4"/>')
        last = formula(sizes[-1], window_at(sizes[-1]))
        label = "causal" if name == "causal" else f"window {name}"
        body.append(f'<text class="of-{name}" x="{LEFT + WIDTH + 10}" y="{y_of(last) + 4:.1f}">{label}</text>')
    return body


def figure():
    title = "Tiles of keys that each tile of 128 queries loads"
    panels = [(f"a window of {window} keys", attention_tiles.read(tiles_of(window))) for window in WINDOWS]
    upper = attention_tiles.draw(title, panels, cell=6)
    height = TOP + HEIGHT + 54
    head, rest = upper.split("\n", 1)
    first = head.split(" viewBox=")[0]
    head = (f'{first} viewBox="0 0 664 {height}" width="664" height="{height}" role="img" aria-labelledby="title">')
    rest = rest.replace(f'<title id="title">{title}</title>',
                        '<title id="title">Tiles of keys that a sliding window reaches, and bytes of K and V</title>')
    dark = "  @media (prefers-color-scheme: dark) {"
    rest = rest.replace(dark, "\n".join([LIGHT, dark, DARK]), 1)
    return "\n".join([head, rest.removesuffix("</svg>\n").rstrip("\n"), *diagram(), "</svg>\n"])


def main():
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(__doc__)
    if "--measure" in sys.argv:
        measure()
    path = pathlib.Path(arguments[0]) if arguments else FIGURES / "12_sliding_window.svg"
    path.write_text(figure(), encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
