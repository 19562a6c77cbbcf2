"""Draws which tiles of keys a forward kernel loads: what the figures of lessons 10, 12 and 13 have in common.

record() runs a solution in the simulator, with docs/figures/attention_tiles.hpp, and writes a CSV with one line for
each group of queries and of keys: how many of the queries met these keys, and how many pairs of a query and a key
are seen. read() reads it again and cuts it into tiles, and draw() makes one figure of one or several of these.
"""

import csv
import dataclasses
import pathlib
import shutil
import subprocess
import sys
import tempfile

from diagrams import charts  # the frame of all pictures
from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
BLOCK_M, BLOCK_N = 128, 64  # queries and keys of a tile of the solutions

STYLE = charts.style("""
  .skipped { fill: #f2f4f7; }
  .whole { fill: #0a58ca; }
  .masked { fill: #f2c48f; }
  .seen { fill: #b35900; }
  .key { stroke: #8c959f; }
  .lines { stroke: #ffffff; stroke-width: 1.5; fill: none; }
""", """
    .skipped { fill: #1b212a; }
    .whole { fill: #4a8ff0; }
    .masked { fill: #6b4520; }
    .seen { fill: #ffb86b; }
    .key { stroke: #6e7681; }
    .lines { stroke: #0d1117; }
""")


@dataclasses.dataclass
class Tiles:
    """What a kernel did, tile by tile. The keys of loaded and seen are (first query, first key)."""

    group: int
    queries: int
    keys: int
    loaded: dict  # of a group: whether the tile of queries that it is part of loaded it
    seen: dict  # of a group: pairs of a query and a key that it sees

    def tile_groups(self, query, key):
        """The groups of the tile that begins there."""
        return [(i, j) for i in range(query, min(query + BLOCK_M, self.queries), self.group)
                for j in range(key, min(key + BLOCK_N, self.keys), self.group)]

    def is_loaded(self, query, key):
        return self.loaded[query, key]

    def is_whole(self, query, key):
        """Whether every query of the tile sees every key of it."""
        return all(self.seen[group] == self.group**2 for group in self.tile_groups(query, key))

    def loaded_of(self, query):
        """The first keys of the tiles that this tile of queries loads."""
        return [key for key in range(0, self.keys, BLOCK_N) if self.is_loaded(query, key)]

    def first_queries(self):
        return range(0, self.queries, BLOCK_M)


def record(lesson, driver, data, arguments=()):
    """Runs the solution of a lesson, NN_name, joined to docs/figures/<driver>, and writes docs/figures/<data>."""
    name = lesson[3:]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for header in (ROOT / "lessons" / lesson / f"{name}.hpp", FIGURES / "attention_tiles.hpp"):
            shutil.copy(header, folder)
        solution = (ROOT / "solutions" / lesson / f"{name}.cu").read_text(encoding="utf-8")
        program = folder / "tiles.cu"
        program.write_text(solution + (FIGURES / driver).read_text(encoding="utf-8"), encoding="utf-8")
        run = subprocess.run([ROOT / "course", "simulate", program, "--", *arguments], check=True, text=True,
                             stdout=subprocess.PIPE)
    (FIGURES / data).write_text(run.stdout, encoding="utf-8")


def read(data):
    """The Tiles of docs/figures/<data>. A tile that is loaded in part is none: that ends the script."""
    with (FIGURES / data).open(encoding="utf-8") as file:
        rows = [{name: int(value) for name, value in row.items()} for row in csv.DictReader(file)]
    group = max(row["loaded"] for row in rows)
    tiles = Tiles(group, rows[-1]["query"] + group, rows[-1]["key"] + group,
                  {(row["query"], row["key"]): row["loaded"] == group for row in rows},
                  {(row["query"], row["key"]): row["seen"] for row in rows})
    for query in tiles.first_queries():
        for key in range(0, tiles.keys, BLOCK_N):
            groups = tiles.tile_groups(query, key)
            if any(tiles.loaded[one] != tiles.is_loaded(query, key) for one in groups):
                sys.exit(f"{data}: queries {query}... load a part of the keys {key}...: tiles of the solution are not "
                         f"{BLOCK_M} x {BLOCK_N}")
            if not tiles.is_loaded(query, key) and any(tiles.seen[one] for one in groups):
                sys.exit(f"{data}: queries {query}... see keys {key}... that they do not load")
    return tiles


