#!/usr/bin/env python3
"""Draws how the lessons' kernels do on a GPU: beside one another, beside PyTorch, and beside what the device can do.

    torch_ladder       each lesson's attention kernel at 4096 tokens: time, and share of the floor
    torch_types        from naive PyTorch to its fastest kernels, in float32 and in bfloat16
    torch_time         time of the forward pass against length
    torch_memory       memory of the forward pass against length
    torch_errors       error against float64 by length and by magnitude of the data
    roofline           operations a byte against the rate that was reached
    results_forward    time of the forward pass without a mask, lesson by lesson, beside PyTorch
    results_masks      what a causal mask, a window and sinks do to the time
    results_memory     memory of a forward and a backward pass, beside PyTorch with autograd

Usage: scripts/plot_results.py [--check] [--gpu NAME] [--results FOLDER] [--out FOLDER] [FIGURE ...]     (default: all)

The first five read what scripts/compare_torch.py writes, FOLDER/compare_torch_forward_NAME.json and its neighbours, and
roofline what `./course bench` writes; the others are for docs/results.md, and read what the lessons' own benchmarks
write. Needs matplotlib. --check writes nothing. Exit status: 0; 1 if matplotlib or a result is missing, and then how to
get it, or with --check if a figure is not what the results give; 2 wrong usage.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import plots  # noqa: E402
from options import Parser  # noqa: E402
from torch_comparison import tables  # noqa: E402
from torch_comparison.results import ROOT, Missing, Results, cases_with, require_some, shown, timed  # noqa: E402

TITLES = {7: "Naive attention", 8: "FlashAttention", 9: "FlashAttention-2", 10: "Causal", 11: "Causal, grouped heads",
          12: "Window of 1024", 13: "Window, 4 sinks", 15: "All keys", 16: "Causal, grouped heads", 17: "Causal",
          18: "Causal, dropout"}  # fmt: skip
LADDER_N = 4096
DIMS = (64, 128)
SMALLEST_ERROR = 1e-12  # an error of 0 has no logarithm


def milliseconds(value: float) -> str:
    return f"{tables.three_digits(value)} ms"


def draw_ladder(results: Results) -> plots.Figure:
    """A bar for each lesson: the share of its floor."""
    groups = []
    for name, direction in (("compare_torch_forward", "forward"), ("compare_torch_backward", "backward")):
        run = results[name]
        for D in DIMS:
            rows = {}
            for case in timed(cases_with(run["cases"], N=LADDER_N, D=D, direction=direction)):
                rows.setdefault(case["lesson"], case)
            require_some(name, list(rows), f"time with N = {LADDER_N} and D = {D}")
            bars = []
            for lesson, case in sorted(rows.items()):
                own = case["ours"]["milliseconds"]
                share = tables.floor_milliseconds(case, run["ceilings"])[0] / own
                bars.append(plots.Bar(f"{lesson:02} {TITLES[lesson]}", share,
                                      f"{100 * share:.0f} %, {milliseconds(own)}"))
            groups.append((f"{direction}, D = {D}", bars))
    return plots.bar_figure(f"Attention, N = {LADDER_N}: share of the floor, and time",
                            "A whole bar is the floor: operations at the rate of cuBLAS in float32, or bytes at that of a "
                            "copy", results.where("compare_torch_forward", "compare_torch_backward"), groups, whole=1.0)


# The rungs at 4096 tokens without a mask: name, and lesson or PyTorch's way.
TYPES = {
    "float32": ("19_register_tiling_torch", [("PyTorch, naive", "naive"), ("09 FlashAttention-2", 9),
                                             ("19 Register tiling", 19), ("PyTorch, memory-efficient", "efficient")]),
    "bfloat16": ("compare_torch_16bit", [("PyTorch, naive", "naive"), ("22 Tensor cores", 22),
                                         ("PyTorch, FlashAttention-2", "flash"), ("PyTorch, cuDNN", "cudnn")]),
}  # fmt: skip


def draw_types(results: Results) -> plots.Figure:
    """A bar for each way: the share of cuBLAS's rate in the same type."""
    groups = []
    for dtype, (name, rungs) in TYPES.items():
        run = results[name]
        peak = run["ceilings"]["matmul_teraflops" if dtype == "float32" else "matmul_bfloat16_teraflops"]
        for D in DIMS:
            found = [case for case in timed(cases_with(run["cases"], N=LADDER_N, D=D, causal=False))
                     if case.get("dtype", "float32") == dtype and case["direction"] == "forward"]
            found = {case["lesson"]: case for case in reversed(found)}
            bars = []
            for label, way in rungs:
                lesson = way if isinstance(way, int) else next(rung for _, rung in rungs if isinstance(rung, int))
                require_some(name, [case for case in (found.get(lesson),) if case], f"time of lesson {lesson:02} with D = {D}")
                way = found[lesson]["ours"] if isinstance(way, int) else found[lesson]["torch"].get(way, {})
                if time := tables.milliseconds(way):
                    rate = found[lesson]["operations"] / time * 1e-9
                    bars.append(plots.Bar(label, rate / peak, f"{rate:.0f} TFLOP/s", "blue" if way is found[lesson]["ours"] else "grey"))
            groups.append((f"{dtype}, D = {D}: cuBLAS does {peak:.0f} TFLOP/s", bars))
    return plots.bar_figure(f"Attention in float32 and in bfloat16, N = {LADDER_N}",
                            "A whole bar is the rate of a matrix product by cuBLAS in the same type; blue are lessons",
                            results.where(*(name for name, _ in TYPES.values())), groups, whole=1.0)


