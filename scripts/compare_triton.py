#!/usr/bin/env python3
"""Times lessons 01, 05, 06 and 30 on a GPU beside their twins in Triton and PyTorch, on the same tensors; gives JSON.

    scripts/compare_triton.py [--lessons 1,5,6,30] [--json FILE] [--time-budget SECONDS] [--resume]

The twins of the other lessons stand in compare_torch.py --triton. Each result is held against float64 first: it may be off
by twice as much as the same computation in the kernel's own type, a twin's by eight times that, for Triton's exponential is
the hardware's fast one; what is off by more is not timed. A time is measured as in compare_torch.py. Of lesson 30 the bytes
are those of the cache, read once.

With --json FILE, the file is whole after every case, and a line for each goes to stderr. Needs a GPU, the CUDA toolkit,
PyTorch 2.5 or newer, and Triton.

Exit status: 0 all were right; 1 one was not, or failed; 2 wrong usage; 3 the machine lacks something.
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from options import Parser  # noqa: E402
from torch_comparison import library, tables  # noqa: E402
from torch_comparison.worker import lacking  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
LESSONS = (1, 5, 6, 30)


def parse_arguments(words=None):
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lessons", default=",".join(map(str, LESSONS)), help="1, 5, 6 and 30, with commas")
    parser.add_argument("--json", default="-", metavar="FILE", help="where the results go; - is standard output")
    parser.add_argument("--time-budget", type=float, default=float("inf"), metavar="SECONDS", help="begins no case after that")
    parser.add_argument("--resume", action="store_true", help="goes on with the file of --json: runs what it lacks")
    parser.add_argument("--course", default=str(ROOT / "course"), help="the program that builds libraries")
    parser.add_argument("--list", action="store_true", help="says which cases there are, and runs nothing")
    arguments = parser.parse_args(words)
    numbers = arguments.lessons.split(",")
    if wrong := [number for number in numbers if not number.strip().isdigit() or int(number) not in LESSONS]:
        parser.error(f"--lessons {arguments.lessons}: {wrong[0] or 'nothing'} is none of 1, 5, 6 and 30; the twins of other "
                     "lessons stand in compare_torch.py --triton.")
    if arguments.time_budget <= 0:
        parser.error("--time-budget is a number of seconds above 0.")
    if arguments.json != "-" and not pathlib.Path(arguments.json).absolute().parent.is_dir():
        parser.error(f"--json {arguments.json}: there is no such folder.")
    if arguments.resume and not pathlib.Path(arguments.json).is_file():
        parser.error(f"--resume goes on with a file of --json, and there is none called {arguments.json}.")
    arguments.lessons = sorted({int(number) for number in numbers})
    return arguments


def say(text: str):
    print(text, file=sys.stderr, flush=True)


def line_of(found: dict) -> str:
    """One line: the kernel's time and rate, and how many times as long the others take."""
    own, label = found["ours"].get("milliseconds"), found["label"]
    if own is None:
        return f"{label:44} {found['ours'].get('failed', 'not timed')}"
    if found["operations"]:
        rate = f"{tables.three_digits(found['operations'] / own * 1e-9)} TFLOP/s"
    else:
        rate = f"{found['bytes'] / own * 1e-6:.0f} GB/s"
    others = {"Triton twin": found["triton"], **{f"torch.{name}": way for name, way in found["torch"].items()}}
    words = [f"{name} x{tables.three_digits(other['milliseconds'] / own)}" if "milliseconds" in other
             else f"{name}: {other.get('failed', 'not timed')}" for name, other in others.items()]
    return f"{label:44} {tables.three_digits(own):>8} ms {rate:>14}   {', '.join(words)}"


def is_right(found: dict) -> bool:
    return not any("failed" in way for way in (found["ours"], found["triton"]))


def write(arguments, content: dict):
    text = json.dumps(content, indent=1) + "\n"
    if arguments.json == "-":
        return text
    whole = pathlib.Path(arguments.json + ".part")
    whole.write_text(text, encoding="utf-8")
    whole.replace(arguments.json)
    return ""


def main() -> int:
    arguments = parse_arguments()
    from torch_comparison import small_cases  # the list needs no PyTorch
    chosen = [case for case in small_cases.CASES if case.lesson in arguments.lessons]
    if arguments.list:
        print("\n".join(case.label() for case in chosen))
        return 0
    if why := lacking():
        say(f"compare_triton.py: {why}")
        return 3
    from torch_comparison import baselines, measure, small_problems
    start = time.monotonic()
    try:
        built = library.build_libraries(arguments.course, arguments.lessons, "gpu")
        loaded = {number: library.Library(path) for number, path in built.items() if not isinstance(path, library.LibraryError)}
    except library.LibraryError as error:
        say(f"compare_triton.py: {error}")
        return 3
    baselines.strict_float32()
    machine, stopwatch = measure.machine(), measure.Stopwatch()
    machine.pop("device")
    words = [re.sub(r"(^|=)/\S*/", r"\1", word) for word in sys.argv[1:]]
    content = {"program": "compare_triton", **machine, "date": datetime.date.today().isoformat(),
               "command": " ".join(["scripts/compare_triton.py", *words]), "kernels": "solutions",
               "ceilings": measure.ceilings(stopwatch), "cases": [], "left_out": []}
    if arguments.resume:
        earlier = json.loads(pathlib.Path(arguments.json).read_text(encoding="utf-8"))
        if unlike := [name for name in ("program", "gpu", "driver", "torch") if earlier.get(name) != content[name]]:
            say(f"compare_triton.py: {arguments.json} has another {unlike[0]}: measure into another file.")
            return 2
        content["cases"] = earlier["cases"]
        done = {found["label"] for found in earlier["cases"]}
        chosen = [case for case in chosen if case.label() not in done]
    for number, case in enumerate(chosen):
        if time.monotonic() - start > arguments.time_budget:
            content["left_out"] = [left.label() for left in chosen[number:]]
            say(f"the time budget is spent; left out: {', '.join(content['left_out'])}")
            break
        if case.lesson in loaded:
            found = small_problems.compare(case, loaded[case.lesson], stopwatch)
        else:
            found = {**case.as_json(), "ours": {"failed": str(built[case.lesson])}, "triton": {}, "torch": {}}
        content["cases"].append(found)
        write(arguments, content)
        say(line_of(found))
    content["seconds"] = round(time.monotonic() - start, 1)
    print(write(arguments, content), end="")
    return 0 if all(map(is_right, content["cases"])) else 1


if __name__ == "__main__":
    sys.stdout.flush()
    status = main()
    sys.stdout.flush()
    os._exit(status)  # a library's CUDA and PyTorch's need not agree on who ends first
