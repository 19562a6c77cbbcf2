#!/usr/bin/env python3
"""Draws how the lessons' kernels do on a GPU: beside one another, beside PyTorch, and beside what the device can do.

    torch_ladder    each lesson's attention kernel at 4096 tokens: time, and share of the floor
    torch_time      time of the forward pass against length
    torch_memory    memory of the forward pass against length
    torch_errors    error against float64 by length and by magnitude of the data
    roofline        operations a byte against the rate that was reached

Usage: scripts/plot_results.py [--gpu NAME] [--results FOLDER] [--out FOLDER] [FIGURE ...]     (default: all)

Reads FOLDER/compare_torch_forward_NAME.json and its neighbours, which scripts/compare_torch.py and `./course bench`
write. Needs nothing but Python. Exit status: 0; 1 if a result is missing, and then which and how to make it; 2 wrong
usage.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import charts  # noqa: E402
from torch_comparison import tables  # noqa: E402
from torch_comparison.results import Missing, Results, cases_with, require_some, shown, timed  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
TITLES = {7: "Naive attention", 8: "FlashAttention", 9: "FlashAttention-2", 10: "Causal", 11: "Causal, grouped heads",
          12: "Window of 1024", 13: "Window, 4 sinks", 15: "All keys", 16: "Causal, grouped heads", 17: "Causal",
          18: "Causal, dropout"}  # fmt: skip
LADDER_N = 4096
DIMS = (64, 128)
SMALLEST_ERROR = 1e-12  # an error of 0 has no logarithm


def draw_ladder(results: Results) -> str:
    """A bar for each lesson: the share of its floor."""
    chart = charts.Chart(f"Attention, N = {LADDER_N}: share of the floor, and time",
                         "The floor: operations at the rate of cuBLAS in float32, or bytes at that of a copy",
                         "What share of the least possible time the attention kernel of each lesson reaches")
    for name, heading, direction in (("compare_torch_forward", "forward", "forward"),
                                     ("compare_torch_backward", "backward", "backward")):
        run = results[name]
        for D in DIMS:
            rows = {}
            for case in timed(cases_with(run["cases"], N=LADDER_N, D=D, direction=direction)):
                rows.setdefault(case["lesson"], case)
            require_some(name, list(rows), f"time with N = {LADDER_N} and D = {D}")
            chart.heading(f"{heading}, D = {D}")
            for lesson, case in sorted(rows.items()):
                own = case["ours"]["milliseconds"]
                share = tables.floor_milliseconds(case, run["ceilings"])[0] / own
                chart.bar(f"{lesson:02} {TITLES[lesson]}", share, 1.2,
                          f"{100 * share:.0f} %, {charts.milliseconds(own)}")
    return chart.svg(results.where("compare_torch_forward", "compare_torch_backward"))


# Lines of the forward pass without a mask: name, lesson, and which of PyTorch's ways; None: the lesson's kernel.
FORWARD_LINES = [("09 FlashAttention-2", 9, None), ("PyTorch, three operations", 9, "naive"),
                 ("PyTorch, memory-efficient", 9, "efficient"), ("07 Naive attention", 7, None),
                 ("08 FlashAttention", 8, None)]  # fmt: skip


def points_of(found: list, lesson: int, way: str | None, D: int, member: str, scale=lambda case: 1.0) -> list:
    """Pairs of length and number, in order."""
    points = []
    for case in cases_with(found, lesson=lesson, D=D, causal=False, direction="forward", window=None):
        source = case["ours"] if way is None else case["torch"].get(way, {})
        if source.get("milliseconds") is not None and source.get(member):
            points.append((case["N"], source[member] * scale(case)))
    return sorted(points)


def draw_forward(results: Results, member: str, title: str, subtitle: str, description: str, tick, scale=None) -> str:
    """Two panels, for D = 64 and 128, of lines against length."""
    run = results["compare_torch_forward"]
    lines = {D: [points_of(run["cases"], lesson, way, D, member, scale or (lambda case: 1.0))
                 for _, lesson, way in FORWARD_LINES] for D in DIMS}
    values = [y for D in DIMS for line in lines[D] for _, y in line]
    lengths = sorted({x for D in DIMS for line in lines[D] for x, _ in line})
    require_some("compare_torch_forward", lengths[1:], "times of lesson 09 at two lengths or more")

    def panel(D):
        def make(top):
            plot = charts.Plot(top, f"D = {D}", lengths, values, "queries and keys of a sequence", tick)
            plot.add_lines(lines[D])
            return plot
        return make

    names = [(number, name) for number, (name, _, _) in enumerate(FORWARD_LINES)]
    return charts.line_figure(title, subtitle, description, names, [panel(D) for D in DIMS],
                              results.where("compare_torch_forward"))


def draw_time(results: Results) -> str:
    return draw_forward(results, "milliseconds", "Attention forward, all keys: time against length",
                        "16,384 tokens in all, 2048 numbers a token over all heads, float32 without TF32",
                        "Time of the forward pass against length, for three lessons and two ways of PyTorch, at D = 64 "
                        "and D = 128", lambda value: f"{value:g} ms")


def size_tick(count: float) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{count / unit:.0f} {name}"
    return f"{count:.0f} B"


def draw_memory(results: Results) -> str:
    return draw_forward(results, "extra_bytes", "Attention forward, all keys: memory of one sequence against length",
                        "Beside Q, K and V. Stored scores grow with the square of the length",
                        "Memory of the forward pass of one sequence against length: with all scores stored it grows "
                        "with the square of the length, else with the length", size_tick,
                        scale=lambda case: 1.0 / case["B"])


def error_points(found: list, lesson: int, direction: str, result: str, by: str) -> list:
    """Three lines of (length or spread, error as a share of the largest element): kernel, naive, efficient."""
    lines = [[], [], []]
    for case in cases_with(found, lesson=lesson, direction=direction):
        if (case["spread"] != 1 if by == "N" else case["N"] != 1024) or not case["ours"].get("errors"):
            continue
        largest = case["ours"]["errors"][result]["largest"]
        ways = [case["torch"].get(way, {}) for way in ("naive", "efficient")]
        errors = [case["ours"]["errors"][result]["error"],
                  *(way.get("error") if direction == "forward" else way.get("errors", {}).get(result) for way in ways)]
        for line, error in zip(lines, errors):
            if error is not None:
                line.append((case[by], max(error / largest, SMALLEST_ERROR)))
    return [sorted(line) for line in lines]


def draw_errors(results: Results) -> str:
    """Four panels: O of lesson 09 and dQ of lesson 17, by length and by spread."""
    run = results["compare_torch_errors"]
    panels = [("O of lesson 09, data of spread 1", 9, "forward", "O", "N", "queries and keys"),
              ("O of lesson 09, 1024 queries and keys", 9, "forward", "O", "spread", "spread of Q, K and V"),
              ("dQ of lesson 17, causal, data of spread 1", 17, "backward", "dQ", "N", "queries and keys"),
              ("dQ of lesson 17, causal, 1024 queries and keys", 17, "backward", "dQ", "spread",
               "spread of Q, K and V")]

    def panel(title, lesson, direction, result, by, x_title):
        lines = error_points(run["errors"], lesson, direction, result, by)
        ticks = sorted({x for line in lines for x, _ in line})
        require_some("compare_torch_errors", ticks[1:], f"errors of lesson {lesson:02} by {by}")

        def make(top):
            plot = charts.Plot(top, title, ticks, [y for line in lines for _, y in line], x_title,
                               lambda value: f"{value:.0e}")
            plot.add_lines(lines)
            return plot
        return make

    return charts.line_figure("Largest error against float64", "As a share of the largest element of the result",
                              "Error of lessons 09 and 17 and of PyTorch against float64, by length and by magnitude "
                              "of the data",
                              [(0, "the lesson's kernel"), (1, "PyTorch, three operations"),
                               (2, "PyTorch, memory-efficient")],
                              [panel(*words) for words in panels], results.where("compare_torch_errors"))


def roofline_points(run: dict) -> list:
    """For each lesson and kernel its highest rate: (lesson, name, operations a byte, TFLOP/s)."""
    best = {}
    for lesson in run["lessons"]:
        for row in lesson["measurements"]:
            point = (row["operations"] / row["bytes"], row["teraflops"])
            key = (lesson["number"], row["series"])
            if row["operations"] > 0 and (key not in best or point[1] > best[key][1]):
                best[key] = point
    return [(*key, *point) for key, point in sorted(best.items())]


def draw_roofline(results: Results) -> str:
    run = results["bench"]
    points = require_some("bench", roofline_points(run), "measurement")
    ceilings = run["ceilings"] or {}
    copy, product = ceilings.get("device_copy_gigabytes_per_second"), ceilings.get("float32_matmul_teraflops")
    if not copy or not product:
        raise Missing("bench has no ceilings: cuBLAS has to be there when `./course bench` measures.")
    ridge = product * 1e3 / copy
    low = min(0.1, *(x for _, _, x, _ in points))
    high = max(10 * ridge, *(x for _, _, x, _ in points))
    ticks = [tick for tick in charts.decades(low, high)]
    per_lesson = {}
    for lesson, _, x, y in points:
        if lesson not in per_lesson or y > per_lesson[lesson][1]:
            per_lesson[lesson] = (x, y)

    def make(top):
        values = [product, *(y for _, y in per_lesson.values())]
        plot = charts.Plot(top, "TFLOP/s", ticks, values, "operations a byte that has to be moved",
                           lambda value: f"{value:g}", lambda value: f"{value:,g}")
        bottom = charts.decades(min(values), max(values))[0]
        start = max(ticks[0], bottom * 1e3 / copy)
        plot.add_ceiling([(start, start * copy * 1e-3), (ridge, product), (ticks[-1], product)],
                         f"{product:.1f} TFLOP/s, and {copy:,.0f} GB/s to the left", (ridge, product))
        labelled = [(x, y, f"{lesson:02}") for lesson, (x, y) in per_lesson.items()]
        if bound_by_bytes := [point for point in labelled if point[0] < ridge]:
            plot.add_points_beside(bound_by_bytes)
        if bound_by_operations := [point for point in labelled if point[0] >= ridge]:
            plot.add_points_over_labels(bound_by_operations, product / 20)
        return plot

    return charts.line_figure("What bounds the kernel of each lesson",
                              "The highest rate of each lesson, by its own formula of operations and bytes",
                              "Rates of the kernels of the lessons against operations a byte, below the bandwidth of a "
                              "copy and the rate of a matrix product", [], [make], results.where("bench"))


FIGURES = {"torch_ladder": draw_ladder, "torch_time": draw_time, "torch_memory": draw_memory,
           "torch_errors": draw_errors, "roofline": draw_roofline}


def main(words=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--gpu", default="h200", help="as the names of the results end")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs" / "results")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "figures")
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.figures if name not in FIGURES]
    if unknown:
        parser.error(f"there is no figure {unknown[0]}; there are {', '.join(FIGURES)}.")
    results, complete = Results(arguments.results, arguments.gpu), True
    for name in arguments.figures or FIGURES:
        try:
            text = FIGURES[name](results)
        except Missing as missing:
            print(f"{name}: {missing}", file=sys.stderr)
            complete = False
            continue
        arguments.out.mkdir(parents=True, exist_ok=True)
        file = arguments.out / f"{name}.svg"
        file.write_text(text, encoding="utf-8")
        print(f"wrote {shown(file)}")
    return 0 if complete else 1


if __name__ == "__main__":
    sys.exit(main())