# Lines of the forward pass without a mask: name, lesson, and which of PyTorch's ways; None: the lesson's kernel.
FORWARD_LINES = [("09 FlashAttention-2", 9, None), ("PyTorch, naive", 9, "naive"),
                 ("PyTorch, memory-efficient", 9, "efficient"), ("07 Naive attention", 7, None),
                 ("08 FlashAttention", 8, None)]  # fmt: skip
LINE_COLOURS = ("blue", "red", "brown", "teal", "violet")  # lines that lie in one place differ most
LABELS = 200  # what the names of lines take at the right


def points_of(found: list, lesson: int, way: str | None, D: int, member: str, scale) -> list:
    """Pairs of length and number, in order."""
    points = []
    for case in cases_with(found, lesson=lesson, D=D, causal=False, direction="forward", window=None):
        source = case["ours"] if way is None else case["torch"].get(way, {})
        if source.get("milliseconds") is not None and source.get(member):
            points.append((case["N"], source[member] * scale(case)))
    return sorted(points)


def draw_lengths(results: Results, title: str, subtitle: str, member: str, tick, scale=lambda case: 1) -> plots.Figure:
    """Two panels, for D = 64 and 128, of lines against length."""
    run = results["compare_torch_forward"]
    lines = {D: {name: points_of(run["cases"], lesson, way, D, member, scale) for name, lesson, way in FORWARD_LINES}
             for D in DIMS}
    points = [point for D in DIMS for line in lines[D].values() for point in line]
    lengths = sorted({x for x, _ in points})
    require_some("compare_torch_forward", lengths[1:], "times of lesson 09 at two lengths or more")
    values = [y for _, y in points]
    figure, rows = plots.panels(title, subtitle, results.where("compare_torch_forward"), [216] * len(DIMS), gap=84,
                                below=84, right=LABELS)
    for (axes,), D in zip(rows, DIMS):
        plots.head(axes, f"D = {D}")
        plots.logarithmic(axes, lengths, plots.decades(min(values), max(values)), y_tick=tick)
        plots.draw_lines(axes, lines[D], LINE_COLOURS)
        plots.label_lines(axes)
        axes.set_xlabel("queries and keys of a sequence")
    return figure


def draw_time(results: Results) -> plots.Figure:
    return draw_lengths(results, "Attention forward, all keys: time against length",
                        "16,384 tokens in all, 2048 numbers a token over all heads, float32 without TF32",
                        "milliseconds", lambda value: f"{value:,g} ms")


def size(count: float, digits="{:.0f}".format) -> str:
    for unit, name in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= unit:
            return f"{digits(count / unit)} {name}"
    return f"{count:.0f} B"


