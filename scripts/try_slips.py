#!/usr/bin/env python3
"""Hands in wrong kernels as students write them, and measures whether the report names what is wrong with them.

Each file tests/lessons/slips/NN_name/WHAT.slip is an edit of the lesson's solution, in the format of the mutants:

    One sentence: what is wrong.

    says: WORDS     one or more: stand in what the report says of the first failing case
    line: CODE      any number: this line of the kernel is quoted there
    never: WORDS    any number: stand nowhere in the report, since they would be a false cause

    replace:
      whole lines of the solution
    with:
      other lines

White space counts as one blank, and upper case as lower case. Of a kernel that does not compile, or whose report
shows no case, the whole report counts as the first case.

    scripts/try_slips.py                      all slips of all lessons
    scripts/try_slips.py 01 09                those of two lessons
    scripts/try_slips.py 01 steps_by_the      those of lesson 01 whose names contain the word
    scripts/try_slips.py 01 --verbose         with the reports of those that are not told; --all: with all reports
    scripts/try_slips.py --jobs 4             four kernels at a time
    scripts/try_slips.py --keep DIR           keeps each kernel and its report there
    scripts/try_slips.py --list               only names the slips, and sees that their edits fit the solutions

A slip is `told` if all its words and lines are there, `told falsely` if words are there that never should be, and
`not told` otherwise. Exit status: 0 if at least 90 % are told and none falsely, 1 if not, 2 for wrong usage.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import edits
from options import Parser
from solution_page import page_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
SLIPS = ROOT / "tests" / "lessons" / "slips"
ENOUGH_PERCENT = 90
CHECK_SECONDS = 900
KEYS = ("says", "line", "never")


@dataclasses.dataclass
class Slip:
    edited: edits.Edited
    says: list
    line: list
    never: list

    @property
    def lesson(self):
        return self.edited.path.parent.name

    @property
    def name(self):
        return self.edited.path.stem


def read_slip(file):
    """Raises edits.Unfit."""
    edited = edits.read_edits(file)
    for number, key, _ in edited.keys:
        if key not in KEYS:
            raise edits.Unfit(f'{file}:{number}: a line here begins with "says: ", "line: " or "never: ".')
    slip = Slip(edited, *([value for _, key, value in edited.keys if key == wanted] for wanted in KEYS))
    if not slip.says:
        raise edits.Unfit(f'{file}: no line "says: <words that name what is wrong>".')
    return slip


def kernel_of(slip):
    """The solution with the slip's edits. Raises edits.Unfit."""
    solution = ROOT / "solutions" / slip.lesson / f"{slip.lesson[3:]}.cu"
    return edits.with_edits(slip.edited, page_of(solution.read_text(encoding="utf-8")))


def first_case(report):
    """What the report says of the first failing case; the whole report where there is none."""
    if report.startswith("DOES NOT COMPILE"):
        return report
    lines = report.splitlines()
    starts = [i for i, line in enumerate(lines) if re.match(r"  \S", line)]
    for i, following in zip(starts, starts[1:] + [len(lines)]):
        if following > i + 1 and re.match(r"    ", lines[i + 1]):
            return "\n".join(lines[i:following])
    return report


def plain(text):
    return " ".join(text.split()).lower()


def quotes(text, code):
    """Whether a line such as `  61 | c[i] = a[i];` of the report is this one; "..." stands for what does not fit."""
    for line in text.splitlines():
        found = re.match(r"\s*\d+ \| (.*)", line)
        if not found:
            continue
        shown, wanted = plain(found[1]), plain(code)
        part = shown.removeprefix("...").removesuffix("...").strip()
        if wanted in shown or (part != shown and len(part) > 20 and part in wanted):
            return True
    return False


@dataclasses.dataclass
class Verdict:
    slip: Slip
    word: str  # "told", "not told", "told falsely"
    why: str
    report: str
    seconds: float


def judge(slip, report):
    """(verdict, why) by what the report says."""
    everything, first = plain(report), first_case(report)
    false = [words for words in slip.never if plain(words) in everything]
    if false:
        return "told falsely", "it says: " + "; ".join(false)
    if re.match(r"PASS\b", report):
        return "not told", "the kernel passes"
    lacking = [words for words in slip.says if plain(words) not in plain(first)]
    lacking += [code for code in slip.line if not quotes(first, code)]
    return ("not told", "lacks: " + "; ".join(lacking)) if lacking else ("told", "")


