#!/usr/bin/env python3
"""Holds the pages about findings and the pages for teachers against what the programs do.

    diagnostics_test.py COURSE [--update] [unittest arguments]

COURSE is the built program. Each page docs/diagnostics/CLASS.md shows a program docs/examples/diagnostics/CLASS.cu and
what check mode reports for it. --update writes the reports and the measured sentences into the pages, and the registry
into the list of classes, before the tests.
"""

import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES, PROGRAMS = ROOT / "docs/diagnostics", ROOT / "docs/examples/diagnostics"
INDEX = ROOT / "docs/diagnostics.md"
COURSE = ""
TIMEOUT_SECONDS = 120
LINES_OF_EXAMPLE = 12

# What the counters show is no finding: the pages print parts of the profile.
TRAFFIC = ("bank_conflict", "uncoalesced_load")
# Refused calls are printed without their class; after the program they are unchecked errors, in a lesson findings.
REFUSED = ("bad_copy", "bad_free", "bad_memset", "launch_refused")
OPTIONS = {"endless_loop": ["--seconds", "1"]}

REPORT = re.compile(r"^(<!-- report: (\S+) -->\n```\n)(.*?)(^```\n<!-- /report -->)$", re.DOTALL | re.MULTILINE)
EMPTY_REPORT = re.compile(r"^(<!-- report: \S+ -->\n)(?=<!-- /report -->)", re.MULTILINE)
CLASSES = re.compile(r"^(<!-- classes: ([^\n]+) -->\n)(?:\|.*\n)*(<!-- /classes -->)$", re.MULTILINE)
MEASURED = re.compile(r"^(?:\{measured\}|Measured on an H\d+: .*?)$(?:\n\S.*)*", re.MULTILINE)
EXCERPT = re.compile(r" +\d+ \| ")  # a line of source below a finding
FINDING = re.compile(r"^\S+:\d+: (?:error|warning|note): (\w+): ", re.MULTILINE)
# What changes from run to run or with the compiler: addresses of memory, and which of many threads was stopped.
CHANGING = re.compile(r"0x[0-9a-f]{9,}|thread\s+\(\d+,0,0\)(?=\s+(?:was\s+still\s+running|ran\s+out\s+of\s+stack))")
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")


def registry():
    """The classes of findings, as the program has them: common/simt/classes.hpp."""
    result = subprocess.run([COURSE, "explain", "--json"], cwd=ROOT, capture_output=True, text=True, check=True,
                            timeout=TIMEOUT_SECONDS)  # fmt: skip
    return json.loads(result.stdout)["classes"]


def names_in_sources():
    """Names that the simulator's sources give to a finding beside the registry."""
    simt = ROOT / "common/simt"
    faults = (simt / "runtime/fault.cpp").read_text()
    kinds = faults[faults.index("const char* kind_name") : faults.index("}  // namespace\n")]
    names = set(re.findall(r'return "(\w+)"', kinds)) - {"none", "told", "unknown"}
    for folder in ("runtime", "report", "check"):
        for source in sorted((simt / folder).glob("*.cpp")):
            names |= set(re.findall(r'finding\.kind = "(\w+)"', source.read_text()))
            names |= set(re.findall(r'misuse\(\s*cudaError\w+,\s*"(\w+)"', source.read_text()))
    return names


def index_table(group):
    """The classes of a group, as docs/diagnostics.md lists them."""
    classes = [one for one in registry() if one["group"] == group]
    found = any(one["class"] not in TRAFFIC + REFUSED for one in classes)  # what is refused or counted has no severity
    text = "| class | severity | what it means |\n|---|---|---|\n" if found else "| class | what it means |\n|---|---|\n"
    for one in classes:
        severity = f"{one['severity']} | " if found else ""
        text += f"| [{one['class']}](diagnostics/{one['class']}.md) | {severity}{one['meaning']} |\n"
    return text


def wrap(line, indent=4, width=80):
    """A line of a report as it is printed on a terminal of 80 columns."""
    lines, used = [], ""
    for word in line.split():
        if used.strip() and len(used) + 1 + len(word) > width:
            lines.append(used)
            used = " " * indent
        used += (" " if used.strip() else "") + word
    return "\n".join(lines + [used])


# What follows the finding of an endless loop: how to allow more, which is none of its page's business.
ABOUT_THE_LIMIT = re.compile(r"^simulator: a launch may take .*\n", re.MULTILINE)


def simulate(name, fixed=False):
    mode = "--profile" if name in TRAFFIC else "--check"
    program = (PROGRAMS / f"{name}.cu").relative_to(ROOT)
    words = [COURSE, "simulate", mode, *OPTIONS.get(name, []), str(program), *(["--", "fixed"] if fixed else [])]
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False,
                            env={**os.environ, "NO_COLOR": "1"}, stdin=subprocess.DEVNULL)  # fmt: skip
    result.stderr = ABOUT_THE_LIMIT.sub("", result.stderr)
    return result


