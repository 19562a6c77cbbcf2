#!/usr/bin/env python3
"""Measures everything on this machine's GPU that the pages quote, the most telling first, and goes on where it stopped.

    scripts/measure_all.py --plan                 what would run and about how long; needs no GPU
    scripts/measure_all.py                        measures for 25 minutes at most
    scripts/measure_all.py --minutes 9            ends by itself after 9; the same command again goes on
    scripts/measure_all.py --only triton,decode   these steps alone

Results go to FOLDER (--out, build/measured unless given), by the names that docs/results has for them: copy to there what is
worth keeping. FOLDER is all that another run needs to go on, also on another machine of the same kind. A step is complete
when all its cases are measured; one that failed is tried again by the next run. Estimates are sums of what the same cases took
in docs/results; where there are none, of similar ones.

Exit status: 0 everything is complete; 1 something is left, or failed, and the last lines say what; 2 wrong usage; 3 there
is no GPU.
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from options import Parser  # noqa: E402
from torch_comparison import cases, small_cases, tables  # noqa: E402
from torch_comparison.twins import has_twin  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
STARTING = 25  # seconds: the libraries of a few lessons, PyTorch and the ceilings
TWIN = 2  # seconds for a twin's runs, and now and then a kernel that Triton compiles
RESERVE = 30  # seconds that are left for the case that a step is at when its budget ends
LEAST = 45  # with less than so many seconds left, no step is begun


@dataclasses.dataclass(frozen=True)
class Step:
    """One command. {out} is the folder with results, {gpu} the GPU's short name, {seconds} what is left for it.

    file     its JSON, {gpu} likewise
    cases    what `file` must have for the step to be complete; None: it is when the command has ended well
    seconds  an estimate, where it does not follow from the cases
    """

    name: str
    command: str
    file: str = ""
    cases: list | None = None
    seconds: float = 0
    twins: bool = False

    def budgeted(self) -> bool:
        """Whether the command ends by itself in time, and goes on with its file."""
        return "{seconds}" in self.command

    def well(self) -> tuple:
        """The statuses with which it has ended well: 1 says that something was wrong, or that something is left."""
        return (0,) if self.budgeted() else (0, 1)



def compare(name: str, file: str, lessons: str, quick: bool = False, more: str = "", twins: bool = True) -> Step:
    words = f"--lessons {lessons}{' --quick' if quick else ''}{' --triton' if twins else ''}{more}"
    return Step(name, f"{{python}} scripts/compare_torch.py {words} --json {{out}}/{file} --time-budget {{seconds}}{{resume}}", file,
                cases.choose_cases(cases.read_lessons(lessons), quick), twins=twins)


def bench(lesson: int, name: str, seconds: float) -> Step:
    file = f"{lesson:02}_{name}_{{gpu}}.json"
    return Step(f"bench{lesson}", f"./course bench {lesson} --solution --backend gpu --json {{out}}/{file}", file, seconds=seconds)


ADDS = " --file tests/lessons/tradeoffs/24_tensor_core_backward/dq_by_adds.cu"
FAST = "19,20,21,22,23,24,29,30"
STEPS = [
    compare("16bit-quick", "compare_torch_16bit_{gpu}.json", "22,24", quick=True),
    compare("backward-quick", "compare_torch_backward_{gpu}.json", "15-18", quick=True),
    compare("forward-quick", "compare_torch_forward_{gpu}.json", "7-13", quick=True),
    compare("registers-quick", "19_register_tiling_torch_{gpu}.json", "9,10,19", quick=True),
    Step("triton", "{python} scripts/compare_triton.py --json {out}/compare_triton_{gpu}.json --time-budget {seconds}{resume}",
         "compare_triton_{gpu}.json", small_cases.CASES, twins=True),
    bench(30, "split_kv_decoding", 60),
    bench(21, "tensor_cores", 40),
    bench(23, "autotuning", 60),
    Step("twins", "{python} -B tests/docs/triton_test.py --gpu", seconds=45),
    compare("adds", "24_dq_by_adds_torch_{gpu}.json", "24", more=ADDS, twins=False),
    compare("16bit", "compare_torch_16bit_{gpu}.json", "22,24"),
    compare("backward", "compare_torch_backward_{gpu}.json", "15-18"),
    compare("forward", "compare_torch_forward_{gpu}.json", "7-13"),
    Step("check-fast", f"./course check {FAST.replace(',', ' ')} --solution --backend gpu --sanitize --json {{out}}/check_fast_{{gpu}}.json",
         seconds=240),
    Step("counters", "{python} scripts/compare_counters.py --only profiler --seconds {seconds} --output {out}/counters_{gpu}.json{resume}",
         "counters_{gpu}.json", seconds=180),
    Step("bounds", "{python} scripts/measure_bounds.py --seconds {seconds} --output {out}/bounds_{gpu}.json{resume}",
         "bounds_{gpu}.json", seconds=240),
    Step("units", "{python} scripts/measure_torch_units.py --output {out}/torch_units_{gpu}.json", seconds=150),
    Step("programs", "sh -c 'scripts/run_programs.sh > \"$0\"' {out}/programs_{gpu}.json", seconds=240),
    Step("check", "./course check 1-18 --solution --backend gpu --sanitize --json {out}/check_{gpu}.json", seconds=540),
    Step("judge", f"./course judge {FAST.replace(',', ' ')} --quick --backend gpu", seconds=500),
    Step("bench", "./course bench all --solution --backend gpu --json {out}/bench_{gpu}.json", seconds=400),
    Step("errors", "{python} scripts/compare_torch.py --errors --json {out}/compare_torch_errors_{gpu}.json", seconds=50),
]


def label_of(found: dict) -> str:
    """The label of a result, of either comparison."""
    return found["label"] if "label" in found else tables.case_of(found).label()


def read(file: pathlib.Path) -> dict:
    """A result file; {} if there is none that can be read."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError):
        return {}


