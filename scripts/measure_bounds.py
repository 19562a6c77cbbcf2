#!/usr/bin/env python3
"""Measures what bounds the worked solutions on a GPU: each benchmark's kernels under ncu, at one or two large shapes.

    scripts/measure_bounds.py [--lessons 7-18] [--resume] [--output FILE]
    scripts/measure_bounds.py --programs FOLDER --build-only      compiles the benchmarks and no more
    scripts/measure_bounds.py --show                              the table of the file, nothing measured

For each kernel: time, occupancy and what limits it, how busy pipes, caches and memory are, and why warps wait. The
names of the numbers are those of scripts/profiling/bounds.py; "metrics" maps them to ncu's. Caches are flushed before each of
ncu's passes, and clocks are not held. The file is whole after every measurement; --resume keeps what it has.
Needs nvcc, ncu and ncu's Python module, which is installed beside it.

Exit status: 0 all was measured; 1 something was not, and the file says why; 3 the machine lacks something.
"""

import argparse
import concurrent.futures
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import compare_counters  # noqa: E402
import measure_counters  # noqa: E402
from compare_sanitizer import run_limited  # noqa: E402
from options import Parser  # noqa: E402
from profiling import bounds, ncu  # noqa: E402
from profiling.ncu import ROOT, ProfileError  # noqa: E402

BUILD_SECONDS, MEASUREMENT_SECONDS = 300, 90


def build_program(lesson: str, folder: pathlib.Path) -> pathlib.Path:
    """The benchmark of a lesson with the worked solution, compiled unless the folder has it.

    @throws ProfileError if it does not compile
    """
    program = folder / f"{lesson}_bench"
    if not program.exists():
        status, said = run_limited(bounds.build_command(lesson, program.with_suffix(".new")), BUILD_SECONDS, cwd=ROOT)
        if status != 0:
            raise ProfileError(f"the benchmark does not compile: {said[-ncu.WORDS:]}")
        os.replace(program.with_suffix(".new"), program)
    return program


def build_all(lessons: list, folder: pathlib.Path, pool) -> dict:
    """Starts the compilers; gives a future for each lesson."""
    folder.mkdir(parents=True, exist_ok=True)
    return {lesson: pool.submit(build_program, lesson, folder) for lesson in lessons}


def measure(results, measurements: list, programs: dict, folder: pathlib.Path, seconds: float) -> int:
    """Measures what the file does not have. Returns how many were not measured."""
    ncu_report, clock, missing = measure_counters.import_ncu_report(), ncu.Clock(seconds), 0
    results.head |= {"command": "scripts/measure_bounds.py"} | measure_counters.machine()
    results.head["metrics"] = bounds.METRICS | bounds.LAUNCH | {
        f"blocks_allowed_by.{name}": metric for name, metric in bounds.LIMITS.items()
    } | {"waiting_warps.*": bounds.STALL_METRIC.format("*")}
    for lesson, measurement in measurements:
        entry = results.entry(lesson=lesson, measurement=measurement)
        if "kernels" not in entry:
            entry.pop("problem", None)
            try:
                if clock.left() < 1:
                    raise ProfileError("no time was left")
                program = programs[lesson].result()
                entry["kernels"] = bounds.profile_measurement(ncu_report, program, measurement, folder,
                                                              min(MEASUREMENT_SECONDS, clock.left()))
            except ProfileError as problem:
                entry["problem"] = str(problem)
                missing += 1
            results.save()
        print(f"{lesson}, {measurement}: {entry.get('problem') or str(len(entry['kernels'])) + ' kernels'}",
              file=sys.stderr)
    return missing


def show(results):
    """Prints a line for each kernel."""
    columns = ("occupancy_percent", "issue_slots_percent", "fma_pipe_percent", "shared_data_pipe_percent",
               "l1_data_pipe_percent", "l2_percent", "dram_percent")
    print("ms, registers, " + ", ".join(name.removesuffix("_percent") for name in columns) + ", warps that wait")
    for entry in results.entries:
        print(f"{entry['lesson']}, {entry['measurement']}{': ' + entry['problem'] if 'problem' in entry else ''}")
        for kernel in entry.get("kernels", ()):
            numbers = "  ".join(f"{kernel[name] or 0:5.1f}" for name in columns)
            waiting = ", ".join(f"{reason} {value:.2f}" for reason, value in list(kernel["waiting_warps"].items())[:4])
            print(f"  {kernel['kernel'][:40]:40} {(kernel['nanoseconds'] or 0) / 1e6:8.3f} {kernel['registers']!s:>4} "
                  f"{numbers}  {waiting}")


def main() -> int:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--resume", action="store_true", help="keep what the file has")
    parser.add_argument("--lessons", type=compare_counters.lessons_of, default=compare_counters.lessons_of("1-18"),
                        help="numbers and ranges: 7-10,17")
    parser.add_argument("--seconds", type=float, default=3600, help="after which no measurement is begun")
    parser.add_argument("--programs", type=pathlib.Path, help="folder of the programs, which keeps them")
    parser.add_argument("--build-only", action="store_true")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "results" / "bounds_h200.json")
    arguments = parser.parse_args()
    results = ncu.Results(arguments.output, ("lesson", "measurement"), resume=arguments.resume or arguments.show)
    if arguments.show:
        ncu.until_closed(show, results)
        return 0
    needed = ["nvcc"] if arguments.build_only else ["nvcc", "ncu", "nvidia-smi"]
    if lacking := [program for program in needed if shutil.which(program) is None]:
        print(f"measure_bounds.py: there is no {lacking[0]} on PATH.", file=sys.stderr)
        return 3
    measurements = [row for row in bounds.MEASUREMENTS if int(row[0][:2]) in arguments.lessons]
    lessons = list(dict.fromkeys(lesson for lesson, _ in measurements))
    with tempfile.TemporaryDirectory() as temporary, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        folder = pathlib.Path(temporary)
        programs = build_all(lessons, (arguments.programs or folder).absolute(), pool)
        if arguments.build_only:
            failed = [f"{lesson}: {build.exception()}" for lesson, build in programs.items() if build.exception()]
            print("\n".join(failed) or f"{len(programs)} programs are built", file=sys.stderr)
            return 1 if failed else 0
        return 1 if measure(results, measurements, programs, folder, arguments.seconds) else 0


if __name__ == "__main__":
    sys.exit(main())
