#!/usr/bin/env python3
"""Draws the figure of lesson 23: the share of an H100's peak that the simulator's counts allow, by the size of C.

The counts are those of one block of each kernel, for 32 steps of k, or on tensor cores for 64. The bound is that of
the lesson's tests: four instructions of a warp, a wavefront of shared memory and 2048 multiply-adds of tensor cores a
cycle; the busiest multiprocessor computes ⌈tiles / 132⌉ blocks. The figure shows three kernels for float32.

Usage: scripts/figure_autotuning.py [[COUNTS.csv] FIGURE.svg]
       scripts/figure_autotuning.py --record       counts again, with ./course profile, into docs/figures
"""

import csv
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
COUNTS, FIGURE = FIGURES / "23_autotuning_counts.csv", FIGURES / "23_autotuning.svg"
FIELDS = ["rows", "cols", "depth", "warps", "stages", "instructions", "wavefronts", "matrix_multiply_adds"]
STEPS_OF_K, MULTIPROCESSORS, FLOATS_A_CYCLE = 32, 132, 128
SHOWN = {"128 128 16 8 3": "large", "64 64 16 2 3": "middle", "32 32 16 2 2": "small"}
SIZES = [2 ** (exponent / 16) for exponent in range(16 * 5, 16 * 13 + 1)]

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 664, 320, 56, 516, 48, 264
STYLE = """
  .page { fill: #ffffff; }
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .middle-text { text-anchor: middle; }
  .right { text-anchor: end; }
  .grid { stroke: #d1d9e0; }
  .line { fill: none; stroke-width: 2; }
  .large { stroke: #0a58ca; }
  .middle { stroke: #b35900; }
  .small-tile { stroke: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #b7bfc9; }
    .grid { stroke: #3d444d; }
    .large { stroke: #79b0ff; }
    .middle { stroke: #ffb86b; }
    .small-tile { stroke: #56d364; }
  }
""".strip("\n")


def record():
    """One row for each kernel that the lesson's tests of the bound launch."""
    launches = []
    for case in ("the bound from what", "the bound of kernels on tensor cores"):
        with tempfile.TemporaryDirectory() as folder:
            counts = pathlib.Path(folder) / "counts.json"
            subprocess.run([ROOT / "course", "profile", "23", "--solution", "--case", case, "--all", "--json", counts],
                           check=True, stdout=subprocess.DEVNULL)
            launches += json.loads(counts.read_text(encoding="utf-8"))["launches"]
    with open(COUNTS, "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(FIELDS)
        for launch in launches:
            total = launch["total"]
            shared = [total["shared_load"], total["shared_store"]]
            requests = sum(traffic["requests"] for traffic in [*shared, total["global_load"], total["global_store"]])
            multiply_adds = total["float_instructions"] // 2  # counted as two, and one on a GPU
            instructions = (multiply_adds + total["special_instructions"] + total["matrix_instructions"] + requests
                            + total["barriers"])
            table.writerow([*re.findall(r"\d+", launch["kernel"].split("<")[1])[:5], instructions,
                            sum(traffic["wavefronts"] for traffic in shared), total["matrix_float16"]])
    print(f"wrote {COUNTS}")


def share_of_peak(row, size):
    """What C of size x size could reach: cycles that its multiply-adds take on all multiprocessors, over the bound."""
    side = round(size)
    tiles = math.ceil(side / int(row["rows"])) * math.ceil(side / int(row["cols"]))
    block = max(int(row["instructions"]) / 4, int(row["wavefronts"]))
    bound = math.ceil(tiles / MULTIPROCESSORS) * block
    return side * side * STEPS_OF_K / (MULTIPROCESSORS * FLOATS_A_CYCLE) / bound


def draw(rows):
    def across(size):
        return LEFT + (RIGHT - LEFT) * (math.log2(size) - 5) / 8

    def down(share):
        return BOTTOM - (BOTTOM - TOP) * share

    body = [f'<text class="title" x="16" y="26">Share of the float32 peak of an H100 that the bound allows</text>']
    for percent in range(0, 101, 25):
        y = down(percent / 100)
        body += [f'<line class="grid" x1="{LEFT}" y1="{y:.1f}" x2="{RIGHT}" y2="{y:.1f}"/>',
                 f'<text class="small right" x="{LEFT - 8}" y="{y + 4:.1f}">{percent} %</text>']
    for exponent in range(5, 14):
        body.append(f'<text class="small middle-text" x="{across(2 ** exponent):.1f}" y="{BOTTOM + 20}">{2 ** exponent}</text>')
    body.append(f'<text class="small middle-text" x="{(LEFT + RIGHT) / 2:.0f}" y="{BOTTOM + 42}">M = N</text>')
    names = {"large": "large", "middle": "middle", "small": "small-tile"}
    for place, (row, name) in enumerate((row, SHOWN[key]) for row in rows
                                        if (key := " ".join(row[field] for field in FIELDS[:5])) in SHOWN):
        points = " ".join(f"{across(size):.1f},{down(share_of_peak(row, size)):.1f}" for size in SIZES)
        y = TOP + 24 + 28 * place
        body += [f'<polyline class="line {names[name]}" points="{points}"/>',
                 f'<line class="line {names[name]}" x1="{RIGHT + 16}" y1="{y}" x2="{RIGHT + 40}" y2="{y}"/>',
                 f'<text x="{RIGHT + 48}" y="{y + 5}">{row["rows"]} × {row["cols"]}</text>']
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" height="{HEIGHT}" '
        'role="img" aria-labelledby="title">',
        '<title id="title">The share of the peak that three kernels may reach, by the size of C</title>',
        f"<style>\n{STYLE}\n</style>",
        '<rect class="page" width="100%" height="100%" rx="8"/>',
        *body,
        "</svg>\n",
    ])


def main():
    check_words("--record")
    if sys.argv[1:] == ["--record"]:
        record()
        return
    arguments = [pathlib.Path(argument) for argument in sys.argv[1:]]
    if len(arguments) > 2:
        sys.exit(__doc__)
    counts = arguments[0] if len(arguments) == 2 else COUNTS
    figure = arguments[-1] if arguments else FIGURE
    with open(counts, newline="", encoding="utf-8") as file:
        figure.write_text(draw(list(csv.DictReader(file))), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