class Estimates:
    """What cases took in the results that are there, and what they may take otherwise."""

    def __init__(self, folder: pathlib.Path):
        self.by_label, self.by_shape = {}, {}
        for file in sorted(folder.glob("*.json")):
            content = read(file)
            if not isinstance(content, dict) or content.get("program") != "compare_torch":
                continue
            for found in content.get("cases", []):
                self.by_label[label_of(found)] = found.get("seconds", 0)
                self.by_shape.setdefault((found["direction"], found["N"]), []).append(found.get("seconds", 0))

    def of(self, case, twins: bool) -> float:
        if isinstance(case, small_cases.SmallCase):
            return 5.0
        seconds = self.by_label.get(case.label())
        if seconds is None:
            similar = self.by_shape.get((case.direction, case.N))
            seconds = sum(similar) / len(similar) if similar else 30.0 if case.direction == cases.BACKWARD else 12.0
        return seconds + (TWIN if twins and has_twin(case) else 0)


class Runs:
    """What was run into a folder so far."""

    def __init__(self, out: pathlib.Path, gpu: str):
        self.out, self.gpu = out, gpu
        self.file = out / "measure_all.json"
        self.ended = read(self.file).get("steps", {})

    def left(self, step: Step) -> list:
        """The cases that are still to be measured; of a step without cases, the step itself."""
        if step.cases is None:
            return [] if self.ended.get(step.name, {}).get("status") in step.well() else [step]
        content = read(self.out / step.file.format(gpu=self.gpu))
        done = {label_of(found): found for found in content.get("cases", [])}
        return [case for case in step.cases if case.label() not in done or self.lacks_twin(step, case, done[case.label()])]

    @staticmethod
    def lacks_twin(step: Step, case, found: dict) -> bool:
        return (step.twins and isinstance(case, cases.Case) and has_twin(case) and "triton" not in found
                and "failed" not in found["ours"])

    def keep(self, step: Step, status: int, seconds: float):
        self.ended[step.name] = {"status": status, "seconds": round(seconds, 1)}
        self.file.write_text(json.dumps({"program": "measure_all", "gpu": self.gpu, "steps": self.ended}, indent=1) + "\n",
                             encoding="utf-8")


def seconds_of(step: Step, left: list, estimates: Estimates) -> float:
    if not left:
        return 0
    return step.seconds if step.cases is None else STARTING + sum(estimates.of(case, step.twins) for case in left)


def command_of(step: Step, runs: Runs, seconds: float, out: str | None = None) -> list[str]:
    resume = " --resume" if step.file and (runs.out / step.file.format(gpu=runs.gpu)).is_file() else ""
    out = shlex.quote(str(runs.out) if out is None else out)
    return shlex.split(step.command.format(python=shlex.quote(sys.executable), out=out, gpu=runs.gpu, resume=resume,
                                           seconds=max(1, int(seconds))))


