#!/usr/bin/env python3
"""Hands in every hostile submission, each as a student of one class, and holds what comes out against its first lines.

    hostile_test.py COURSE [--right] [--all] [--any-words] [--only NAME...] [--every N] [--keep FOLDER]

The class begins and ends with an honest student, who must have all points of the first lesson; among right submissions,
each of which needs its own points, there is none. Files that are slow to judge are left out, and named, unless --all is
given. Many files have a word that no lesson's file may have, and are refused for it; with --any-words, no word is
refused, and they are held against the rest of their lines. Where the sandbox does not work, the test says "skipped" and
why. Exit status: 0 or 1.
"""

import argparse
import dataclasses
import fnmatch
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import zlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

import edits  # noqa: E402

MACHINE_LACKS = 3
FIRST = 1  # the lesson that honest students hand in
STANDINGS = {"fail": "graded", "pass": "graded", "refused": "refused", "not_compiled": "not_compiled"}
CANARY = pathlib.Path(tempfile.gettempdir()) / "course-hostile-fill"  # what the disk fillers would write


class Hostile:
    """One file of the corpus: what it hands in, and what must come out where words are examined, or are not."""

    def __init__(self, file, any_words):
        if file.one("word") and not any_words:
            kept = {key: value for key, value in file.fields.items() if key not in ("most", "slow")}
            file = dataclasses.replace(file, fields={**kept, "verdict": ["not_compiled"], "says": file.fields["word"]})
        self.name, self.fields, self.one, self.text = file.name, file.fields, file.one, file.text
        if grow := self.one("grow"):
            head, last = self.text.rstrip("\n").rsplit("\n", 1)
            self.text = head + "\n" + last * ((int(grow) - len(head)) // len(last) + 1) + "\n"
        self.lesson, self.verdict = int(self.one("lesson")), self.one("verdict").split()[0]

    def problems(self, results):
        """What is wrong with the results of the student who handed this in, a sentence each."""
        lesson = lesson_of(results, self.lesson)
        told = " ".join(" ".join(test.get("output", "") for test in results["tests"]).split())
        if lesson["standing"] != STANDINGS[self.verdict]:
            yield f"is {lesson['standing']}, and should be {STANDINGS[self.verdict]}: {told[:300]}"
            return
        full = lesson["points"] == lesson["max_points"]
        if full != (self.verdict == "pass"):
            yield f"has {lesson['points']:g} of {lesson['max_points']:g} points, verdict: {self.verdict}; {told[:300]}"
        if (most := self.one("most")) and lesson["points"] > float(most):
            yield f"has {lesson['points']:g} points, and may have {most}; {told[:300]}"
        for words in self.fields.get("says", []):
            if " ".join(words.split()) not in told:
                yield f'nothing says "{words}": {told[:300]}'
        everything = json.dumps(results, ensure_ascii=False)
        for words in self.fields.get("never", []):
            if words.replace("\\x1b", "\x1b") in everything:
                yield f'something says "{words}"'


def some_of_each_trick(corpus, every):
    """About one in so many, at least one of each trick: by a checksum, so that a new file hardly changes the choice."""

    def rank(hostile):
        return zlib.crc32(hostile.name.encode()) % every

    least = {}
    for hostile in corpus:
        trick = hostile.one("trick")
        if trick not in least or rank(hostile) < rank(least[trick]):
            least[trick] = hostile
    return [hostile for hostile in corpus if rank(hostile) == 0 or hostile in least.values()]


def lesson_of(results, number):
    """What a student's results say of one lesson."""
    [lesson] = [one for one in results["extra_data"]["lessons"] if one["lesson"].startswith(f"{number:02}_")]
    return lesson


def write_class(folder, submissions, lesson_names, honest_ones):
    """One student for each submission, by its own name."""

    def hand_in(student, lesson, text):
        (folder / student).mkdir(parents=True)
        (folder / student / f"{lesson_names[lesson]}.cu").write_text(text, encoding="utf-8")

    for hostile in submissions:
        hand_in(hostile.name, hostile.lesson, hostile.text)
    for student in honest_ones:
        [solution] = (ROOT / "solutions" / lesson_names[FIRST]).glob("*.cu")
        # Two files that are the same are judged once.
        hand_in(student, FIRST, solution.read_text(encoding="utf-8") + f"// {student}\n")


def grade(course, submissions, out, any_words):
    jobs = 2 * len(os.sched_getaffinity(0))  # half of the time, a sandbox waits to be there, or a file for its end
    command = [course, "grade", submissions, "--out", out, "--jobs", str(jobs)] + ["--any-words"] * any_words
    if os.geteuid() == 0:
        command.append("--as-root")
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                          check=False)  # fmt: skip


def check_class(course, folder, submissions, lesson_names, honest_ones, any_words):
    """Grades the submissions. Returns what is wrong, a sentence each; None if there is no sandbox here."""
    write_class(folder / "class", submissions, lesson_names, honest_ones)
    run = grade(course, folder / "class", folder / "results", any_words)
    if run.returncode == MACHINE_LACKS and "worked solution" not in run.stdout:
        print(f"skipped: {' '.join(run.stdout.split())}")
        return None
    problems = [] if run.returncode == 0 else [f"exit status {run.returncode}: {run.stdout[-500:]}"]

    def results_of(student):
        return json.loads((folder / "results" / student / "results.json").read_text(encoding="utf-8"))

    for hostile in submissions:
        problems += [f"{hostile.name}: {problem}" for problem in hostile.problems(results_of(hostile.name))]
    for student in honest_ones:
        if (lesson := lesson_of(results_of(student), FIRST))["points"] != lesson["max_points"]:
            problems.append(f"{student}: has {lesson['points']:g} points only")
    return problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("course")
    parser.add_argument("--all", action="store_true", help="also those that are slow to judge")
    parser.add_argument("--any-words", action="store_true", help="does not refuse words that are no CUDA C++")
    parser.add_argument("--only", nargs="+", default=[], help="names of files, or patterns such as [a-l]*")
    parser.add_argument("--right", action="store_true", help="hand in the right submissions of tests/grading/right")
    parser.add_argument("--every", type=int, default=1, help="about one in so many, the same whichever others there are")
    parser.add_argument("--keep", help="folder for the class and its results")
    arguments = parser.parse_args()
    files = edits.right_files() if arguments.right else edits.hostile_files()
    corpus = [Hostile(file, arguments.any_words) for file in files]
    patterns = arguments.only or ["*"]
    chosen = [hostile for hostile in corpus if any(fnmatch.fnmatch(hostile.name, pattern) for pattern in patterns)]
    if not arguments.all:
        for hostile in chosen:
            if hostile.one("slow"):
                print(f"left out without --all: {hostile.name}, {hostile.one('slow')}")
        chosen = [hostile for hostile in chosen if not hostile.one("slow")]
    chosen = some_of_each_trick(chosen, arguments.every)
    lesson_names = {int(path.name[:2]): path.name for path in (ROOT / "lessons").glob("[0-9][0-9]_*")}
    honest_ones = [] if arguments.right else ["0 honest", "zz honest"]
    with tempfile.TemporaryDirectory(prefix="course-hostile-") as scratch:
        problems = check_class(arguments.course, pathlib.Path(arguments.keep or scratch), chosen, lesson_names,
                               honest_ones, arguments.any_words)  # fmt: skip
    if problems is None:
        return 0
    if CANARY.exists():
        problems.append(f"{CANARY} was written")
    for problem in problems:
        print(problem)
    print(f"{len(chosen)} submissions judged, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
