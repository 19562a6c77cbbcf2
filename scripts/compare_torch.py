#!/usr/bin/env python3
"""Runs the lessons' attention kernels on a GPU beside PyTorch, on the same tensors and in the same process; gives JSON.

    scripts/compare_torch.py [--lessons 7-24] [--quick] [--json FILE] [--time-budget SECONDS]
    scripts/compare_torch.py --json FILE --resume         # what FILE does not have yet
    scripts/compare_torch.py --errors --json FILE
    scripts/compare_torch.py --lessons 9-13 --triton      # the lessons' twins in Triton, too
    scripts/compare_torch.py --lessons 9 --own            # your file in place of the worked solution
    scripts/compare_torch.py --lessons 9 --file FILE.cu   # that kernel
    scripts/compare_torch.py --lessons 9 --library 9=FILE # a library that `./course build --paths` made

Each result is held against a computation in float64 before anything is timed: its largest error may be twice that of
the same computation in float32, in 16 bits with the roundings of 16 bits, and what is off by more is not timed. Times are medians by events, with the
L2 cache overwritten before each run; docs/gpu.md says what is measured and how. A case that runs out of memory, that a
backend refuses or that crashes is an entry with its reason, and the next one follows.

With --json FILE, the file is whole after every case, and the table goes to stderr. --errors measures errors alone, by
length and by magnitude of the data. Needs a GPU, the CUDA toolkit, and Python with PyTorch 2.5 or newer.

Exit status: 0 every kernel was right on every case that ran; 1 one was not, or failed; 2 wrong usage; 3 the machine
lacks something.
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
from torch_comparison import cases, client, library, tables  # noqa: E402
from torch_comparison.twins import has_twin  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
METHOD = {
    "times": "median of 20 runs after a pause of 0.15 s and 5 to warm up (7 after 2 where one takes more than 100 ms), events on the default "
             "stream, 256 MiB overwritten before each run outside of the events; baselines in the same process on the "
             "same tensors, float32 without TF32; a forward pass of PyTorch without gradients",
    "backward": "the gradients alone, from saved O and lse, all kernels of the pass; PyTorch: torch.autograd.grad of O",
    "data": "standard normal, seed 1; times `spread` for Q, K and V",
    "right": "largest error against float64 <= 2 x the largest of PyTorch's plain ways in float32 (dK and dV of grouped "
             "heads: as many times that as query heads share them), and 2^-23 of the largest element; with numbers of 16 "
             "bits: of the reference in float32 with P, dS and the results rounded to them",
    "extra_bytes": "beside inputs and masks; a backward case counts what both passes need. Of a lesson's kernel: the "
                   "results that its caller allocates; `allocations` counts cudaMalloc calls inside, whose bytes would "
                   "be missing. Of PyTorch: the peak of its allocator",
    "triton": "the lesson's twin of scripts/triton_twins, held to the same errors, overwriting the L2 four times so that its launch "
              "is not timed; first_call_seconds are mostly its compiler's",
    "ways": "FlexAttention at N = 4096 and 16384 with the smaller window alone; the second order of axes beside naive "
            "and memory-efficient attention alone",
    "operations": "of the products, for pairs that see each other: 4 D forward, 10 D backward",
    "bytes": "inputs and results once, and dO a second time",
    "gpu_state": "lowest and highest during the case, by nvidia-smi twice a second",
}


def parse_arguments(words=None):
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=__doc__.split("\n\n", 1)[1],
                    formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--lessons", default="7-24", help="numbers and ranges: 7-10,17")
    parser.add_argument("--quick", action="store_true", help="few shapes")
    parser.add_argument("--errors", action="store_true", help="errors alone, by length and magnitude (9, 10 and 17)")
    parser.add_argument("--triton", action="store_true", help="the lessons' twins in Triton beside them (9-13, 15-17, 22)")
    parser.add_argument("--own", action="store_true", help="your files in place of the worked solutions")
    parser.add_argument("--file", metavar="FILE", help="this kernel in place of the worked solution of the one lesson")
    parser.add_argument("--library", action="append", default=[], metavar="LESSON=FILE",
                        help="a library that is built already, once for each lesson")
    parser.add_argument("--json", default="-", metavar="FILE", help="where the results go; - is standard output")
    parser.add_argument("--time-budget", type=float, default=float("inf"), metavar="SECONDS",
                        help="begins no case after that, and says which were left out")
    parser.add_argument("--resume", action="store_true", help="goes on with the file of --json: runs what it lacks")
    parser.add_argument("--case-seconds", type=float, default=240, metavar="SECONDS", help="ends a case after that")
    parser.add_argument("--course", default=str(ROOT / "course"), help="the program that builds libraries")
    parser.add_argument("--list", action="store_true", help="says which cases there are, and runs nothing")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args(words)
    try:
        arguments.lessons = cases.read_lessons(arguments.lessons)
        arguments.library = read_libraries(arguments.library)
    except ValueError as error:
        parser.error(str(error))
    if arguments.triton and arguments.errors:
        parser.error("--errors and --triton exclude each other: twins are timed.")
    if arguments.file is not None and (arguments.own or arguments.library or len(arguments.lessons) != 1):
        parser.error("--file takes one lesson, and neither --own nor --library.")
    if arguments.file is not None and not pathlib.Path(arguments.file).is_file():
        parser.error(f"--file: there is no file {arguments.file}.")
    if arguments.time_budget <= 0 or arguments.case_seconds <= 0:
        parser.error("--time-budget and --case-seconds are numbers of seconds above 0.")
    if arguments.resume and not pathlib.Path(arguments.json).is_file():
        parser.error(f"--resume goes on with a file of --json, and there is none called {arguments.json}.")
    if arguments.json != "-" and not pathlib.Path(arguments.json).absolute().parent.is_dir():
        parser.error(f"--json {arguments.json}: there is no such folder.")
    return arguments


def read_libraries(words: list[str]) -> dict:
    """Paths by lesson, of LESSON=FILE.

    @throws ValueError with a sentence
    """
    found = {}
    for word in words:
        number, equals, path = word.partition("=")
        if not equals or not number.isdigit() or int(number) not in cases.FOLDERS:
            raise ValueError(f"--library {word}: write it as LESSON=FILE, for example 9=kernel.so.")
        if not pathlib.Path(path).is_file():
            raise ValueError(f"--library {word}: there is no file {path}.")
        found[int(number)] = str(pathlib.Path(path).absolute())
    return found


def say(text: str = ""):
    print(text, file=sys.stderr, flush=True)


def make_libraries(arguments) -> tuple[dict, dict]:
    """Paths by lesson, and reasons by lesson where there is none.

    @throws library.LibraryError if `./course build` cannot do its work
    """
    paths, missing = {str(lesson): path for lesson, path in arguments.library.items()}, {}
    to_build = [lesson for lesson in arguments.lessons if lesson not in arguments.library]
    if to_build:
        say(f"building lessons {', '.join(f'{lesson:02}' for lesson in to_build)}")
        which = ["--file", os.path.abspath(arguments.file)] if arguments.file else [] if arguments.own else ["--solution"]
        for lesson, built in library.build_libraries(arguments.course, to_build, "gpu", which).items():
            if isinstance(built, library.LibraryError):
                missing[lesson] = str(built)
            else:
                paths[str(lesson)] = str(built)
    return paths, missing


def kernels_of(arguments) -> str:
    """Which kernels these are: "solutions", "own", or a file of the course."""
    if arguments.own or arguments.library:
        return "own"
    file = pathlib.Path(arguments.file or "").resolve()
    return "solutions" if arguments.file is None else str(file.relative_to(ROOT)) if ROOT in file.parents else "own"


class Unlike(Exception):
    """Results that this run does not go with; the message says why."""


class Report:
    """The results so far; the file holds them after every case."""

    def __init__(self, arguments, machine: dict, ceilings: dict):
        self.triton = arguments.triton
        self.file = None if arguments.json == "-" else pathlib.Path(arguments.json)
        self.key = "errors" if arguments.errors else "cases"
        words = [re.sub(r"(^|=)/\S*/", r"\1", word) for word in sys.argv[1:]]  # without folders of this machine
        self.content = {"program": "compare_torch", **machine, "date": datetime.date.today().isoformat(),
                        "command": " ".join(["scripts/compare_torch.py", *words]),
                        "kernels": kernels_of(arguments), "method": METHOD,
                        "ceilings": ceilings, self.key: [], "left_out": []}
        self.content.pop("device", None)
        if arguments.resume:
            self.take_over(json.loads(self.file.read_text(encoding="utf-8")))

    def take_over(self, earlier: dict):
        """Goes on with the results of an earlier run, which keeps its ceilings and its date, but not its command.

        @throws Unlike if they are of something else
        """
        for name in ("program", "gpu", "driver", "torch", "kernels"):
            if earlier.get(name) != self.content[name]:
                raise Unlike(f"{self.file} has {name} {earlier.get(name)}, and this is {self.content[name]}: measure "
                             "into another file.")
        if self.key not in earlier:
            raise Unlike(f"{self.file} has no list of {self.key}: measure into another file.")
        self.content = {**earlier, "method": METHOD, "command": self.content["command"], "parts": earlier.get("parts", 1) + 1, "left_out": []}

    def lacks(self, case) -> bool:
        """Whether there is nothing of a case, or not yet its twin in Triton."""
        found = [found for found in self.content[self.key] if tables.case_of(found).label() == case.label()]
        return not found or (self.triton and has_twin(case) and "triton" not in found[0] and tables.is_right(found[0]))

    def add(self, found: dict):
        """Adds a result; one of the same case gives way to it."""
        label = tables.case_of(found).label()
        others = [other for other in self.content[self.key] if tables.case_of(other).label() != label]
        self.content[self.key] = [*others, found]
        self.write()

    def finish(self, left_out: list, seconds: float):
        self.content["left_out"] = [case.label() for case in left_out]
        self.content["seconds"] = round(self.content.get("seconds", 0) + seconds, 1)
        self.write()
        if self.file is None:
            print(self.text(), end="")

    def text(self) -> str:
        return json.dumps(self.content, indent=1) + "\n"

    def write(self):
        if self.file is None:
            return
        whole = self.file.with_name(self.file.name + ".part")
        whole.write_text(self.text(), encoding="utf-8")
        whole.replace(self.file)


def compare_all(arguments, chosen: list, gpu: client.Client, missing: dict, start: float) -> int:
    """Runs the cases until the budget is spent; returns the exit status."""
    report = Report(arguments, gpu.machine, gpu.ceilings)
    chosen = [case for case in chosen if report.lacks(case)]
    say(f"{gpu.machine['gpu']}, driver {gpu.machine['driver']}, PyTorch {gpu.machine['torch']}: copy "
        f"{gpu.ceilings['copy_gigabytes_per_second']} GB/s, float32 product {gpu.ceilings['matmul_teraflops']} TFLOP/s")
    say("" if arguments.errors else tables.HEADER + (f" {tables.TWIN:>9}" if arguments.triton else ""))
    right, left_out = True, []
    for number, case in enumerate(chosen):
        if time.monotonic() - start > arguments.time_budget:
            left_out = chosen[number:]
            break
        if case.lesson in missing:
            found = {**case.as_json(), "ours": {"failed": missing[case.lesson]}, "torch": {}}
        else:
            found = gpu.ask(case, arguments.errors)
        report.add(found)
        right = right and tables.is_right(found)
        say(tables.error_line(found) if arguments.errors else tables.line_of(found, gpu.ceilings))
    report.finish(left_out, time.monotonic() - start)
    if left_out:
        say(f"the time budget is spent; {len(left_out)} cases were left out:")
        for case in left_out:
            say(f"  {case.label()}")
    return 0 if right else 1


def main() -> int:
    arguments = parse_arguments()
    if arguments.worker:
        from torch_comparison import worker
        worker.main()
        return 0
    choose = cases.error_cases if arguments.errors else cases.choose_cases
    chosen = choose(arguments.lessons, arguments.quick)
    if arguments.list:
        print("\n".join(case.label() for case in chosen))
        return 0
    start = time.monotonic()
    arguments.lessons = sorted({case.lesson for case in chosen})
    gpu = None
    try:
        paths, missing = make_libraries(arguments)
        command = [sys.executable, "-B", os.path.abspath(__file__), "--worker"]
        gpu = client.Client(command, paths, arguments.case_seconds, arguments.triton)
        gpu.start()
        return compare_all(arguments, chosen, gpu, missing, start)
    except Unlike as error:
        say(f"compare_torch.py: {error}")
        return 2
    except (client.Lacks, library.LibraryError) as error:
        say(f"compare_torch.py: {error}")
        return 3
    except KeyboardInterrupt:
        say("interrupted")
        return 130
    finally:
        if gpu is not None:
            gpu.stop()


if __name__ == "__main__":
    sys.exit(main())
