#!/usr/bin/env python3
"""Measures how many points a lesson's file has after some of its TODOs, for the tables of milestones in the notes.

The file after TODO n is the solution with the answers of TODO 1 to n, and what the stub has in place of the others. It
is checked in the simulator. MILESTONES says after which TODOs; where the notes advise another order than the numbers',
ORDER has it.

Usage: scripts/measure_milestones.py [NN ...]     (default: all lessons)
Writes docs/results/milestones.json, where lessons that are not named keep what they have; `scripts/update_tables.py` then
fills the notes' tables.
Exit status: 0 measured, 1 a file could not be checked.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

from options import check_words

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULT = ROOT / "docs" / "results" / "milestones.json"
MILESTONES = {1: [4], 2: [3, 5], 3: [5], 5: [7], 6: [4], 9: [4], 11: [7], 14: [2, 7], 15: [1, 9, 14, 20], 16: [7], 17: [7, 10, 5], 18: [5, 4], 20: [4], 21: [3, 8], 22: [9], 23: [5, 6, 8, 11], 30: [4, 6]}
ORDER = {16: [1, 2, 3, 4, 7, 5, 6, 8], 17: [1, 6, 7, 8, 9, 10, 3, 4, 5, 2], 18: [8, 1, 2, 5, 3, 4, 6, 7],
         21: [1, 2, 3, 9, 10, 5, 6, 7, 8, 4], 22: [2, 3, 4, 5, 6, 7, 8, 9, 1]}  # as the notes advise
# What a part has that belongs to a later TODO, and what stands there until that is answered.
LATER = {15: [(21, "causal && ", "false && ")]}
TODO = re.compile(r"^\s*// TODO (\d+)\b")


class Unmeasured(Exception):
    """A file that could not be checked; the message says which and why."""


def todos_of(solution: str) -> list[int]:
    return [int(match.group(1)) for line in solution.splitlines() if (match := TODO.match(line))]


def with_answers(solution: str, answered: set[int]) -> str:
    """The file of a student who has answered some TODOs: there the solution's lines, elsewhere the stub's.

    A part that answers several TODOs is there from the first of them on, and what stands in a `[cut]` always is.
    """
    lines, todos, answering, answer = [], set(), False, False
    for line in solution.splitlines(keepends=True):
        bare = line.strip()
        if match := TODO.match(line):
            todos.add(int(match.group(1)))
            lines.append(line)
            answering = answer = True
        elif bare in ("// [cut]", "// [done]"):
            todos, answering = set(), False
        elif answering and answer and bare.startswith("// stub|"):
            if not todos & answered:
                lines.append(line.replace("// stub|", "").rstrip() + "\n")
        else:
            answer = False
            if not answering or todos & answered:
                lines.append(line)
    return "".join(lines)


def points_of(lesson: dict, text: str, work: pathlib.Path) -> int:
    """The points that `./course check` gives to a file."""
    file, report = work / f"{lesson['name']}.cu", work / "report.json"
    file.write_text(text, encoding="utf-8")
    report.unlink(missing_ok=True)
    done = subprocess.run([ROOT / "course", "check", str(lesson["number"]), "--file", file, "--backend", "cpu", "--json", report],
                          cwd=ROOT, capture_output=True, text=True, check=False)
    if not report.is_file():
        raise Unmeasured(done.stderr.strip() or done.stdout.strip())
    result = json.loads(report.read_text(encoding="utf-8"))["lessons"][0]
    if result["cases"][0]["name"] in ("compiles", "the tests run to their end"):  # what stands there if they did not
        raise Unmeasured(f"lesson {lesson['number']:02}: the tests did not run to their end")
    return result["points"]


def measure(lesson: dict, folder: str) -> dict:
    solution = (ROOT / "solutions" / folder / f"{lesson['name']}.cu").read_text(encoding="utf-8")
    order = ORDER.get(lesson["number"], sorted(todos_of(solution)))
    if sorted(order) != sorted(todos_of(solution)):
        raise Unmeasured(f"lesson {lesson['number']:02}: the order {order} is not that of its TODOs")
    rows = []
    with tempfile.TemporaryDirectory() as work:
        for i, todo in enumerate(order):
            if todo not in [*MILESTONES.get(lesson["number"], []), order[-1]]:
                continue
            text = with_answers(solution, set(order[: i + 1]))
            for later, answer, until_then in LATER.get(lesson["number"], []):
                if later not in order[: i + 1]:
                    text = text.replace(answer, until_then)
            points = points_of(lesson, text, pathlib.Path(work))
            rows.append({"todo": todo, "points": points})
            print(f"lesson {lesson['number']:02}, after TODO {todo}: {points} of {lesson['points']} points", flush=True)
    if rows[-1]["points"] != lesson["points"]:
        raise Unmeasured(f"lesson {lesson['number']:02}: with all answers it has {rows[-1]['points']} of {lesson['points']} points")
    return {"points": lesson["points"], "after": rows}


def keep(number: int, result: dict) -> None:
    """Puts the result of a lesson into the file, beside those of the others."""
    measured = json.loads(RESULT.read_text(encoding="utf-8")) if RESULT.is_file() else {}
    measured[f"{number:02}"] = result
    RESULT.write_text(json.dumps(dict(sorted(measured.items())), indent=1) + "\n", encoding="utf-8")


def main() -> int:
    check_words()
    wanted = {int(number) for number in sys.argv[1:]}
    status = 0
    for file in sorted((ROOT / "lessons").glob("*/lesson.json")):
        lesson = json.loads(file.read_text(encoding="utf-8"))
        if wanted and lesson["number"] not in wanted:
            continue
        try:
            keep(lesson["number"], measure(lesson, file.parent.name))
        except Unmeasured as problem:
            print(problem, file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
