#!/usr/bin/env python3
"""Measures how much the tests of a lesson notice: changes its solution in one place at a time and runs the tests.

Each such mutant is compiled for the simulator. One that does not compile, or that compiles to the same code as the
solution or as an earlier mutant, is not counted. The others are judged by the lesson's tests, first in run mode and,
if all cases pass, once more with check mode. A mutant is killed if a case fails or the tests run far longer than they
should; otherwise it survives.

A survivor shows a hole in the tests, unless it is equivalent: unless it does all that the contract asks. Why it does
is said in docs/results/mutation_equivalent.json, which names the line by its text and lives as long as that line. Two
shares are reported: of all judged mutants, and of those that are not equivalent. The second must be 95 % or more.

    scripts/mutation_run.py 03                      all mutants; the result goes to docs/results/03_mutation.json
    scripts/mutation_run.py 03 --only 'sum_warp'    those whose operator, function or line matches; nothing is kept
    scripts/mutation_run.py 03 --survivors          those that survived the last run, when tests have become stricter
    scripts/mutation_run.py 03 --sample 160         160 of them, spread evenly; the result says of how many
    scripts/mutation_run.py 03 --list               names the mutants and runs nothing
    scripts/mutation_run.py 03 --reasons            reads the reasons anew for the last result, and runs nothing

What is changed: the code of functions and the values of constants. Comments, texts, the words of an exception,
static_assert, includes and declarations stay as they are. Ctrl-C ends a run early and keeps what was done, with
"complete": false. The build folder is `build`, or COURSE_BUILD_DIR.

Exit status: 0 if enough is killed, 1 if not, 2 for wrong usage, 3 if the machine or the solution itself fails.
"""
import argparse
import json
import os
import pathlib
import re
import sys
import tempfile
import time

from mutation.judging import ROOT, Lesson, MachineError, check_solution, judge_all
from mutation.mutants import mutants_of
from mutation.report import (
    explain_survivors,
    is_enough,
    key_of,
    merged,
    print_report,
    read_reasons,
    result_file,
    summarise,
    written,
)
from options import Parser


def run_lesson(name, arguments):
    """Returns whether enough is killed, and whether the run came to its end."""
    source = (ROOT / "solutions" / name / f"{name[3:]}.cu").read_text(encoding="utf-8")
    mutants = mutants_of(source)
    last = json.loads((arguments.out or result_file(name)).read_text("utf-8")) if arguments.survivors else None
    if last:
        survived = {key_of(row) for row in last["survivors"] + last["not_judged"]}
        mutants = [mutant for mutant in mutants if mutant.key in survived]
        if len(mutants) < len(survived):
            raise MachineError("The solution has changed since the last run: run all mutants.")
    if arguments.only:
        wanted = re.compile(arguments.only)
        mutants = [m for m in mutants if any(map(wanted.search, (m.operator, m.where, m.line, m.change)))]
    mutants = mutants[: arguments.limit]
    drawn_from = len(mutants)
    if arguments.sample is not None and arguments.sample < drawn_from:
        mutants = [mutants[at * drawn_from // arguments.sample] for at in range(arguments.sample)]
    if arguments.list:
        print("\n".join(f"{mutant.operator:14} {mutant}" for mutant in mutants))
        return True, True
    reasons = read_reasons(name)
    start = time.monotonic()
    lesson = Lesson(name)
    complete, done = True, 0
    with tempfile.TemporaryDirectory(prefix="mutation_") as folder:
        scratch = pathlib.Path(folder)
        solution_code = check_solution(lesson, source, scratch)
        try:
            for mutant in judge_all(lesson, solution_code, mutants, arguments.jobs, scratch):
                done += 1
                is_hole = mutant.verdict == "survived" and mutant.key not in reasons
                if is_hole or mutant.verdict == "not judged" or arguments.verbose:
                    print(f"{name[:2]} {done}/{len(mutants)} {mutant.verdict} {mutant}", flush=True)
                elif done % 25 == 0:
                    print(f"{name[:2]} {done}/{len(mutants)}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            complete = False
            print("interrupted: what was done is kept", file=sys.stderr)
    is_part = arguments.only or arguments.limit is not None or (last and not complete)
    result = summarise(name, mutants, complete and not is_part, time.monotonic() - start)
    if len(mutants) < drawn_from:
        result |= {"command": f"{result['command']} --sample {arguments.sample}", "drawn_from": drawn_from}
    if last and not is_part:
        result = merged(last, result)
    explain_survivors(result, reasons)
    print_report(result, reasons)
    if out := arguments.out or (None if is_part else result_file(name)):
        out.write_text(written(result), encoding="utf-8")
    return is_enough(result), complete


def explain_again(name, arguments):
    """The same as run_lesson(), with the results of the last run."""
    file = arguments.out or result_file(name)
    result, reasons = json.loads(file.read_text(encoding="utf-8")), read_reasons(name)
    explain_survivors(result, reasons)
    print_report(result, reasons)
    file.write_text(written(result), encoding="utf-8")
    return is_enough(result), True


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="number of a lesson, for example 03")
    parser.add_argument("--only", metavar="REGEX", help="mutants whose operator, function, line or change matches")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N mutants")
    parser.add_argument("--sample", type=int, metavar="N", help="N of the mutants, spread evenly over the solution")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="mutants side by side")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="in place of docs/results/NN_mutation.json")
    parser.add_argument("--list", action="store_true", help="names the mutants and runs nothing")
    parser.add_argument("--survivors", action="store_true", help="those that survived the last run")
    parser.add_argument("--reasons", action="store_true", help="reads the reasons anew, and runs nothing")
    parser.add_argument("--verbose", action="store_true", help="names each mutant as it is judged")
    arguments = parser.parse_args()

    names = []
    for number in arguments.lessons:
        found = list((ROOT / "solutions").glob(f"{int(number):02}_*")) if number.isdigit() else []
        if not found:
            parser.error(f"there is no lesson {number}")
        names.append(found[0].name)
    if arguments.out and len(names) > 1:
        parser.error("--out needs exactly one lesson")
    enough = True
    try:
        for name in names:
            if arguments.reasons:
                lesson_enough, complete = explain_again(name, arguments)
            else:
                lesson_enough, complete = run_lesson(name, arguments)
            enough = enough and lesson_enough
            if not complete:
                break
    except MachineError as problem:
        print(problem, file=sys.stderr)
        return 3
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
