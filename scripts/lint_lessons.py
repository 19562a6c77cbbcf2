#!/usr/bin/env python3
"""Tells what a lesson still lacks: files, fields, mutants, and a stub that solving only adds lines to."""

import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = {"number": int, "name": str, "title": str, "part": int, "minutes": int, "points": int, "needs": list,
          "prerequisites": list, "entries": list}
NEEDS = {"simulator", "gpu", "sm_80", "sm_90a"}
FEWEST_MUTANTS = 4


def check_description(lesson, description, numbers):
    for field, kind in FIELDS.items():
        if not isinstance(description.get(field), kind):
            yield f"lesson.json: {field} should be there, as {kind.__name__}"
            return
    for field in description.keys() - FIELDS.keys():
        yield f"lesson.json: {field} is a field that nothing reads"
    if lesson != f"{description['number']:02}_{description['name']}":
        yield "lesson.json: number and name do not make the folder's name"
    for need in set(description["needs"]) - NEEDS:
        yield f"lesson.json: needs {need}, which is none of {', '.join(sorted(NEEDS))}"
    for number in description["prerequisites"]:
        if number not in numbers or number >= description["number"]:
            yield f"lesson.json: prerequisite {number} is no earlier lesson"
    if not description["entries"]:
        yield "lesson.json: no entries, so that there is nothing to call"


def check_points(description, test):
    """The points of the cases, as far as the source shows them; `course judge` checks the sum that really ran."""
    text = test.read_text(encoding="utf-8")
    if "TEMPLATE_" in text:
        return
    cases = re.findall(r'\bTEST_CASE\(\s*"((?:[^"\\]|\\.)*)",\s*"([^"]*)"', text)
    total = 0
    for name, tags in cases:
        points = re.findall(r"\[points:(\d+)\]", tags)
        if len(points) != 1:
            yield f'{test.name}: "{name}" should have one tag [points:N]'
        if f"[l{description['number']:02}]" not in tags:
            yield f'{test.name}: "{name}" should have the tag [l{description["number"]:02}]'
        total += sum(map(int, points))
    if total != description["points"]:
        yield f"lesson.json: points is {description['points']}, but the cases have {total} in all"
    if "COURSE_RUN(" not in text:
        yield f"{test.name}: no COURSE_RUN, so that `./course run` cannot work"


def without_todos(text):
    """Lines of a stub, less its TODO comments and their further lines, and less empty lines."""
    in_todo = False
    for number, line in enumerate(text.splitlines(), 1):
        bare = line.strip()
        in_todo = bare.startswith("// TODO") or (in_todo and bare.startswith("//"))
        if bare and not in_todo:
            yield number, line.rstrip()


def check_stub(stub, solution):
    rest = iter([line.rstrip() for line in solution.read_text(encoding="utf-8").splitlines()])
    text = stub.read_text(encoding="utf-8")
    if "// TODO" not in text:
        yield f"{stub.name}: the stub has no TODO"
    for number, line in without_todos(text):
        if not any(line == other for other in rest):  # takes lines off `rest` up to the one that fits
            yield f"{stub.name}:{number}: the solution has no such line here, so that solving would change it: {line.strip()}"
            return


def check_mutants(lesson, folder):
    mutants = sorted(folder.glob("*.cu"))
    if len(mutants) < FEWEST_MUTANTS:
        yield f"{folder.relative_to(ROOT)}: {len(mutants)} mutants; a lesson has at least {FEWEST_MUTANTS}"
    for mutant in mutants:
        lines = mutant.read_text(encoding="utf-8").splitlines()
        if not lines or not lines[0].startswith(f"// Mutant of lesson {lesson[:2]}: "):
            yield f'{mutant.relative_to(ROOT)}: the first line should be "// Mutant of lesson {lesson[:2]}: <what is wrong>"'
        if not any(line.startswith("// Expect: ") for line in lines):
            yield f'{mutant.relative_to(ROOT)}: no line "// Expect: <words of the message that rejects it>"'


def check_lesson(lesson, descriptions):
    folder = ROOT / "lessons" / lesson
    description = descriptions[lesson]
    yield from check_description(lesson, description, {d.get("number") for d in descriptions.values()})
    name = lesson[3:]
    solution = ROOT / "solutions" / lesson / f"{name}.cu"
    test = ROOT / "tests" / "lessons" / f"{lesson}_test.cpp"
    missing = [f for f in (folder / "README.md", folder / "hints.md", folder / f"{name}.hpp", folder / f"{name}.cu",
                           solution, test) if not f.is_file()]
    for file in missing:
        yield f"{file.relative_to(ROOT)} is missing"
    if missing:
        return
    yield from check_points(description, test)
    yield from check_stub(folder / f"{name}.cu", solution)
    yield from check_mutants(lesson, ROOT / "tests" / "lessons" / "mutants" / lesson)


def main():
    descriptions, found = {}, []
    for folder in sorted((ROOT / "lessons").iterdir()):
        try:
            descriptions[folder.name] = json.loads((folder / "lesson.json").read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            found.append(f"lessons/{folder.name}: lesson.json: {error}")
    for lesson in descriptions:
        found.extend(f"lesson {lesson}: {problem}" for problem in check_lesson(lesson, descriptions))
    print("\n".join(found) or f"{len(descriptions)} lessons, nothing missing")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
