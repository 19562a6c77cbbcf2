#!/usr/bin/env python3
"""Draws the figure of lesson 15: the pairs of tiles that its two kernels visit, 512 queries and as many keys, and how
many bytes each kernel reads for it.

They are recorded in docs/figures/15_flash2_backward_tiles.csv. To run the solution again in the simulator, and to draw:

    scripts/figure_flash2_backward.py --measure

Usage: scripts/figure_flash2_backward.py [--measure] [FIGURE.svg]
"""

import csv
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
LESSON = "15_flash2_backward"
DATA = FIGURES / f"{LESSON}_tiles.csv"
KERNELS = ("keys_kernel", "queries_kernel")
ROWS, TILES = 64, 8  # rows of a tile, and tiles, in the driver
SHOWN = 3  # the block whose way through the tiles is drawn

CELL, TOP, HEIGHT = 15, 86, 286
LEFT = {("keys_kernel", False): 46, ("keys_kernel", True): 190, ("queries_kernel", False): 366,
        ("queries_kernel", True): 510}
STYLE = charts.style("""
  .middle { text-anchor: middle; }
  .right { text-anchor: end; }
  .skipped { fill: #f2f4f7; }
  .visited { fill: #a9c8f5; }
  .block { fill: #0a58ca; }
  .key { stroke: #8c959f; }
  .lines { stroke: #ffffff; stroke-width: 1.5; fill: none; }
  .way { stroke: #ffffff; stroke-width: 2; fill: none; }
""", """
    .skipped { fill: #1b212a; }
    .visited { fill: #26467a; }
    .block { fill: #79b0ff; }
    .key { stroke: #6e7681; }
    .lines { stroke: #0d1117; }
    .way { stroke: #0d1117; }
""")


def measure():
    """Runs the solution, joined to the driver, and writes the CSV: for each pair of tiles whether it was visited, and
    for each kernel the bytes that it reads."""
    with tempfile.TemporaryDirectory() as folder, DATA.open("w", newline="", encoding="utf-8") as out:
        folder = pathlib.Path(folder)
        shutil.copy(ROOT / "lessons" / LESSON / f"{LESSON[3:]}.hpp", folder)
        solution = (ROOT / "solutions" / LESSON / f"{LESSON[3:]}.cu").read_text(encoding="utf-8")
        program, report = folder / "tiles.cu", folder / "report.json"
        program.write_text(solution + (FIGURES / f"{LESSON}_tiles.cu").read_text(encoding="utf-8"), encoding="utf-8")
        out.write("kernel,causal,query,key,rows\n")
        for argument in ("all", "causal"):
            run = subprocess.run([ROOT / "course", "simulate", program, "--", argument], check=True, text=True,
                                 stdout=subprocess.PIPE)
            out.write("".join(f"{line}\n" for line in sorted(run.stdout.splitlines())))
            subprocess.run([ROOT / "course", "simulate", "--profile", "--report", report, program, "--", argument, "once"],
                           check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            launches = json.loads(report.read_text(encoding="utf-8"))["launches"]
            for kernel in KERNELS:
                read = [launch["total"]["global_load"]["bytes"] for launch in launches if kernel in launch["kernel"]]
                out.write(f"{kernel},{int(argument == 'causal')},bytes,{sum(read)},\n")


def read():
    """Of each kernel and mask: the pairs (query tile, key tile) that were visited, and the bytes read."""
    pairs, bytes_read = {place: set() for place in LEFT}, {}
    with DATA.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            place = row["kernel"], row["causal"] == "1"
            if row["query"] == "bytes":
                bytes_read[place] = int(row["key"])
            elif int(row["rows"]) == ROWS:
                pairs[place].add((int(row["query"]), int(row["key"])))
            elif int(row["rows"]):
                sys.exit(f"{DATA}: {row['rows']} rows of a tile of {ROWS} met another tile")
    return pairs, bytes_read


def panel(place, pairs, bytes_read):
    kernel, causal = place
    x, of_keys = LEFT[place], kernel == "keys_kernel"

    def box(name, query, key):
        return (f'<rect class="{name}" x="{x + key * CELL}" y="{TOP + query * CELL}" width="{CELL}" '
                f'height="{CELL}"/>')

    size = TILES * CELL
    body = [f'<text class="small" x="{x}" y="{TOP - 22}">{"causal" if causal else "every key seen"}</text>',
            f'<text class="small" x="{x}" y="{TOP - 6}">keys →</text>',
            f'<rect class="skipped" x="{x}" y="{TOP}" width="{size}" height="{size}"/>']
    shown = [pair for pair in sorted(pairs) if pair[1 if of_keys else 0] == SHOWN]
    body += [box("block" if pair in shown else "visited", *pair) for pair in sorted(pairs)]
    lines = "".join(f"M{x + i * CELL} {TOP}v{size}M{x} {TOP + i * CELL}h{size}" for i in range(1, TILES))
    body.append(f'<path class="lines" d="{lines}"/>')
    (first_query, first_key), (last_query, last_key) = shown[0], shown[-1]
    x0, y0 = x + (first_key + 0.5) * CELL, TOP + (first_query + 0.5) * CELL
    x1, y1 = x + (last_key + 0.5) * CELL, TOP + (last_query + 0.5) * CELL
    head = f"M{x1 - 4:g} {y1 - 4:g}l4 4l4 -4" if of_keys else f"M{x1 - 4:g} {y1 - 4:g}l4 4l-4 4"
    body.append(f'<path class="way" d="M{x0:g} {y0:g}L{x1:g} {y1:g}{head}"/>')
    body += [f'<text class="small" x="{x}" y="{TOP + size + 20}">{len(pairs)} pairs,</text>',
             f'<text class="small" x="{x}" y="{TOP + size + 36}">{bytes_read / 1e6:.2f} MB read</text>']
    return body


def draw(pairs, bytes_read):
    title = "The pairs of tiles that the two kernels visit, and one block's way"
    body = [f'<text class="title" x="24" y="26">{title}</text>']
    for kernel, what in (("keys_kernel", "keys_kernel: keys stay"), ("queries_kernel", "queries_kernel: queries stay")):
        body.append(f'<text x="{LEFT[kernel, False]}" y="48">{what}</text>')
    for place in LEFT:
        body += panel(place, pairs[place], bytes_read[place])
    middle = TOP + TILES * CELL // 2
    body.append(f'<text class="small middle" transform="rotate(-90 34 {middle})" x="34" y="{middle}">← queries</text>')
    key_y, key_x = HEIGHT - 24, LEFT["keys_kernel", False]
    for name, text, width in (("block", "one block, in the order of the arrow", 250), ("visited", "the other blocks", 140),
                              ("skipped", "never loaded", 0)):
        body += [f'<rect class="{name} key" x="{key_x}" y="{key_y - 11}" width="14" height="14"/>',
                 f'<text class="small" x="{key_x + 20}" y="{key_y}">{text}</text>']
        key_x += width
    return charts.picture(body, HEIGHT, title, STYLE)


def main():
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(__doc__)
    if "--measure" in sys.argv:
        measure()
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / f"{LESSON}.svg"
    figure.write_text(draw(*read()), encoding="utf-8")
    print(f"wrote {figure}")


if __name__ == "__main__":
    main()
