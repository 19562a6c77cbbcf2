#!/usr/bin/env python3
"""Tells what a lesson still lacks: files, fields, parts of its notes, mutants and alternatives. Whether mutants fit the
solution and are told apart, `course judge` checks; whether the stub is what the solution gives, grading_test."""

import functools
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FIELDS = {"number": int, "name": str, "title": str, "part": int, "minutes": int, "points": int, "needs": list,
          "prerequisites": list, "entries": list}
NEEDS = {"simulator", "gpu", "sm_80", "sm_90a"}
SHARED_BY_TESTS = ROOT / "tests" / "lessons" / "attention"
FEWEST_MUTANTS = 4
PARTS_OF_NOTES = ["What you will be able to do", "The idea", "On the machine", "The contract", "Your turn",
                  "What goes wrong", "How fast, and why", "In Triton", "Going on"]
HINTS = range(3, 6)
MOST_WORDS = 2500  # of the notes, without code
MOST_MISTAKES = 5  # in the notes; mistakes.md has all
MOST_TODOS = 5     # without a table of milestones
TEST_CASE = re.compile(r'\bTEST_CASE\(\s*"((?:[^"\\]|\\.)*)",\s*"([^"]*)"')  # name and tags
SIMULATOR = ROOT / "common" / "simt"


def check_description(lesson, description, numbers):
    for field, kind in FIELDS.items():
        if not isinstance(description.get(field), kind):
            yield f"lesson.json: {field} should be there, as {kind.__name__}"
            return
    if not isinstance(description.get("gradients", True), bool):
        yield "lesson.json: gradients should be true, or not be there"
    for field in description.keys() - FIELDS.keys() - {"gradients"}:
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
    total = 0
    for name, tags in TEST_CASE.findall(text):
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
    if description.get("gradients", False) != bool(re.search(r"^COURSE_GRADCHECK\(", text, re.MULTILINE)):
        yield f'{test.name}: a line begins with COURSE_GRADCHECK( if lesson.json has "gradients": true, and only then'


def check_stub(stub):
    """That a stub is what its solution gives, grading_test checks: the generator is a part of the grader."""
    if "// TODO" not in stub.read_text(encoding="utf-8"):
        yield f"{stub.name}: the stub has no TODO"


@functools.cache
def finding_kinds():
    """Names that the simulator's sources quote: its classes of findings are among them."""
    return {name for file in SIMULATOR.rglob("*.[hc]pp") for name in re.findall(r'"(\w+)"', file.read_text(encoding="utf-8"))}


def check_mutants(folder, test):
    mutants = sorted(folder.glob("*.mutant"))
    if len(mutants) < FEWEST_MUTANTS:
        yield f"{folder.relative_to(ROOT)}: {len(mutants)} mutants; a lesson has at least {FEWEST_MUTANTS}"
    for stray in sorted(set(folder.glob("*")) - set(mutants)):
        yield f"{stray.relative_to(ROOT)}: a mutant is an edit of the solution, in a file *.mutant"
    known = finding_kinds()
    for source in [test, *(test.parent / folder.name).glob("*.cpp"), *SHARED_BY_TESTS.glob("*.[hc]pp")]:
        known |= set(re.findall(r'"(\w+)"', source.read_text(encoding="utf-8")))
    cases = {name for name, _ in TEST_CASE.findall(test.read_text(encoding="utf-8"))}
    for mutant in mutants:
        text = mutant.read_text(encoding="utf-8")
        for name in re.findall(r"^case: (.*)$", text, re.MULTILINE):
            if name.replace('"', '\\"') not in cases:
                yield f"{mutant.relative_to(ROOT)}: the lesson's test has no such case: {name}"
        for name in re.findall(r"^diagnosis(?:-gpu)?: (.*)$", text, re.MULTILINE):
            if name not in known:
                yield f"{mutant.relative_to(ROOT)}: neither a mistake of the lesson's test nor a finding of the simulator: {name}"


def words_of(text):
    """The number of words in a page: without code, comments, numbers, and where links and pictures are."""
    for pattern in (r"(?ms)^\s*```.*?^\s*```$", r"(?s)<!--.*?-->", r"(?s)<img[^>]*>", r"\]\([^)]*\)"):
        text = re.sub(pattern, "", text)
    return sum(bool(re.search("[A-Za-z]", word)) for word in text.split())


