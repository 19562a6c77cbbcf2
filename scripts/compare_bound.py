#!/usr/bin/env python3
"""Holds the lower bound that `./course profile` prints against the time that a GPU took: it must be below it.

    scripts/compare_bound.py [--gpu NAME] [--output FILE]     some two minutes, without a GPU
    scripts/compare_bound.py --show                           the table of the file, nothing simulated

The times are those of docs/results/bench_NAME.json, of 1024 queries and keys in each head, or 1024 x 1024 matrices. Heads
are alike, so the simulator runs one, and its cycles count once for each. On a GPU they are shared out to all
multiprocessors, at the clock that was read after the lesson.

Exit status: 0 every bound is below its time; 1 one is above, or a kernel did not run; 2 for wrong usage.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from options import Parser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
# lesson, solution, series of its benchmark, D, causal; D is 0 for a product of matrices
CASES = [(6, "06_block_matmul/block_matmul.cu", "matmul", 0, False), (21, "21_tensor_cores/tensor_cores.cu", "matmul_bfloat16", 0, False),
         *((9, "09_flash2_forward/flash2_forward.cu", "flash2_forward", D, False) for D in (64, 128)),
         *((19, "19_register_tiling/register_tiling.cu", "flash2_forward_fast" + "_causal" * causal, D, causal)
           for D in (64, 128) for causal in (False, True)),
         *((15, "15_flash2_backward/flash2_backward.cu", "flash2_backward", D, causal) for D in (64, 128) for causal in (False, True)),
         *((22, "22_tensor_core_attention/tensor_core_attention.cu", "attention_forward_bfloat16" + "_causal" * causal, D, causal)
           for D in (64, 128, 256) for causal in (False, True)),
         *((24, "24_tensor_core_backward/tensor_core_backward.cu", "attention_backward", D, causal)
           for D in (64, 128) for causal in (False, True))]  # fmt: skip
BOUND = re.compile(r"the (.+?) takes? longest: at least ([\d.,]+)([MG]?) cycles")


def measured(bench: dict, lesson: int, series: str, D: int, causal: bool) -> tuple[dict, float]:
    """The row of that case in the benchmark, and the clock in Hz."""
    found = next(one for one in bench["lessons"] if one["number"] == lesson)
    for row in found["measurements"]:
        shape = row["shape"]
        if row["series"] == series and 1024 in (shape.get("M"), shape.get("Nk")) and shape.get("D", 0) == D \
                and shape.get("causal", causal) == causal and shape.get("bfloat16", True) and not shape.get("dropout") \
                and not shape.get("transposed"):  # fmt: skip
            return row, 1e6 * found["clocks"]["after"]["sm_megahertz"]
    raise SystemExit(f"bench has no {series} with 1024 and D = {D}: ./course bench {lesson} --solution --backend gpu")


def bounds_of(lesson: int, solution: str, D: int, causal: bool) -> list[dict]:
    """Kernel, unit and cycles of each launch but those that fill arrays."""
    with tempfile.TemporaryDirectory() as folder:
        command = [ROOT / "course", "simulate", "--profile", "--seconds", "300", "-I", ROOT / "common", "-I", ROOT / "lessons", "-I", ROOT / "lessons" / solution.split("/")[0],
                   f"-DLESSON={lesson}", f"-DDIM={max(D, 1)}", f"-DCAUSAL={str(causal).lower()}",
                   ROOT / "scripts" / "profiling" / "one_head.cu", ROOT / "solutions" / solution]  # fmt: skip
        done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"lesson {lesson} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    launches = []
    for part in re.split(r"\n(?=[^\n]+<<<)", done.stderr + done.stdout):
        bound = BOUND.search(" ".join(part.split()))
        if bound and not part.startswith("fill_kernel"):
            launches.append({"kernel": part.split("<<<")[0].strip(), "unit": bound[1], "cycles": round(float(bound[2].replace(",", "")) * {"": 1, "M": 1e6, "G": 1e9}[bound[3]])})
    return launches


def compare(bench: dict) -> list[dict]:
    cases = []
    for lesson, solution, series, D, causal in CASES:
        row, clock = measured(bench, lesson, series, D, causal)
        heads = row["shape"].get("B", 1) * row["shape"].get("H", 1)
        launches = bounds_of(lesson, solution, D, causal)
        seconds = sum(one["cycles"] for one in launches) * heads / bench["multiprocessors"] / clock
        cases.append({"lesson": lesson, "series": series, "label": row["label"], "heads": heads, "launches": launches,
                      "bound_milliseconds": round(1e3 * seconds, 5), "milliseconds": row["milliseconds"]})
        print(line_of(cases[-1]), flush=True)
    return cases


def line_of(case: dict) -> str:
    units = "; ".join(dict.fromkeys(one["unit"] for one in case["launches"]))
    share = case["bound_milliseconds"] / case["milliseconds"]
    return f"{case['lesson']:02} {case['series']:36} {case['label']:34} {case['bound_milliseconds']:8.4f} {case['milliseconds']:8.4f} ms {share:5.0%}  {units}"


def main(words=None) -> int:
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gpu", default="h100", metavar="NAME", help="as the names of the results end (default h100)")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE", help="default docs/results/profile_bound_NAME.json")
    parser.add_argument("--show", action="store_true", help="prints the table of the file")
    arguments = parser.parse_args(words)
    results = ROOT / "docs" / "results"
    file = arguments.output or results / f"profile_bound_{arguments.gpu}.json"
    if arguments.show:
        if not file.exists():
            parser.error(f"there is no file {file}.")
        cases = json.loads(file.read_text(encoding="utf-8"))["cases"]
        print(*map(line_of, cases), sep="\n")
    else:
        bench = json.loads((results / f"bench_{arguments.gpu}.json").read_text(encoding="utf-8"))
        cases = compare(bench)
        file.write_text(json.dumps({"command": "scripts/compare_bound.py", "gpu": bench["gpu"], "cuda": bench["cuda"], "date": bench["date"],
                                    "multiprocessors": bench["multiprocessors"], "cases": cases}, indent=1) + "\n", encoding="utf-8")
    return 0 if all(case["launches"] and case["bound_milliseconds"] < case["milliseconds"] for case in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