def report_of(name):
    """What a page shows of the broken version: all findings, or the parts of the profile about its subject."""
    text = simulate(name).stderr
    if name not in TRAFFIC:
        return "\n".join(line if EXCERPT.match(line) else wrap(line) for line in text.splitlines()) + "\n"
    topic = "Shared memory\n" if name == "bank_conflict" else "Global memory\n"
    paragraphs = text.strip("\n").split("What the columns mean")[0].strip("\n").split("\n\n")
    return "\n\n".join(p for p in paragraphs if p.startswith((topic, "!"))) + "\n"


def measured(name):
    """What compute-sanitizer found of the planted programs of a class; nothing if there is no such program."""
    results = json.loads((ROOT / "docs/results/sanitizer.json").read_text())
    planted = results["programs"]["planted"]
    programs = [program for program in planted.values() if program["class"] == name]
    found = {tool: sum(bool(program[tool].get("reports")) for program in programs) for tool in TOOLS}
    some = sum(any(program[tool].get("reports") for tool in TOOLS) for program in programs)
    by_tool = ", ".join(f"{tool} {count}" for tool, count in found.items() if count)
    if not programs:
        return ""
    many = f"the {len(programs)} planted programs of this class" if len(programs) > 1 else "the one planted program"
    count = f"{some} ({by_tool})" if some else "none"
    gpu = results["gpu"].split()[1]  # NVIDIA H100 80GB HBM3
    return (f"Measured on an {gpu}: of {many}, compute-sanitizer reports {count}; "
            "see [docs/results](../results/README.md).")  # fmt: skip


def fill(paragraph, width=120):
    return wrap(paragraph, 0, width)


def with_tables(index):
    return CLASSES.sub(lambda match: match[1] + index_table(match[2]) + match[3], index)


def update():
    INDEX.write_text(with_tables(INDEX.read_text()))
    for page in sorted(PAGES.glob("*.md")):
        text = EMPTY_REPORT.sub(r"\1```\n```\n", page.read_text())
        text = REPORT.sub(lambda match: match[1] + report_of(page.stem) + match[4], text)
        text = MEASURED.sub(lambda _: fill(measured(page.stem)), text)
        page.write_text(text)


