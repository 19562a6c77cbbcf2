#!/usr/bin/env python3
"""Draws the figures of docs/results.md from the results of the benchmarks in docs/results.

    results_forward   time of the forward pass without a mask, lesson by lesson, beside PyTorch
    results_masks     what a causal mask, a window and sinks do to the time
    results_memory    memory of a forward and a backward pass, beside PyTorch with autograd

Usage: scripts/figure_results.py [FIGURE.svg ...]     (default: all three in docs/figures)

The name of a file says which figure it gets.
"""

import json
import pathlib
import sys

from charts import Chart, milliseconds, size

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
GPU = "h200"


def read(name):
    return json.loads((DOCS / "results" / f"{name}_{GPU}.json").read_text(encoding="utf-8"))


def only(rows, **wanted):
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(found) != 1:
        sys.exit(f"{len(found)} rows with {wanted} instead of 1")
    return found[0]


def where_of(*names):
    """The place and the dates of results, for the line below a picture."""
    runs = [read(name) for name in names]
    where = sorted({f'{run["gpu"]}, CUDA {run["cuda"]}' for run in runs})
    return f'{"; ".join(where)}, {" and ".join(sorted({run["date"] for run in runs}))}'


def draw_forward():
    N = 4096
    chart = Chart(f"Attention forward, N = {N}, no mask: time", "4 batches of 16 heads, float32 without TF32",
                  "Time of the forward pass in PyTorch and in lessons 07, 08 and 09")
    machine = read("09_flash2_forward")
    for D in (64, 128):
        bars = [
            ("PyTorch, three operations", only(read("09_naive_torch")["torch_naive_attention"], N=N, D=D), "other"),
            ("07 Naive attention", only(read("07_naive_attention")["naive_attention"], N=N, D=D), "course"),
            ("08 FlashAttention", only(read("08_flash1_forward")["flash1_forward"], Nq=N, D=D), "course"),
            ("09 FlashAttention-2", only(machine["flash2_forward"], Nq=N, D=D), "course"),
        ]
        highest = 45  # milliseconds: both groups have one scale
        chart.heading(f"D = {D}")
        for label, row, kind in bars:
            chart.bar(label, row["milliseconds"], highest, milliseconds(row["milliseconds"]), kind)
    return chart.svg(where_of("09_naive_torch", "07_naive_attention", "08_flash1_forward", "09_flash2_forward"))


def draw_masks():
    N, D = 16384, 64
    chart = Chart(f"Attention forward, N = {N}, D = {D}: time with masks",
                  "4 batches of 16 heads; keys that no query of a tile sees are never loaded",
                  "Time of the forward pass with all keys, a causal mask, windows and sinks")
    machine = read("09_flash2_forward")
    everything = only(machine["flash2_forward"], Nq=N, D=D)["milliseconds"]
    windows, sinks = read("12_sliding_window")["sliding_window_attention"], read("13_attention_sinks")
    bars = [("09 all keys", everything),
            ("10 causal", only(read("10_causal")["causal_attention"], Nq=N, D=D)["milliseconds"])]
    bars += [(f"12 the last {window:,} keys", only(windows, Nq=N, D=D, window=window)["milliseconds"])
             for window in (4096, 1024, 256)]
    bars.append(("13 the same, and 4 sinks",
                 only(sinks["attention_with_sinks"], D=D, sinks=4, learned=False, window=256)["milliseconds"]))
    for label, value in bars:
        chart.bar(label, value, everything, milliseconds(value))
    return chart.svg(where_of("09_flash2_forward", "10_causal", "12_sliding_window", "13_attention_sinks"))


def draw_memory():
    N, plain = 4096, {"causal": True, "window": None, "sinks": 0, "learned": False, "H_kv": 16}
    chart = Chart(f"Forward and backward, N = {N}, causal: memory beside Q, K, V and dO",
                  "4 batches of 16 heads, float32", "Memory of forward and backward pass in PyTorch and in lesson 17")
    machine = read("17_full_backward")
    torch = read("17_full_backward_torch")["torch_naive_attention_with_autograd"]
    highest = max(row["extra_bytes"] for row in torch)
    for D in (64, 128):
        forward = only(machine["attention_forward"], Nq=N, D=D, **plain)["result_bytes"]
        backward = only(machine["attention_backward"], Nq=N, D=D, **plain)["result_bytes"]
        theirs = only(torch, N=N, D=D, causal=True)["extra_bytes"]
        chart.heading(f"D = {D}")
        square = 4 * machine["attention_forward"][0]["B"] * machine["attention_forward"][0]["H"] * N * N
        chart.bar("PyTorch with autograd", theirs, highest, size(theirs), "other",
                  f"{theirs / square:.1f} times an N × N tensor of all heads")
        chart.bar("17 Everything", forward + backward, highest, size(forward + backward), "course",
                  "O, lse, delta, dQ, dK, dV")
    return chart.svg(where_of("17_full_backward", "17_full_backward_torch"))


FIGURES = {"results_forward": draw_forward, "results_masks": draw_masks, "results_memory": draw_memory}


def main():
    for figure in [pathlib.Path(argument) for argument in sys.argv[1:]] or [DOCS / "figures" / f"{name}.svg"
                                                                            for name in FIGURES]:
        if figure.stem not in FIGURES:
            sys.exit(__doc__)
        figure.write_text(FIGURES[figure.stem](), encoding="utf-8")
        print(f"wrote {figure}")


if __name__ == "__main__":
    main()