def plan(steps: list[Step], runs: Runs, estimates: Estimates, minutes: float) -> str:
    """What would run, step by step, with the estimates added up; a line stands where the time would end."""
    lines, total, ended = [], 0.0, False
    planned = set()
    for step in steps:
        left = [case for case in runs.left(step) if (step.file, label(case)) not in planned]
        planned |= {(step.file, label(case)) for case in left}
        seconds = seconds_of(step, left, estimates)
        total += seconds
        if total > 60 * minutes and not ended:
            lines.append(f"-- here {minutes:g} minutes end; the same command again goes on --")
            ended = True
        what = "complete" if not left else f"{len(left)} of {len(step.cases)} cases" if step.cases is not None else "one run"
        lines.append(f"{step.name:15} {what:>18} {seconds:6.0f} s, in all {total / 60:5.1f} min   "
                     f"{shlex.join(command_of(step, runs, 60 * minutes, 'FOLDER')).replace(sys.executable, 'python3')}")
    return "\n".join(lines)


def label(item) -> str:
    return item.name if isinstance(item, Step) else item.label()


def run_for(words: list[str], seconds: float) -> int:
    """The exit status of a command, which is ended with all that it has started after so many seconds; 124 then."""
    with subprocess.Popen(words, cwd=ROOT, stdin=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            return process.wait(timeout=seconds)
        except BaseException as ended:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(ended, subprocess.TimeoutExpired):
                return 124
            raise


def gpu_name() -> str | None:
    """Of "NVIDIA H100 80GB HBM3", h100; None without a GPU."""
    try:
        run = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True, timeout=30,
                             check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = re.search(r"\b[A-Z]+[ ]?\d+\w*", run.stdout) if run.returncode == 0 else None
    return found[0].replace(" ", "").lower() if found else None


def say(text: str):
    print(f"measure_all: {text}", file=sys.stderr, flush=True)


def run_steps(steps: list[Step], runs: Runs, estimates: Estimates, deadline: float) -> list[str]:
    """Runs what is left until the deadline of time.monotonic(); says of each step that is not complete why."""
    open_steps = []
    for step in steps:
        left = runs.left(step)
        if not left:
            say(f"{step.name}: complete")
            continue
        remaining, needed = deadline - time.monotonic(), seconds_of(step, left, estimates)
        if remaining < LEAST or (not step.budgeted() and remaining < needed):
            open_steps.append(f"{step.name}: not begun, about {needed:.0f} s")
            continue
        words = command_of(step, runs, remaining - RESERVE)
        say(f"{step.name}: {shlex.join(words)}")
        start = time.monotonic()
        status = run_for(words, remaining)
        runs.keep(step, status, time.monotonic() - start)
        left = runs.left(step)
        if status != 0 or left:
            many = f", {len(left)} of {len(step.cases)} cases are left" if step.cases is not None else "" if left else ", not run again"
            open_steps.append(f"{step.name}: ended with status {status}{' (out of time)' if status == 124 else ''}{many}")
    return open_steps


def main(words=None, steps=None) -> int:
    steps = STEPS if steps is None else steps
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=25, help="ends by itself after that (default 25)")
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "build" / "measured", metavar="FOLDER")
    parser.add_argument("--only", metavar="STEPS", help="names of steps, with commas")
    parser.add_argument("--gpu", metavar="NAME", help="the end of the files' names, in place of h100 and the like")
    parser.add_argument("--plan", "--dry-run", action="store_true", help="says what would run and about how long, and runs nothing")
    arguments = parser.parse_args(words)
    start = time.monotonic()
    if not 0 < arguments.minutes < float("inf"):
        parser.error("--minutes is a number above 0.")
    if arguments.only is not None:
        names = arguments.only.split(",")
        if unknown := [name for name in names if name not in {step.name for step in steps}]:
            parser.error(f"--only: there is no step {unknown[0]}; there are {', '.join(step.name for step in steps)}.")
        steps = [step for step in steps if step.name in names]
    gpu = arguments.gpu or gpu_name()
    if gpu is None and not arguments.plan:
        say("nvidia-smi names no GPU; --plan needs none.")
        return 3
    runs = Runs(arguments.out.absolute(), gpu or "GPU")
    estimates = Estimates(ROOT / "docs" / "results")
    if arguments.plan:
        print(plan(steps, runs, estimates, arguments.minutes))
        return 0
    runs.out.mkdir(parents=True, exist_ok=True)
    open_steps = run_steps(steps, runs, estimates, start + 60 * arguments.minutes)
    if open_steps:
        say("left, and the same command goes on with it:\n  " + "\n  ".join(open_steps))
    say(f"{len(steps) - len(open_steps)} of {len(steps)} steps are complete, in {runs.out}")
    return 1 if open_steps else 0


if __name__ == "__main__":
    sys.exit(main())