def hand_in(slip, folder):
    """Checks the kernel, as a student would."""
    start = time.monotonic()
    place = pathlib.Path(folder) / slip.lesson / slip.name
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{slip.lesson[3:]}.cu"
    file.write_text(kernel_of(slip), encoding="utf-8")
    environment = os.environ | {"COURSE_PROGRESS": str(place / "progress.json"), "NO_COLOR": "1"}
    command = [str(ROOT / "course"), "check", slip.lesson[:2], "--file", str(file), "--backend", "cpu"]
    try:
        run = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment,
                             stdin=subprocess.DEVNULL, timeout=CHECK_SECONDS, check=False)  # fmt: skip
        report, status = run.stdout, run.returncode
        if status not in (0, 1):
            report += run.stderr
    except subprocess.TimeoutExpired:
        report, status = f"no report within {CHECK_SECONDS} s\n", 124
    (place / "report.txt").write_text(report, encoding="utf-8")
    word, why = judge(slip, report)
    if status not in (0, 1):
        word, why = "not told", f"./course check ended with status {status}"
    return Verdict(slip, word, why, report, time.monotonic() - start)


def chosen(words):
    """The slips of these lessons whose names contain one of the other words."""
    numbers = [f"{int(word):02}" for word in words if word.isdigit()]
    names = [word for word in words if not word.isdigit()]
    files = sorted(SLIPS.glob("*/*.slip"))
    files = [file for file in files if not numbers or file.parent.name[:2] in numbers]
    files = [file for file in files if not names or any(name in file.stem for name in names)]
    return [read_slip(file) for file in files]


def share(part, whole):
    return f"{part} of {whole} ({100 * part / whole:.0f} %)"


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", metavar="LESSON|NAME", help="numbers of lessons, parts of slips' names")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="kernels at a time (default: 1)")
    parser.add_argument("--verbose", action="store_true", help="prints the reports of those that are not told")
    parser.add_argument("--all", action="store_true", help="prints all reports")
    parser.add_argument("--list", action="store_true", help="names the slips and runs nothing")
    parser.add_argument("--keep", metavar="DIR", help="keeps each kernel and its report there")
    arguments = parser.parse_args()
    start = time.monotonic()
    try:
        slips = chosen(arguments.words)
        for slip in slips:
            kernel_of(slip)
    except edits.Unfit as error:
        parser.error(str(error))
    if not slips:
        parser.error(f"no such slip in {SLIPS}")

    if arguments.list:
        for slip in slips:
            print(f"{slip.lesson[:2]} {slip.name}: {slip.edited.what}")
        return 0

    counts, seconds = collections.defaultdict(collections.Counter), collections.Counter()
    with tempfile.TemporaryDirectory(prefix="slips_") as temporary:
        folder = pathlib.Path(arguments.keep).resolve() if arguments.keep else temporary
        with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
            for verdict in pool.map(lambda slip: hand_in(slip, folder), slips):
                slip = verdict.slip
                counts[slip.lesson][verdict.word] += 1
                seconds[slip.lesson] += verdict.seconds
                line = f"{verdict.word:12} {slip.lesson[:2]} {slip.name}  {verdict.seconds:.1f} s"
                print(line + (f"\n{'':13}{verdict.why}" if verdict.why else ""), flush=True)
                if arguments.all or (arguments.verbose and verdict.word != "told"):
                    print(re.sub(r"(?m)^", "    | ", verdict.report.rstrip()), flush=True)

    for lesson, row in sorted(counts.items()):
        print(f"{lesson:28} {row['told']:3} told {row['not told']:3} not told {row['told falsely']:3} told falsely "
              f"{seconds[lesson]:6.0f} s")  # fmt: skip
    told = sum(row["told"] for row in counts.values())
    falsely = sum(row["told falsely"] for row in counts.values())
    print(f"The true cause in the first failing case: {share(told, len(slips))}; at least {ENOUGH_PERCENT} % should be")
    print(f"A false cause: {share(falsely, len(slips))}; none should be")
    print(f"Time: {time.monotonic() - start:.0f} s")
    return 0 if 100 * told >= ENOUGH_PERCENT * len(slips) and falsely == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
