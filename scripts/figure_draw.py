#!/usr/bin/env python3
"""Draws the figures of lessons 01, 02 and 06 that show accesses of a warp, as ./course draw does: sectors and banks.

docs/figures/NN_name_draw.json has the accesses, from traces of the solutions. To record them anew, with `course` built:

    scripts/figure_draw.py --record docs/figures/02_matrix_strides_draw.svg

Usage: scripts/figure_draw.py [--record] FIGURE.svg
"""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common" / "draw"))
import trace_picture  # noqa: E402
import trace_words  # noqa: E402
from options import check_words  # noqa: E402
from trace_steps import read_trace, step_of  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
COURSE = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")) / "bin" / "course"


@dataclasses.dataclass(frozen=True)
class Panel:
    """One access: which of the trace, the first of its kind for the array, and what stands above it."""

    caption: str
    case: str
    at: str
    kind: str
    array: str
    edit: tuple = ()  # of the solution: a text that stands there once, and another in its place


FIRST_WARP, LAST_WARP = "0,0,0,0,0", "0,0,0,0,7"  # of the first block
TRANSPOSE, TILED, LARGE = "without bank conflicts", "tiled: reads A and B", "tiles of 64 x 64"
UNPADDED = ("[kTile][kTile + 1];", "[kTile][kTile];")
FIGURE_OF = {
    "01_vector_add_draw": ("How the warps of a vector add touch memory", [
        Panel("A warp loads 32 neighbours", "255, 256", FIRST_WARP, "load", "a"),
        Panel("n = 255: the last warp loads only 31", "255, 256", LAST_WARP, "load", "a"),
        Panel("n = 255: the last warp stores only 31", "255, 256", LAST_WARP, "store", "c")]),
    "02_matrix_strides_draw": ("The same 32 floats, side by side and a row apart", [
        Panel("The transpose loads along a row", TRANSPOSE, FIRST_WARP, "load", "in"),
        Panel("The strided copy loads down a column, across rows of 33 floats", "between rows and columns", "0,2,0,0,0",
              "load", "src.data"),
        Panel("The transpose reads a column of its tile, whose rows have 33 words", TRANSPOSE, FIRST_WARP, "load",
              "tile_smem"),
        Panel("The same without padding: rows of 32 words", TRANSPOSE, FIRST_WARP, "load", "tile_smem", UNPADDED)]),
    "06_block_matmul_draw": ("How a warp reads its tiles in shared memory", [
        Panel("One element a thread: all lanes read the same element of A", TILED, FIRST_WARP, "load", "A_smem"),
        Panel("One element a thread: 32 neighbours of B", TILED, FIRST_WARP, "load", "B_smem"),
        Panel("8 × 8 elements a thread: 4 numbers of A for 16 lanes each", LARGE, FIRST_WARP, "load", "A_smem"),
        Panel("8 × 8 elements a thread: 4 numbers of B for 2 lanes each", LARGE, FIRST_WARP, "load", "B_smem")]),
}


class First:
    """Finds the first step of a kind that accesses an array."""

    def __init__(self, panel):
        self.panel, self.step = panel, None

    def begin(self, arrays):
        """Needs none of them."""

    def add(self, step):
        if self.step is None and (step.kind, step.array) == (self.panel.kind, self.panel.array) and step.is_access:
            self.step = step


def file_of(lesson, edit, folder):
    """What to trace: the worked solution, or a copy with another text in one place."""
    if not edit:
        return ["--solution"]
    text = (ROOT / "solutions" / lesson / f"{lesson[3:]}.cu").read_text(encoding="utf-8")
    if text.count(edit[0]) != 1:
        sys.exit(f"the solution of {lesson} has not exactly one {edit[0]}")
    copy = pathlib.Path(folder) / f"{lesson[3:]}.cu"
    copy.write_text(text.replace(*edit), encoding="utf-8")
    return ["--file", copy]


def row_of(step):
    """A step as a trace has it, as far as it is drawn."""
    lanes = zip(step.lanes, step.addresses, step.offsets, step.indices)
    return {"warp": step.warp, "kind": step.kind, "memory": step.memory, "array": step.array, "bytes": step.bytes,
            "file": pathlib.PurePosixPath(step.file).name, "line": step.line, "sectors": step.sectors,
            "wavefronts": step.wavefronts, "number": step.number,
            "lanes": [{"lane": lane, "address": address, "offset": offset, "index": list(index)}
                      for lane, address, offset, index in lanes]}


def record(figure):
    """The accesses of a figure's panels."""
    lesson, rows = figure.removesuffix("_draw"), []
    for panel in FIGURE_OF[figure][1]:
        with tempfile.TemporaryDirectory() as folder:
            trace = pathlib.Path(folder) / "trace.json"
            subprocess.run([COURSE, "trace", lesson[:2], *file_of(lesson, panel.edit, folder), "--case", panel.case, "--at",
                            panel.at, "--out", trace], check=True, cwd=ROOT)
            first = First(panel)
            read_trace(trace, [first])
        if first.step is None:
            sys.exit(f"{figure}: no {panel.kind} of {panel.array} in that block")
        rows.append(row_of(first.step))
    return '{"panels":[\n' + ",\n".join(json.dumps(row, separators=(",", ":")) for row in rows) + "\n]}\n"


def draw(figure, recorded):
    title, panels = FIGURE_OF[figure]
    steps = [step_of(row, row["number"]) for row in recorded["panels"]]
    body, y = trace_picture.legend(steps, 44)
    words = [title + "."]
    for panel, step in zip(panels, steps):
        body.append(trace_picture.text("title", trace_picture.charts.LEFT, y + 14, panel.caption))
        lines, y = trace_picture.draw_step(step, y + 22)
        body += lines
        words.append(f"{panel.caption}: {trace_words.pattern_of(step)}, {trace_words.cost_of(step)}.")
        y += 14
    return trace_picture.assemble(title, body, y, words)


def main():
    check_words("--record")
    arguments = [argument for argument in sys.argv[1:] if argument != "--record"]
    if len(arguments) != 1 or pathlib.Path(arguments[0]).stem not in FIGURE_OF:
        sys.exit(__doc__)
    path = pathlib.Path(arguments[0])
    data = FIGURES / f"{path.stem}.json"
    if "--record" in sys.argv:
        data.write_text(record(path.stem), encoding="utf-8")
        print(f"wrote {data}")
    path.write_text(draw(path.stem, json.loads(data.read_text(encoding="utf-8"))), encoding="utf-8")
    print(f"wrote {path}")


if __name__ == "__main__":
    main()
