#!/usr/bin/env python3
"""Counts what the worked solutions make memory do, by the profiler on a GPU and by the simulator, on the same launches.

    scripts/compare_counters.py --only profiler     on a machine with a GPU, ncu and the CUDA toolkit
    scripts/compare_counters.py --only simulator    where ./course has its simulator
    scripts/compare_counters.py --show              what differs, nothing measured

A test case of each lesson (scripts/profiling/counters.py) runs under ncu, with its worker, and in check mode: the same
data, the same grids, in the same order. Both halves go into one file, so that they may be measured on different
machines; the file is whole after every case. Of lines it keeps those at which the halves differ, once it has both.
--resume keeps what the file has and measures the rest.
scripts/write_counters_page.py makes a page of it.

Exit status: 0 all cases were measured; 1 some were not, and the file says why; 3 the machine lacks something.
"""

import argparse
import datetime
import json
import pathlib
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure_counters  # noqa: E402
from options import Parser  # noqa: E402
from profiling import counters, ncu  # noqa: E402
from profiling.ncu import ROOT, ProfileError  # noqa: E402
from torch_comparison import library  # noqa: E402

CASE_SECONDS = 120


def lessons_of(words: str) -> set:
    """The numbers of "1-7,9"."""
    numbers = set()
    for word in words.split(","):
        first, _, last = word.partition("-")
        numbers |= set(range(int(first), int(last or first) + 1))
    return numbers


def chosen_cases(lessons: set) -> list:
    return [(lesson, case) for lesson, case in counters.CASES if int(lesson[:2]) in lessons]


def test_programs(build: pathlib.Path) -> dict:
    """The test program of each lesson, and the worker for a GPU.

    @throws ProfileError if the build folder has none
    """
    file = build / "toolchain.json"
    try:
        toolchain = json.loads(file.read_text(encoding="utf-8"))
        return {lesson["folder"]: {"program": lesson["test"], "worker": toolchain["gpu"]["worker"]}
                for lesson in toolchain["lessons"]}  # fmt: skip
    except (OSError, TypeError, ValueError) as error:
        raise ProfileError(f"{file} names no worker for a GPU; build the project where the CUDA toolkit is "
                           f"({error}).") from error


def measure(results, half: str, cases: list, seconds: float, one_case) -> int:
    """Measures one half of the cases that the file does not have yet. Returns how many were not measured."""
    clock, missing = ncu.Clock(seconds), 0
    for lesson, case in cases:
        entry = results.entry(lesson=lesson, case=case)
        if "launches" not in entry.get(half, {}):
            try:
                if clock.left() < 1:
                    raise ProfileError("no time was left")
                entry[half] = one_case(lesson, case, min(CASE_SECONDS, clock.left()))
            except (ProfileError, library.LibraryError) as problem:
                entry[half] = {"problem": str(problem)}
                missing += 1
        counters.shorten(entry)
        results.save()
        found = entry[half]
        print(f"{lesson}, {case}: {found.get('problem') or str(len(found['launches'])) + ' launches'}", file=sys.stderr)
    return missing


def measure_profiler(results, cases: list, arguments) -> int:
    ncu_report = measure_counters.import_ncu_report()
    lessons = sorted({int(lesson[:2]) for lesson, _ in cases})
    libraries = library.build_libraries(arguments.course, lessons)  # and what they are called by
    tests = test_programs(arguments.build)
    results.head |= measure_counters.machine() | {"metrics": counters.METRICS}
    with tempfile.TemporaryDirectory() as temporary:
        folder = (arguments.reports or pathlib.Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)

        def one_case(lesson, case, seconds):
            found = libraries[int(lesson[:2])]
            if isinstance(found, library.LibraryError):
                raise found
            return counters.profile_case(ncu_report, tests[lesson], found, case, folder, seconds)

        return measure(results, "profiler", cases, arguments.seconds, one_case)


def measure_simulator(results, cases: list, arguments) -> int:
    results.head["simulated"] = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    course = arguments.build / "bin" / "course"
    return measure(results, "simulator", cases, arguments.seconds,
                   lambda lesson, case, _: counters.simulate_case(course, lesson, case, 10 * CASE_SECONDS))


def show(results):
    """Prints every counter that differs, with the lines where it does."""
    compared = equal = 0
    for entry in results.entries:
        try:
            for number, (there, here) in enumerate(counters.matched(entry)):
                for name, ours, theirs in counters.pairs(there, here):
                    compared += 1
                    equal += ours == theirs
                    if ours == theirs:
                        continue
                    print(f"{entry['lesson']} launch {number} {there['kernel']} {name}: simulator {ours}, profiler "
                          f"{theirs}")
                    for place, at_line, on_gpu in counters.line_pairs(there, here, name):
                        opcodes = [kind.get("opcodes", {}) for kind in there["lines"].get(place, {}).values()]
                        print(f"    {place}: {at_line}, {on_gpu}  {opcodes}")
        except ProfileError as problem:
            print(problem)
    print(f"{compared} counters compared, {equal} equal")


def main() -> int:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("profiler", "simulator"))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--resume", action="store_true", help="keep what the file has of the half that is measured")
    parser.add_argument("--lessons", type=lessons_of, default=lessons_of("1-30"), help="numbers and ranges: 7-10,17")
    parser.add_argument("--seconds", type=float, default=3600, help="after which no case is begun")
    parser.add_argument("--build", type=lambda word: pathlib.Path(word).absolute(), default=ROOT / "build")
    parser.add_argument("--course", type=pathlib.Path, default=ROOT / "course", help="the program that builds libraries")
    parser.add_argument("--reports", type=pathlib.Path, help="keeps ncu's last report in this folder")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "results" / "counters_h100.json")
    arguments = parser.parse_args()
    results = ncu.Results(arguments.output, ("lesson", "case"), resume=True)
    if arguments.show:
        ncu.until_closed(show, results)
        return 0
    results.head.setdefault("command", "scripts/compare_counters.py")
    missing, cases = 0, chosen_cases(arguments.lessons)
    try:
        for half, measure_half in (("profiler", measure_profiler), ("simulator", measure_simulator)):
            if arguments.only not in (None, half):
                continue
            for lesson, case in cases if not arguments.resume else ():
                results.entry(lesson=lesson, case=case).pop(half, None)
            missing += measure_half(results, cases, arguments)
    except (ProfileError, library.LibraryError) as problem:
        print(f"compare_counters.py: {problem}", file=sys.stderr)
        return 3
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
