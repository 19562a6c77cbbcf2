#!/usr/bin/env python3
"""Runs the worked solutions and the alternatives of all lessons on data from many seeds, in the simulator.

    scripts/measure_seeds.py [--lessons 1-18] [--seeds N] [--jobs N] [--course PROGRAM] [--output FILE]

Hidden cases of `./course grade` take their data from a seed that nobody knows, so a right kernel has to pass whatever
the seed is. Seeds 1 to N are run, all tests of a lesson each time. PROGRAM is `build/bin/course` if not named. The
result goes to FILE as JSON, or to standard output.

Exit status: 0; 1 if a case failed, which are then listed; 2 for wrong usage; 3 if `course` cannot run.
"""

import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import subprocess
import sys

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
EXIT_MACHINE = 2  # and more: `course` was used wrongly, or the machine lacks something


def kernels_of(lesson):
    """The lesson's folder names one solution; alternatives are right kernels that go another way."""
    yield from sorted((ROOT / "solutions" / lesson).glob("*.cu"))
    yield from sorted((ROOT / "tests/lessons/alternatives" / lesson).glob("*.cu"))


def chosen_lessons(words):
    first, _, last = words.partition("-")
    numbers = range(int(first), int(last or first) + 1)
    return [path.name for path in sorted((ROOT / "lessons").iterdir()) if int(path.name[:2]) in numbers]


def check(course, kernel, seed):
    """The cases of one kernel with one seed. Raises RuntimeError with what `course` said if there are none."""
    words = [course, "check", kernel.parent.name[:2], "--file", kernel, "--backend", "cpu", "--seed", str(seed),
             "--json", "-"]  # fmt: skip
    run = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if run.returncode >= EXIT_MACHINE:
        raise RuntimeError(run.stderr.strip())
    return json.loads(run.stdout)["lessons"][0]["cases"]


def main():
    parser = Parser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--lessons", default="1-18", help="a number, or the first and the last")
    parser.add_argument("--seeds", type=int, default=30, help="how many, from 1 on")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many kernels are run at a time")
    parser.add_argument("--course", default=ROOT / "build/bin/course", type=pathlib.Path, help="the built program")
    parser.add_argument("--output", type=pathlib.Path, help="where the JSON goes")
    arguments = parser.parse_args()
    if not arguments.course.exists():
        print(f"There is no {arguments.course}. Run `./course list` first, or name one with --course.", file=sys.stderr)
        return EXIT_MACHINE
    kernels = [kernel for lesson in chosen_lessons(arguments.lessons) for kernel in kernels_of(lesson)]
    works = [(kernel, seed) for seed in range(1, arguments.seeds + 1) for kernel in kernels]
    runs, cases, failures = collections.Counter(), collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        results = pool.map(lambda work: check(arguments.course.resolve(), *work), works)
        try:
            for (kernel, seed), result in zip(works, results):
                runs[kernel.parent.name] += 1
                cases[kernel.parent.name] += len(result)
                failures += [{"kernel": str(kernel.relative_to(ROOT)), "seed": seed, "case": case["name"],
                              "message": case["message"]} for case in result if case["status"] != "pass"]  # fmt: skip
        except RuntimeError as problem:
            pool.shutdown(cancel_futures=True)
            print(problem, file=sys.stderr)
            return 3
    report = {"command": f"scripts/measure_seeds.py --seeds {arguments.seeds} --lessons {arguments.lessons}",
              "date": datetime.date.today().isoformat(), "seeds": arguments.seeds, "kernels": len(kernels),
              "runs": sum(runs.values()), "cases": sum(cases.values()),
              "lessons": {lesson: {"runs": runs[lesson], "cases": cases[lesson]} for lesson in runs},
              "failures": failures}  # fmt: skip
    text = json.dumps(report, indent=2, ensure_ascii=False) + "\n"
    if arguments.output:
        arguments.output.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
