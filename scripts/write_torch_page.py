#!/usr/bin/env python3
"""Writes docs/pytorch.md, the page with the results of scripts/compare_torch.py. Its figures are drawn before that, by
scripts/plot_results.py.

Usage: scripts/write_torch_page.py [--check] [--gpu NAME] [--results FOLDER] [--page FILE.md] [--figures FOLDER]

Every number on the page comes from the results of one GPU. --check writes nothing. Exit status: 0; 1 with --check if
the page is not what the results give; 2 if a result or a figure is missing, and then which and how to make it.
"""

import argparse
import html
import os
import pathlib
import re
import sys
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import check_claims  # noqa: E402
from options import Parser  # noqa: E402
from torch_comparison import tables  # noqa: E402
from torch_comparison.results import ROOT, Missing, Results, cases_with, shown, timed  # noqa: E402

LENGTHS = (1024, 4096, 16384)  # that the tables show
WAYS = ("naive", "math", "efficient", "flex")
RUNS = ("compare_torch_forward", "compare_torch_backward", "compare_torch_errors")
FIGURES = ("torch_ladder", "torch_time", "torch_memory", "torch_errors")  # and the roofline, if its result is there

INTRODUCTION = """# Beside PyTorch

The worked solutions' attention kernels and PyTorch on the same tensors in the same process, in float32 without TF32.
"""
WAYS_OF_PYTORCH = """PyTorch has several ways to compute attention:

- "naive" is one operation after the other, each with all scores in memory: a product, the scale, a mask where there is
  one, a softmax, dropout where there is some, and a product.
- "math" is much the same inside `scaled_dot_product_attention`.
- "efficient" is that function's fused kernel for float32, which keeps scores on the chip. It refuses grouped heads:
  there K and V are repeated first, and that counts. It multiplies on tensor cores: three products of TF32 make one of
  float32 ([counted](results/torch_units_h100.json) by the profiler). So it is not bound by what float32 units can do;
  the lessons and "naive" are.
- "flex" is `flex_attention`, which compiles a kernel for a mask, and is timed for windows.
"""
TWINS = """"Triton twin" is the lesson's kernel in Triton, of `scripts/triton_twins`, and its time is divided likewise.
"""
PROVENANCE = """What is measured and how is in [Your own GPU](gpu.md#beside-pytorch). `scripts/write_torch_page.py` writes this page
from the files in `docs/results`.
"""
FLOOR = """"Floor" is the share of the least time that the device allows: the operations at the rate of cuBLAS in
float32, or the bytes at that of a copy, whichever takes longer; both rates are of the same run. The columns of PyTorch
are its time divided by the kernel's: above 1 the kernel is faster. Nothing stands where a way refuses the case, has no
memory for it or was not tried; the results say why.
"""
CLAIMS = """Notes on FlashAttention claim the following of a kernel beside naive PyTorch, and name neither a GPU nor a shape nor a
type of numbers. Here is where it holds in float32. Factors are PyTorch's number divided by the kernel's; memory is that
beside the inputs.
"""


def figure(file: pathlib.Path, page: pathlib.Path) -> str:
    """The line that shows a figure, with its title as alternative text."""
    if not file.is_file():
        raise Missing(f"there is no {shown(file)}; run scripts/plot_results.py {file.stem}")
    title = re.search(r'<title id="title">(.*?)</title>', file.read_text(encoding="utf-8"), re.DOTALL).group(1)
    source = pathlib.Path(os.path.relpath(file.absolute(), page.absolute().parent)).as_posix()
    return f'<img src="{source}" width="664" alt="{title}.">\n'


def machine_table(results) -> str:
    rows = [[f"[{name}](results/{results.file(name).name})", run["gpu"], str(run["driver"]), str(run["cuda"]),
             run["torch"], run["date"]] for name, run in ((name, results[name]) for name in RUNS)]
    return check_claims.markdown(["result", "GPU", "driver", "CUDA", "PyTorch", "date"], rows)


def ceilings_sentence(run: dict) -> str:
    ceilings = run["ceilings"]
    return (f"In the run of the forward passes a copy moved {ceilings['copy_gigabytes_per_second']:,.0f} GB/s, and "
            f"cuBLAS did {ceilings['matmul_teraflops']:.1f} TFLOP/s.\n")


def case_row(found: dict, ceilings: dict, twins: bool) -> list[str]:
    """Cells of one case that was timed; `twins`: one more for the lesson's twin in Triton."""
    own = found["ours"]["milliseconds"]
    share = tables.floor_milliseconds(found, ceilings)[0] / own
    ways = [tables.milliseconds(tables.way_of(found, way)) for way in WAYS]
    ways += [tables.milliseconds(found.get("triton", {}))] if twins else []
    grouped = "" if found["H"] == found["H_kv"] else f", {found['H']}:{found['H_kv']} heads"
    dropout = f", dropout {found['dropout']:g}" if found["dropout"] else ""
    rate = tables.three_digits(found["operations"] / own * 1e-9)
    return [f"{found['lesson']:02}", tables.case_of(found).mask() + grouped + dropout, f"{found['D']}",
            f"{found['N']:,}", f"{tables.three_digits(own)}\u00a0ms", rate,
            f"{100 * share:.0f}\u00a0%", *(check_claims.factor(way / own) if way else "" for way in ways)]


def times_table(run: dict, direction: str) -> str:
    found = [case for case in timed(cases_with(run["cases"], direction=direction))
             if case["N"] in LENGTHS]
    found.sort(key=lambda case: (case["lesson"], not case["causal"], case["window"] or 0, case["D"], case["N"]))
    twins = any(tables.milliseconds(case.get("triton", {})) for case in found)
    head = ["lesson", "mask", "D", "N", "time", "TFLOP/s", "floor", *WAYS, *(["Triton twin"] if twins else [])]
    return check_claims.markdown(head, [case_row(case, run["ceilings"], twins) for case in found])