def draw_memory(results: Results) -> plots.Figure:
    return draw_lengths(results, "Attention forward, all keys: memory of one sequence against length",
                        "Beside Q, K and V. Stored scores grow with the square of the length", "extra_bytes", size,
                        scale=lambda case: 1 / case["B"])


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


def draw_errors(results: Results) -> plots.Figure:
    """Two rows, O of lesson 09 and dQ of lesson 17, by length at the left and by spread at the right."""
    run = results["compare_torch_errors"]
    rows_of = [("O of lesson 09", 9, "forward", "O"), ("dQ of lesson 17, causal", 17, "backward", "dQ")]
    columns_of = [("N", "queries and keys, spread 1"), ("spread", "spread of Q, K, V; 1024 keys")]
    names = ("the lesson's kernel", "PyTorch, naive", "PyTorch, memory-efficient")
    figure, rows = plots.panels("Largest error against float64", "As a share of the largest element of the result",
                                results.where("compare_torch_errors"), [216] * len(rows_of), gap=60, below=84, left=64,
                                right=LABELS, ncols=len(columns_of), sharex="col", sharey="col", wspace=0.32)
    for column, (by, x_title) in enumerate(columns_of):
        lines = [error_points(run["errors"], lesson, direction, result, by) for _, lesson, direction, result in rows_of]
        for (_, lesson, _, _), found in zip(rows_of, lines):
            require_some("compare_torch_errors", sorted({x for line in found for x, _ in line})[1:],
                         f"errors of lesson {lesson:02} by {by}")
        points = [point for found in lines for line in found for point in line]
        values = [y for _, y in points]
        for row, found in enumerate(lines):
            axes = rows[row][column]
            plots.logarithmic(axes, sorted({x for x, _ in points}), plots.decades(min(values), max(values)),
                              y_tick=plots.power_of_ten)
            plots.draw_lines(axes, dict(zip(names, found)), LINE_COLOURS)
        axes.set_xlabel(x_title)
    for (first, *_, last), (title, *_) in zip(rows, rows_of):
        plots.head(first, title)
        plots.label_lines(last)
    return figure


def roofline_points(run: dict) -> list:
    """For each lesson, unit and kernel its highest rate: (lesson, unit, name, operations a byte, TFLOP/s)."""
    best = {}
    for lesson in run["lessons"]:
        for row in lesson["measurements"]:
            point = (row["operations"] / row["bytes"], row["teraflops"])
            key = (lesson["number"], row.get("unit", "float32"), row["series"])
            if row["operations"] > 0 and (key not in best or point[1] > best[key][1]):
                best[key] = point
    return [(*key, *point) for key, point in sorted(best.items())]


def draw_points(axes, points: dict, ridges: dict):
    """Dots with the numbers of their lessons, by (lesson, unit): beside those that bytes bound, and in a row below
    those that operations bound."""
    grey = plots.LIGHT["grey"]
    places = {key: axes.transData.transform(point) for key, point in points.items()}
    for unit, colour in COLOURS.items():
        mine = sorted((key for key in points if key[1] == unit), key=points.get)
        if not mine:
            continue
        axes.plot(*zip(*map(points.get, mine)), "o", color=plots.LIGHT[colour], markersize=8, clip_on=False)
        by_bytes = [key for key in mine if points[key][0] < ridges[unit]]
        by_operations = [key for key in mine if key not in by_bytes]
        heights = plots.spread([places[key][1] for key in by_bytes], plots.LABEL_GAP, low=axes.bbox.y0)
        for key, height in zip(by_bytes, heights):
            plots.point_at(axes, f"{key[0]:02}", points[key], (places[key][0] + 28, height), grey, (0, 0.5), va="center")
        if by_operations:
            down = max(min(places[key][1] for key in by_operations) - 36, axes.bbox.y0 + 18)
            acrosses = plots.spread([places[key][0] for key in by_operations], 20, high=axes.bbox.x1 - 8)
            for key, across in zip(by_operations, acrosses):
                plots.point_at(axes, f"{key[0]:02}", points[key], (across, down), grey, (0.5, 1), ha="center", va="top")


COLOURS = {"float32": "blue", "tensor cores": "red"}  # of the units that do a kernel's operations