class Pages(unittest.TestCase):
    def test_every_class_has_a_page_and_a_program(self):
        wanted = sorted(one["class"] for one in registry())
        self.assertGreater(len(wanted), 30)
        self.assertEqual(sorted(page.stem for page in PAGES.glob("*.md")), wanted)
        self.assertEqual(sorted(program.stem for program in PROGRAMS.glob("*.cu")), wanted)

    def test_the_registry_has_every_name_that_a_finding_can_have(self):
        names = names_in_sources()
        self.assertGreater(len(names), 20)
        self.assertLessEqual(names, {one["class"] for one in registry()})

    def test_the_registry_says_what_only_counts_and_what_warnings_explain(self):
        classes = registry()
        self.assertEqual(sorted(one["class"] for one in classes if one["counters"]), sorted(TRAFFIC))
        for one in classes:
            self.assertTrue(one["meaning"].endswith("."), one)
            self.assertFalse(one["explains_wrong_results"] and one["severity"] != "warning", one)

    def test_the_index_lists_the_registry(self):
        index = INDEX.read_text()
        self.assertEqual(index, with_tables(index), "run this test with --update")

    def test_the_index_has_every_page_once(self):
        links = re.findall(r"\]\(diagnostics/(\w+)\.md\)", INDEX.read_text())
        self.assertEqual(sorted(links), sorted(page.stem for page in PAGES.glob("*.md")))

    def test_the_table_of_the_simulator_names_classes_that_have_pages(self):
        text = (ROOT / "docs/simulator.md").read_text()
        rows = re.findall(r"^\| ((?:`\w+`(?:, )?)+) \| (?:error|warning|note) \|", text, re.MULTILINE)
        names = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
        self.assertTrue(names)
        for name in names:
            self.assertTrue((PAGES / f"{name}.md").is_file(), name)

    def test_parts(self):
        for page in sorted(PAGES.glob("*.md")):
            with self.subTest(page.name):
                text = page.read_text()
                self.assertTrue(text.startswith(f"# {page.stem}: "))
                self.assertEqual([heading for heading in re.findall(r"^## (.*)$", text, re.MULTILINE)][:3],
                                 ["Example", "Fix", "On a GPU"])  # fmt: skip
                what_it_is = text.split("\n## ")[0].split("\n", 1)[1]
                self.assertGreaterEqual(len(what_it_is.split()), 15)
                broken = re.search(r"<!-- snippet: \S+ broken -->\n```cpp\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
                self.assertLessEqual(len(broken.splitlines()), LINES_OF_EXAMPLE)
                program = f"docs/examples/diagnostics/{page.stem}.cu"
                for part in ("broken", "fixed"):
                    self.assertIn(f"<!-- snippet: {program} {part} -->", text)
                self.assertEqual([found[1] for found in REPORT.findall(text)], [program])
                for line in text.splitlines():
                    self.assertLessEqual(len(line), 120, line)

    def test_severity_in_the_index_and_on_the_page(self):
        index = INDEX.read_text()
        for page in sorted(PAGES.glob("*.md")):
            severity = re.search(r"^Severity: (\w+)$", page.read_text(), re.MULTILINE)
            if severity is None:
                self.assertIn(page.stem, TRAFFIC + REFUSED)
                continue
            with self.subTest(page.name):
                self.assertRegex(index, rf"\[{page.stem}\]\(diagnostics/{page.stem}\.md\) \| {severity[1]} \|")
                shown = re.search(rf"\b(\w+): {page.stem}: ", REPORT.search(page.read_text())[3])
                self.assertEqual(shown[1], severity[1])

    def test_what_was_measured(self):
        for page in sorted(PAGES.glob("*.md")):
            sentence = measured(page.stem)
            if page.stem == "device_pointer_on_host":  # there the tools report the crash of the program alone
                continue
            with self.subTest(page.name):
                self.assertEqual("Measured on an H" in page.read_text(), sentence != "")
                self.assertIn(sentence, " ".join(page.read_text().split()))


class Programs(unittest.TestCase):
    """One test for each program would be no clearer: the subtest's name says which it is."""

    def test_what_the_page_shows_is_what_is_reported(self):
        for page in sorted(PAGES.glob("*.md")):
            with self.subTest(page.stem):
                shown = REPORT.search(page.read_text())[3]
                expected, text = (CHANGING.sub("...", part) for part in (shown, report_of(page.stem)))
                if CHANGING.search(shown):  # then lines may be broken at other places
                    expected, text = " ".join(expected.split()), " ".join(text.split())
                self.assertEqual(expected, text)

    def test_the_broken_version_has_this_finding_and_no_other(self):
        for program in sorted(PROGRAMS.glob("*.cu")):
            with self.subTest(program.stem):
                text = simulate(program.stem).stderr
                if program.stem in TRAFFIC:
                    self.assertIn("\n! line ", text)
                elif program.stem in REFUSED:
                    self.assertRegex(text, rf"\Asimulator: {program.stem}\.cu:\d+: .*\n\Z")
                else:
                    self.assertEqual(set(FINDING.findall(text)), {program.stem}, text)
                    self.assertNotIn("simulator:", text)

    def test_the_fixed_version_is_clean(self):
        for program in sorted(PROGRAMS.glob("*.cu")):
            with self.subTest(program.stem):
                result = simulate(program.stem, fixed=True)
                self.assertEqual(result.returncode, 0, result.stderr)
                if program.stem in TRAFFIC:
                    self.assertIn("\nNo line stands out.\n", result.stderr)
                    self.assertNotIn("mistake", result.stderr)
                else:
                    self.assertEqual(result.stderr, "")


class Instructors(unittest.TestCase):
    TABLE = re.compile(r"<!-- table: lessons -->\n(.*?)<!-- /table -->", re.DOTALL)

    def test_the_table_agrees_with_the_lessons(self):
        text = (ROOT / "docs/instructors.md").read_text()
        shown = self.TABLE.search(text)[1].strip().splitlines()[2:]
        lessons = [(file.parent.name, json.loads(file.read_text()))
                   for file in sorted((ROOT / "lessons").glob("[0-9][0-9]_*/lesson.json"))]  # fmt: skip
        rows = [f"| [{lesson['number']:02} {lesson['title']}](../lessons/{folder}/README.md) | {lesson['part']} "
                f"| {lesson['minutes']} | {lesson['points']} |" for folder, lesson in lessons]  # fmt: skip
        minutes, points = (sum(lesson[key] for _, lesson in lessons) for key in ("minutes", "points"))
        self.assertEqual(shown, rows + [f"| all | | {minutes} | {points} |"])

    def test_the_weeks_have_every_lesson_once_and_add_up(self):
        text = (ROOT / "docs/instructors.md").read_text()
        files = (ROOT / "lessons").glob("[0-9][0-9]_*/lesson.json")
        minutes = {lesson["number"]: lesson["minutes"] for lesson in (json.loads(file.read_text()) for file in files)}
        weeks = re.findall(r"^\| \d+ \| ([\d, ]+) \| (\d+) \| [a-z]", text, re.MULTILINE)
        taught = [int(number) for lessons, _ in weeks for number in lessons.split(", ")]
        self.assertEqual(taught, sorted(minutes))
        for lessons, sum_of_week in weeks:
            self.assertEqual(sum(minutes[int(number)] for number in lessons.split(", ")), int(sum_of_week))
        forward = re.search(r"the forward pass: (\d+)\s+minutes", text)
        self.assertEqual(int(forward[1]), sum(minutes[number] for number in range(1, 14)))


if __name__ == "__main__":
    COURSE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if "--update" in sys.argv:
        sys.argv.remove("--update")
        update()
    unittest.main()
