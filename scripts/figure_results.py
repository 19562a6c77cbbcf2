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

DOCS = pathlib.Path(__file__).resolve().parent.parent / "docs"
GPU = "h200"

WIDTH, LEFT, BAR_LEFT, BAR_WIDTH, BAR = 664, 24, 214, 350, 18
STYLE = """
  .page { fill: #ffffff; }
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .course { fill: #0a58ca; }
  .other { fill: #818b98; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #b7bfc9; }
    .course { fill: #79b0ff; }
    .other { fill: #9198a1; }
  }
""".strip("\n")


def read(name):
    return json.loads((DOCS / "results" / f"{name}_{GPU}.json").read_text(encoding="utf-8"))


def only(rows, **wanted):
    found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
    if len(found) != 1:
        sys.exit(f"{len(found)} rows with {wanted} instead of 1")
    return found[0]


def milliseconds(value):
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} ms"


def size(count):
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


class Chart:
    """Groups of bars from top to bottom; each group has one scale of its own or shares that of the chart."""

    def __init__(self, title, subtitle, description):
        self.description = description
        self.body = [f'<text class="title" x="{LEFT}" y="28">{title}</text>',
                     f'<text class="small" x="{LEFT}" y="48">{subtitle}</text>']
        self.y = 62

    def heading(self, text):
        self.y += 18
        self.body.append(f'<text class="title" x="{LEFT}" y="{self.y}">{text}</text>')
        self.y += 10

    def bar(self, label, value, highest, shown, kind="course", why=""):
        """A bar as long as its share of `highest`; its number behind it, a remark below."""
        self.body += [
            f'<text x="{LEFT}" y="{self.y + 14}">{label}</text>',
            f'<rect class="{kind}" x="{BAR_LEFT}" y="{self.y}" width="{max(value / highest * BAR_WIDTH, 1):.1f}" '
            f'height="{BAR}" rx="2"/>',
            f'<text x="{BAR_LEFT + value / highest * BAR_WIDTH + 8:.1f}" y="{self.y + 14}">{shown}</text>',
        ]
        self.y += 28
        if why:
            self.body.append(f'<text class="small" x="{BAR_LEFT}" y="{self.y + 4}">{why}</text>')
            self.y += 18

    def svg(self, *names):
        """The picture, with the place and the dates of the results that it shows."""
        runs = [read(name) for name in names]
        where = sorted({f'{run["gpu"]}, CUDA {run["cuda"]}' for run in runs})
        dates = " and ".join(sorted({run["date"] for run in runs}))
        height = self.y + 40
        self.body.append(f'<text class="small" x="{LEFT}" y="{height - 16}">{"; ".join(where)}, {dates}</text>')
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
            'role="img" aria-labelledby="title">',
            f'<title id="title">{self.description}</title>',
            f"<style>\n{STYLE}\n</style>",
            '<rect class="page" width="100%" height="100%" rx="8"/>',
            *self.body,
            "</svg>\n",
        ])


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
    return chart.svg("09_naive_torch", "07_naive_attention", "08_flash1_forward", "09_flash2_forward")


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
    return chart.svg("09_flash2_forward", "10_causal", "12_sliding_window", "13_attention_sinks")


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
    return chart.svg("17_full_backward", "17_full_backward_torch")


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
