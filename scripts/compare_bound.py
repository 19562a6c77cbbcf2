#!/usr/bin/env python3
"""Holds the lower bound that `./course profile` prints against the time that a GPU took: it must be below it.

    scripts/compare_bound.py [--gpu NAME] [--output FILE]     some two minutes, without a GPU
    scripts/compare_bound.py --show                           the table of the file, nothing simulated

The times are those of docs/results/bench_NAME.json, of 1024 queries and keys in each head, or 1024 x 1024 matrices.
Heads are alike, so the simulator runs one, and its cycles count once for each. On a GPU they are shared out to all
multiprocessors, at the clock that was read after the lesson.

Exit status: 0 every bound is below its time; 1 one is above, or a kernel did not run; 2 for wrong usage.
"""

import argparse
import dataclasses
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from options import Parser  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
BOUND = re.compile(r"Of these units, the ([\w -]+?) takes? longest: at least ([\d.,]+)([MG]?) cycles")
TIMES = {"": 1, "M": 1e6, "G": 1e9}


class Failure(Exception):
    """A case that could not be compared, in a sentence."""


@dataclasses.dataclass
class Case:
    solution: str  # without .cu
    series: str  # of its benchmark
    D: int = 0  # 0: a product of matrices
    causal: bool = False

    @property
    def lesson(self):
        return int(self.solution[:2])


def cases():
    yield Case("06_block_matmul", "matmul")
    yield Case("21_tensor_cores", "matmul_bfloat16")
    for D in (64, 128):
        yield Case("09_flash2_forward", "flash2_forward", D)
    for D in (64, 128, 256):
        for causal in (False, True):
            end = "_causal" * causal
            yield Case("22_tensor_core_attention", "attention_forward_bfloat16" + end, D, causal)
            if D < 256:
                yield Case("19_register_tiling", "flash2_forward_fast" + end, D, causal)
                yield Case("15_flash2_backward", "flash2_backward", D, causal)
                yield Case("24_tensor_core_backward", "attention_backward", D, causal)


def measured(bench, case):
    """The case's row in the benchmark, and the clock in Hz."""
    lesson = next(one for one in bench["lessons"] if one["number"] == case.lesson)
    for row in lesson["measurements"]:
        shape = row["shape"]
        is_it = row["series"] == case.series and 1024 in (shape.get("M"), shape.get("Nk"))
        is_it = is_it and shape.get("D", 0) == case.D and shape.get("causal", case.causal) == case.causal
        plain = shape.get("bfloat16", True) and not shape.get("dropout") and not shape.get("transposed")
        if is_it and plain:
            return row, 1e6 * lesson["clocks"]["after"]["sm_megahertz"]
    raise Failure(f"The benchmark has no {case.series} with 1024 and D = {case.D}: "
                  f"run ./course bench {case.lesson} --solution --backend gpu --json FILE.")  # fmt: skip


def bounds_of(case):
    """Kernel, unit and cycles of each launch but those that fill arrays."""
    folders = [ROOT / "common", ROOT / "lessons", ROOT / "lessons" / case.solution]
    command = [ROOT / "course", "simulate", "--profile", "--seconds", "300"]
    command += [word for folder in folders for word in ("-I", folder)]
    command += [f"-DLESSON={case.lesson}", f"-DDIM={max(case.D, 1)}", f"-DCAUSAL={str(case.causal).lower()}"]
    command += [ROOT / "scripts" / "profiling" / "one_head.cu"]
    command += [ROOT / "solutions" / case.solution / (case.solution[3:] + ".cu")]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(list(map(str, command)), cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failure(f"Lesson {case.lesson} did not run:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    launches = []
    for part in re.split(r"\n(?=[^\n]+<<<)", done.stderr + done.stdout):
        bound = BOUND.search(" ".join(part.split()))
        if bound and not part.startswith("fill_kernel"):
            cycles = round(float(bound[2].replace(",", "")) * TIMES[bound[3]])
            launches.append({"kernel": part.split("<<<")[0].strip(), "unit": bound[1], "cycles": cycles})
    if not launches:
        raise Failure(f"The profile of lesson {case.lesson} has no bound.")
    return launches


def compare(bench, case):
    row, clock = measured(bench, case)
    heads = row["shape"].get("B", 1) * row["shape"].get("H", 1)
    launches = bounds_of(case)
    seconds = sum(one["cycles"] for one in launches) * heads / bench["multiprocessors"] / clock
    return {"lesson": case.lesson, "series": case.series, "label": row["label"], "heads": heads, "launches": launches,
            "bound_milliseconds": round(1e3 * seconds, 5), "milliseconds": row["milliseconds"]}  # fmt: skip


def line_of(case):
    units = "; ".join(dict.fromkeys(one["unit"] for one in case["launches"]))
    bound, time = case["bound_milliseconds"], case["milliseconds"]
    return f"{case['series']:33} {case['label']:33} {bound:7.4f} of {time:7.4f} ms {bound / time:4.0%}  {units}"


def main(words=None):
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    parser.add_argument("--gpu", default="h100", metavar="NAME", help="as the names of the results end (default h100)")
    parser.add_argument("--output", type=pathlib.Path, metavar="FILE",
                        help="default docs/results/profile_bound_NAME.json")  # fmt: skip
    parser.add_argument("--show", action="store_true", help="print the table of the file")
    arguments = parser.parse_args(words)
    file = arguments.output or RESULTS / f"profile_bound_{arguments.gpu}.json"
    times = RESULTS / f"bench_{arguments.gpu}.json"
    needed = file if arguments.show else times
    if not needed.exists():
        parser.error(f"There is no file {needed}.")
    if arguments.show:
        compared = json.loads(file.read_text(encoding="utf-8"))["cases"]
        print(*map(line_of, compared), sep="\n")
    else:
        bench = json.loads(times.read_text(encoding="utf-8"))
        compared = []
        for case in sorted(cases(), key=lambda case: case.lesson):
            compared.append(compare(bench, case))
            print(line_of(compared[-1]), flush=True)
        result = {"command": "scripts/compare_bound.py", "date": str(datetime.date.today()), "gpu": bench["gpu"],
                  "times": {"file": times.name, "date": bench["date"]}, "multiprocessors": bench["multiprocessors"],
                  "cases": compared}  # fmt: skip
        file.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    above = [case for case in compared if case["bound_milliseconds"] >= case["milliseconds"]]
    for case in above:
        print(f"{case['series']}, {case['label']}: the bound is above the time.")
    return 1 if above else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Failure as failure:
        print(f"compare_bound.py: {failure}", file=sys.stderr)
        sys.exit(1)