def draw_roofline(results: Results) -> plots.Figure:
    run = results["bench"]
    measured = require_some("bench", roofline_points(run), "measurement")
    ceilings = run["ceilings"] or {}
    copy = ceilings.get("device_copy_gigabytes_per_second")
    products = {unit: ceilings.get(name) for unit, name in
                (("float32", "float32_matmul_teraflops"), ("tensor cores", "bfloat16_matmul_teraflops"))}
    products = {unit: product for unit, product in products.items() if product}
    if not copy or "float32" not in products:
        raise Missing("bench has no ceilings: cuBLAS has to be there when `./course bench` measures.")
    ridges = {unit: product * 1e3 / copy for unit, product in products.items()}
    points = {}
    for lesson, unit, _, x, y in measured:
        if unit in products and ((lesson, unit) not in points or y > points[lesson, unit][1]):
            points[lesson, unit] = (x, y)
    rates = [*products.values(), *(y for _, y in points.values())]
    rates = plots.decades(min(rates), max(rates))
    ticks = plots.decades(min(0.1, *(x for x, _ in points.values())),
                          max(10 * max(ridges.values()), *(x for x, _ in points.values())))

    figure, ((axes,),) = plots.panels("What bounds the kernel of each lesson",
                                      "The highest rate of each lesson, by its own formula of operations and bytes",
                                      results.where("bench"), [290], below=84)
    plots.head(axes, "TFLOP/s")
    plots.logarithmic(axes, ticks, rates, x_tick="{:,g}".format)
    axes.set_xlabel("operations a byte that has to be moved")
    start = max(ticks[0], rates[0] * 1e3 / copy)
    for unit, product in products.items():
        axes.plot([start, ridges[unit], ticks[-1]], [start * copy * 1e-3, product, product], "--",
                  color=plots.LIGHT["grey"])
        axes.annotate(f"{unit}, {product:.3g} TFLOP/s", (ridges[unit], product), (4, 5), textcoords="offset points")
    middle = (start * ridges["float32"]) ** 0.5
    axes.annotate(f"{copy:,.0f} GB/s", (middle, middle * copy * 1e-3), (-10, 6), textcoords="offset points", ha="right")
    draw_points(axes, points, ridges)
    return figure


def only(rows: list, **wanted) -> dict:
    """The one row that has these members."""
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(found) != 1:
        raise Missing(f"{len(found)} rows with {wanted} instead of 1")
    return found[0]


def draw_forward(results: Results) -> plots.Figure:
    N, groups = 4096, []
    for D in DIMS:
        rows = [
            ("PyTorch, naive", only(results["09_naive_torch"]["torch_naive_attention"], N=N, D=D), "grey"),
            ("07 Naive attention", only(results["07_naive_attention"]["naive_attention"], N=N, D=D), "blue"),
            ("08 FlashAttention", only(results["08_flash1_forward"]["flash1_forward"], Nq=N, D=D), "blue"),
            ("09 FlashAttention-2", only(results["09_flash2_forward"]["flash2_forward"], Nq=N, D=D), "blue"),
        ]
        groups.append((f"D = {D}", [plots.Bar(label, row["milliseconds"], milliseconds(row["milliseconds"]), colour)
                                    for label, row, colour in rows]))
    where = results.where("09_naive_torch", "07_naive_attention", "08_flash1_forward", "09_flash2_forward")
    return plots.bar_figure(f"Attention forward, N = {N}, no mask: time", "4 batches of 16 heads, float32 without TF32",
                            where, groups)


def draw_masks(results: Results) -> plots.Figure:
    N, D = 16384, 64
    windows, sinks = results["12_sliding_window"]["sliding_window_attention"], results["13_attention_sinks"]
    rows = [("09 all keys", only(results["09_flash2_forward"]["flash2_forward"], Nq=N, D=D)),
            ("10 causal", only(results["10_causal"]["causal_attention"], Nq=N, D=D)),
            *((f"12 the last {keys:,} keys", only(windows, Nq=N, D=D, window=keys)) for keys in (4096, 1024, 256)),
            ("13 the same, and 4 sinks",
             only(sinks["attention_with_sinks"], D=D, sinks=4, learned=False, window=256))]
    bars = [plots.Bar(label, row["milliseconds"], milliseconds(row["milliseconds"])) for label, row in rows]
    where = results.where("09_flash2_forward", "10_causal", "12_sliding_window", "13_attention_sinks")
    return plots.bar_figure(f"Attention forward, N = {N}, D = {D}: time with masks",
                            "4 batches of 16 heads; keys that no query of a tile sees are never loaded", where,
                            [("", bars)])