def grid(tiles, x, y, cell):
    """SVG of one recording, queries downwards and keys to the right; `cell` pixels for a group. Its upper left corner
    is at (x, y)."""
    def box(name, query, key, queries, keys):
        scale = cell / tiles.group
        return (f'<rect class="{name}" x="{x + key * scale:g}" y="{y + query * scale:g}" '
                f'width="{keys * scale:g}" height="{queries * scale:g}"/>')

    body = [box("skipped", 0, 0, tiles.queries, tiles.keys)]
    for query in tiles.first_queries():
        for key in tiles.loaded_of(query):
            whole = tiles.is_whole(query, key)
            queries, keys = min(BLOCK_M, tiles.queries - query), min(BLOCK_N, tiles.keys - key)
            body.append(box("whole" if whole else "masked", query, key, queries, keys))
            if whole:
                continue
            for i, j in tiles.tile_groups(query, key):
                if share := tiles.seen[i, j] / tiles.group**2:
                    body.append(box("seen", i, j, tiles.group, tiles.group).replace("/>", f' opacity="{share:.2g}"/>'))
    right, bottom = x + tiles.keys / tiles.group * cell, y + tiles.queries / tiles.group * cell
    lines = "".join(f"M{x + key / tiles.group * cell:g} {y}V{bottom:g}" for key in range(BLOCK_N, tiles.keys, BLOCK_N))
    lines += "".join(f"M{x} {y + query / tiles.group * cell:g}H{right:g}"
                     for query in range(BLOCK_M, tiles.queries, BLOCK_M))
    return [*body, f'<path class="lines" d="{lines}"/>']


def draw(title, panels, cell=12, width=664):
    """The figure: panels is a list of (caption, Tiles), drawn side by side from left to right. A caption may be "".
    Behind each row stands how many tiles of keys that tile of queries loads."""
    x, y, body = 64, 78 if any(caption for caption, _ in panels) else 62, []
    bottom = y + max(tiles.queries / tiles.group for _, tiles in panels) * cell
    for caption, tiles in panels:
        if caption:
            body.append(f'<text class="small" x="{x}" y="48">{caption}</text>')
        right = x + tiles.keys / tiles.group * cell
        body += grid(tiles, x, y, cell)
        body += [f'<text class="small" x="{x - 6}" y="{y - 6}" text-anchor="end">query</text>',
                 f'<text class="small" x="{x}" y="{y - 6}">keys 0 to {tiles.keys - 1}</text>',
                 f'<text class="small" x="{right + 6:g}" y="{y - 6}">tiles</text>']
        for query in tiles.first_queries():
            middle = y + (query + min(BLOCK_M, tiles.queries - query) / 2) / tiles.group * cell + 4
            body.append(f'<text class="small" x="{x - 6}" y="{middle:g}" text-anchor="end">{query}…</text>')
            body.append(f'<text class="small" x="{right + 6:g}" y="{middle:g}">{len(tiles.loaded_of(query))}</text>')
        x = right + 84
    key_y, key_x = bottom + 22, 64
    for names, text in ((("whole",), "every query sees every key"),
                        (("seen", "masked"), "loaded: seen, not seen"), (("skipped",), "never loaded")):
        for index, name in enumerate(names):
            body.append(f'<rect class="{name} key" x="{key_x + index * 14}" y="{key_y:g}" width="14" height="14"/>')
        body.append(f'<text class="small" x="{key_x + len(names) * 14 + 6}" y="{key_y + 11:g}">{text}</text>')
        key_x += len(names) * 14 + 190
    height = round(key_y + 32)
    return charts.picture(
        [f'<text class="title" x="24" y="26">{title}</text>', *body], height, title, STYLE, width=width)


def main(usage, lesson, recordings, figure_of):
    """What a figure's script does: `[--measure] [FIGURE.svg]`. recordings: a list of (driver, CSV, arguments) for
    record(). figure_of(): the SVG, from the CSVs. Without a name it goes to docs/figures/<lesson>.svg."""
    check_words("--measure")
    arguments = [argument for argument in sys.argv[1:] if argument != "--measure"]
    if len(arguments) > 1:
        sys.exit(usage)
    if "--measure" in sys.argv:
        for driver, data, program_arguments in recordings:
            record(lesson, driver, data, program_arguments)
    figure = pathlib.Path(arguments[0]) if arguments else FIGURES / f"{lesson}.svg"
    figure.write_text(figure_of(), encoding="utf-8")
    print(f"wrote {figure}")