def rows_of(text):
    """The rows of a text's tables, heads among them."""
    return [line for line in text.split("\n") if line.startswith("| ")]


def check_mistakes(notes, mistakes):
    """The commonest stand in the notes, as mistakes.md has them."""
    told = rows_of(notes.partition("## What goes wrong")[2].partition("\n## ")[0])
    if len(told) - 1 > MOST_MISTAKES:
        yield f"README.md: {len(told) - 1} mistakes; the {MOST_MISTAKES} commonest are enough, mistakes.md has all"
    for row in set(told) - set(rows_of(mistakes)):
        yield f"mistakes.md: a mistake of the notes is not there, or in other words: {row[:60]}"
    heads = len(re.findall(r"^\|-", mistakes, re.MULTILINE))
    more = len(rows_of(mistakes)) - heads - (len(told) - 1)
    if (said := re.search(r"\[(\w+) more\]\(mistakes\.md\)", notes)) and said[1] != str(more):
        yield f"README.md: {said[1]} more mistakes are said to be in mistakes.md, but there are {more}"


def check_tables(page, text):
    """A table whose head stands in a line of text is not shown as a table."""
    for above in re.findall(r"^(.*)\n\|-[-|: ]*\|$", text, re.MULTILINE):
        if not above.startswith("|"):
            yield f"{page}: the head of a table begins a line of its own, but here it stands in: {above[:60]}"


def check_notes(notes, hints, solution):
    text = notes.read_text(encoding="utf-8")
    if (count := words_of(text)) > MOST_WORDS:
        yield f"README.md: {count} words; {MOST_WORDS} at most, and what is for owners of a GPU goes to gpu.md"
    todos = len(re.findall(r"^\s*// TODO \d+", solution.read_text(encoding="utf-8"), re.MULTILINE))
    if todos > MOST_TODOS and "<!-- value: milestone:" not in text:
        yield f"README.md: {todos} TODOs, but no table of milestones"
    for page in ("gpu.md", "mistakes.md"):
        if f"]({page}" not in text:
            yield f"README.md: no link to {page}"
    yield from check_mistakes(text, (notes.parent / "mistakes.md").read_text(encoding="utf-8"))
    for page in sorted(notes.parent.glob("*.md")):
        yield from check_tables(page.name, page.read_text(encoding="utf-8"))
    parts = re.findall(r"^## (.*)$", text, re.MULTILINE)
    if parts != PARTS_OF_NOTES:
        yield f"README.md: its parts should be {', '.join(PARTS_OF_NOTES)}; they are {', '.join(parts)}"
    if "<!-- snippet: " not in text:
        yield "README.md: no code from the lesson's files; the contract should be there"
    if not re.search(r'<img [^>]*src="[^"]*\.svg"[^>]*alt="', text):
        yield "README.md: no figure with an alternative text"
    count = len(re.findall(r"^## ", hints.read_text(encoding="utf-8"), re.MULTILINE))
    if count not in HINTS:
        yield f"hints.md: {count} hints; there should be {HINTS.start} to {HINTS.stop - 1}, each under a heading"


def check_alternatives(folder):
    if not any(folder.glob("*.cu")):
        yield f"{folder.relative_to(ROOT)}: no other correct kernel, so that nothing shows that the tests accept one"


def check_lesson(lesson, descriptions):
    folder = ROOT / "lessons" / lesson
    description = descriptions[lesson]
    yield from check_description(lesson, description, {d.get("number") for d in descriptions.values()})
    name = lesson[3:]
    solution = ROOT / "solutions" / lesson / f"{name}.cu"
    test = ROOT / "tests" / "lessons" / f"{lesson}_test.cpp"
    missing = [f for f in (folder / "README.md", folder / "hints.md", folder / "gpu.md",
                           folder / "mistakes.md", folder / f"{name}.hpp", folder / f"{name}.cu",
                           solution, test) if not f.is_file()]
    for file in missing:
        yield f"{file.relative_to(ROOT)} is missing"
    if missing:
        return
    yield from check_points(description, test)
    yield from check_stub(folder / f"{name}.cu")
    yield from check_mutants(ROOT / "tests" / "lessons" / "mutants" / lesson, test)
    yield from check_alternatives(ROOT / "tests" / "lessons" / "alternatives" / lesson)
    yield from check_notes(folder / "README.md", folder / "hints.md", solution)


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