def draw_backward_memory(results: Results) -> plots.Figure:
    N, plain = 4096, {"causal": True, "window": None, "sinks": 0, "learned": False, "H_kv": 16}
    ours = results["17_full_backward"]
    torch = results["17_full_backward_torch"]["torch_naive_attention_with_autograd"]
    square = 4 * ours["attention_forward"][0]["B"] * ours["attention_forward"][0]["H"] * N * N
    groups = []
    for D in DIMS:
        own = sum(only(ours[name], Nq=N, D=D, **plain)["result_bytes"] for name in ("attention_forward",
                                                                                    "attention_backward"))
        theirs = only(torch, N=N, D=D, causal=True)["extra_bytes"]
        groups.append((f"D = {D}", [
            plots.Bar("PyTorch with autograd", theirs, size(theirs, tables.three_digits), "grey",
                      f"{theirs / square:.1f} times an N × N tensor of all heads"),
            plots.Bar("17 Everything", own, size(own, tables.three_digits), remark="O, lse, delta, dQ, dK, dV"),
        ]))
    return plots.bar_figure(f"Forward and backward, N = {N}, causal: memory beside Q, K, V and dO",
                            "4 batches of 16 heads, float32",
                            results.where("17_full_backward", "17_full_backward_torch"), groups)


# What draws each, and what a screen reader says of it.
FIGURES = {
    "torch_ladder": (draw_ladder, "What share of the least possible time the attention kernel of each lesson reaches"),
    "torch_types": (draw_types, "What share of the rate of a matrix product attention reaches in float32 and in bfloat16, "
                                "from naive PyTorch by way of the lessons to its fastest kernels"),
    "torch_time": (draw_time, "Time of the forward pass against length, for three lessons and two ways of PyTorch, "
                              "at D = 64 and D = 128"),
    "torch_memory": (draw_memory, "Memory of the forward pass of one sequence against length: with all scores stored "
                                  "it grows with the square of the length, else with the length"),
    "torch_errors": (draw_errors, "Error of lessons 09 and 17 and of PyTorch against float64, by length and by "
                                  "magnitude of the data"),
    "roofline": (draw_roofline, "Rates of the kernels of the lessons against operations a byte, below the bandwidth "
                                "of a copy and the rates of matrix products in float32 and on tensor cores"),
    "results_forward": (draw_forward, "Time of the forward pass in PyTorch and in lessons 07, 08 and 09"),
    "results_masks": (draw_masks, "Time of the forward pass with all keys, a causal mask, windows and sinks"),
    "results_memory": (draw_backward_memory, "Memory of forward and backward pass in PyTorch and in lesson 17"),
}  # fmt: skip


def gpu_of(name: str) -> str:
    """The GPU whose results a figure of the project shows."""
    return "h200" if name.startswith("results_") else "h100"


def main(words=None) -> int:
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--gpu", help="as the names of the results end: h100, of results_... h200")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs" / "results")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "docs" / "figures")
    arguments = parser.parse_args(words)
    unknown = [name for name in arguments.figures if name not in FIGURES]
    if unknown:
        parser.error(f"there is no figure {unknown[0]}; there are {', '.join(FIGURES)}.")
    well = True
    for name in arguments.figures or FIGURES:
        results = Results(arguments.results, arguments.gpu or gpu_of(name))
        draw, description = FIGURES[name]
        file = arguments.out / f"{name}.svg"
        try:
            figure = draw(results)
        except Missing as missing:
            print(f"{name}: {missing}", file=sys.stderr)
            well = False
            continue
        if not arguments.check:
            arguments.out.mkdir(parents=True, exist_ok=True)
            file.write_text(plots.svg(figure, description), encoding="utf-8")
            print(f"wrote {shown(file)}")
        elif not plots.is_drawn_in(file, figure, description):
            print(f"{shown(file)} is out of date; run scripts/plot_results.py {name}")
            well = False
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