def layouts_sentence(run: dict) -> str:
    """What the other order of axes costs, over all pairs of cases that differ in nothing else."""
    def key(case):
        return tuple(case[name] for name in ("lesson", "direction", "N", "D", "causal", "window", "sinks", "H_kv"))

    found = timed(run["cases"])
    usual = {key(case): case["ours"]["milliseconds"] for case in found if case["layout"] == "bhnd"}
    factors = [case["ours"]["milliseconds"] / usual[key(case)] for case in found
               if case["layout"] == "bnhd" and key(case) in usual]
    if not factors:
        return ""
    return (f"With [batch, seq, head, dim] in place of [batch, head, seq, dim] the kernels take {min(factors):.2f} to\n"
            f"{max(factors):.2f} times as long, in {len(factors)} cases.\n")


def factor_of(run: dict, way: str, **wanted) -> str:
    """PyTorch's time in one way divided by the kernel's, in the one case that has these members; "" if there is none."""
    found = timed(cases_with(run["cases"], dropout=0.0, sinks=0, **wanted))
    own = found[0]["ours"]["milliseconds"] if len(found) == 1 else 0
    other = tables.milliseconds(tables.way_of(found[0], way)) if own else None
    return check_claims.factor(other / own) if other else ""


def findings(forward: dict, backward: dict) -> str:
    """What was found, in a sentence for each of: no mask, a window, the backward pass."""
    plain = {"direction": "forward", "lesson": 9, "causal": False, "window": None, "N": 4096}
    window = {"direction": "forward", "lesson": 12, "window": 1024, "N": 16384, "D": 64}
    back = {"direction": "backward", "lesson": 15, "causal": True, "window": None, "N": 4096, "D": 64}
    said = [
        ("Without a mask, at N = 4096, PyTorch's fused kernel takes {} times as long as lesson 09 with D = 64, and {} times "
         "with D = 128.", [factor_of(forward, "efficient", D=D, **plain) for D in (64, 128)]),
        ("With a window of 1024 at N = 16,384, where lesson 12 skips tiles, naive PyTorch takes {} times as long "
         "as it does, and the fused kernel {} times.", [factor_of(forward, way, **window) for way in ("naive", "efficient")]),
        ("Backward, causal, at N = 4096 and D = 64, naive autograd takes {} times as long as lesson 15, and the fused kernel {} "
         "times.", [factor_of(backward, way, **back) for way in ("naive", "efficient")]),
    ]
    return textwrap.fill(" ".join(words.format(*numbers) for words, numbers in said if all(numbers)), 120) + "\n"


def problems(results) -> str:
    """What is not in the tables: kernels that were wrong or failed, and cases that no time was left for."""
    lines = []
    for name in RUNS:
        run = results[name]
        for found in run.get("cases", run.get("errors", [])):
            if "failed" in found["ours"]:
                lines.append(f"- {tables.case_of(found).label()}: {html.escape(found['ours']['failed'])}")
        if run["left_out"]:
            lines.append(f"- Left out of [{name}](results/{name}_{results.gpu}.json), which names them, for want of time: "
                         f"{len(run['left_out'])} of its cases. `--resume` goes on with them.")
    return "\n".join(lines) + "\n" if lines else "Nothing: every kernel was right on every case, and all were timed.\n"


def write_page(results, figures: dict) -> str:
    """The page; `figures`: by name, the lines that show them."""
    forward, backward = results[RUNS[0]], results[RUNS[1]]
    claims = check_claims.report([forward]).split("\n\n", 1)[1]
    parts = [
        INTRODUCTION, "## What was found\n", findings(forward, backward), figures["torch_ladder"], WAYS_OF_PYTORCH,
        "## Forward\n", FLOOR, TWINS if any("triton" in case for case in forward["cases"]) else "", times_table(forward, "forward") + "\n", layouts_sentence(forward),
        figures["torch_time"], figures["torch_memory"],
        "## Forward and backward\n",
        "Lessons 15 to 18. A backward pass is the time of its kernels alone; PyTorch's is autograd's.\n",
        times_table(backward, "forward") + "\n", times_table(backward, "backward") + "\n",
        "## Errors\n", figures["torch_errors"],
        "## Claims of notes\n",
        CLAIMS,
        claims, "## Not in the tables\n", problems(results),
        "## How it was measured\n", PROVENANCE, machine_table(results) + "\n", ceilings_sentence(forward),
    ]  # fmt: skip
    if "roofline" in figures:
        parts[5:5] = ["## What bounds each kernel\n", figures["roofline"]]
    return "\n".join(part for part in parts if part)


def main(words=None) -> int:
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--gpu", default="h100", help="as the names of the results end")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs" / "results")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs" / "pytorch.md")
    parser.add_argument("--figures", type=pathlib.Path, default=ROOT / "docs" / "figures")
    arguments = parser.parse_args(words)
    results = Results(arguments.results, arguments.gpu)
    names = [*FIGURES, *(["roofline"] if results.file("bench").exists() else [])]
    page = arguments.page
    try:
        figures = {name: figure(arguments.figures / f"{name}.svg", page) for name in names}
        text = write_page(results, figures)
    except (Missing, check_claims.ClaimError) as missing:
        print(f"write_torch_page.py: {missing}", file=sys.stderr)
        return 2
    if page.is_file() and page.read_text(encoding="utf-8") == text:
        return 0
    if arguments.check:
        print(f"{shown(page)} is out of date; run scripts/write_torch_page.py")
        return 1
    page.write_text(text, encoding="utf-8")
    print(f"wrote {shown(page)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
