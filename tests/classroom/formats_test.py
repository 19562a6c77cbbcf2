#!/usr/bin/env python3
"""Reads the results of a made-up class with readers that know nothing of this project.

Usage: formats_test.py EXPORT_SAMPLES

EXPORT_SAMPLES writes every format into a folder. Tables are read by Python's csv module, JSON by json and a schema
(python3-jsonschema), JUnit XML by python3-junitparser, by Python's own parser and by xmllint with a schema
(libxml2-utils), Markdown by python3-markdown-it. What is not installed is named on a line that begins with
"skipped:". Exit status: 0 all well, 1 something is wrong.
"""

import csv
import importlib
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SCHEMAS = pathlib.Path(__file__).resolve().parent / "schemas"
PROGRAM = FOLDER = None
LESSONS = ["01_vector_add", "05_online_softmax"]


def optional(module, package):
    """The module, or None with a line that names the package which has it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        print(f"skipped: what needs {module} (Debian package {package})")
        return None


jsonschema = optional("jsonschema", "python3-jsonschema")
junitparser = optional("junitparser", "python3-junitparser")
markdown_it = optional("markdown_it", "python3-markdown-it")
XMLLINT = shutil.which("xmllint")
if not XMLLINT:
    print("skipped: what needs xmllint (Debian package libxml2-utils)")


def read_text(path):
    """The file's text; fails if it is not UTF-8. Line ends stay."""
    return path.read_bytes().decode("utf-8")


def read_rows(name):
    """The table's rows, as Python's csv module reads them, insisting on the rules."""
    return list(csv.reader(io.StringIO(read_text(FOLDER / name), newline=""), strict=True))


def students():
    """The folders of the students."""
    return sorted(path for path in FOLDER.iterdir() if path.is_dir())


def looks_like_formula(cell):
    """Whether a spreadsheet would compute the cell, or a part of it if its separator is another one."""
    if cell.replace(".", "", 1).lstrip("-").isdigit():
        return False
    for part in cell.replace("\t", ";").replace("\r", ";").replace("\n", ";").split(";"):
        if part.lstrip(" ").startswith(("=", "+", "-", "@")):
            return True
    return cell.startswith(("\t", "\r", "\n"))


class Tables(unittest.TestCase):
    """grades.csv, canvas.csv and the worksheet, through the csv module."""

    def test_every_table_has_rows_of_one_length_and_no_formulas(self):
        for name in ["grades.csv", "canvas.csv", "canvas_filled.csv"]:
            with self.subTest(name=name):
                rows = read_rows(name)
                self.assertEqual({len(row) for row in rows}, {len(rows[0])})
                self.assertEqual([cell for row in rows for cell in row if looks_like_formula(cell)], [])
                self.assertFalse(any(ord(c) == 0 for row in rows for cell in row for c in cell))

    def test_grades_hold_each_student_and_lesson_once(self):
        table = list(csv.DictReader(io.StringIO(read_text(FOLDER / "grades.csv"), newline=""), strict=True))
        self.assertEqual([row["lesson"] for row in table], LESSONS * len(students()))
        by_key = {(row["id"], row["lesson"]): row for row in table}
        self.assertEqual(by_key["1002", "01_vector_add"]["points"], "6")
        self.assertEqual(by_key["1002", "01_vector_add"]["late"], "yes")
        self.assertEqual(by_key["1003", "05_online_softmax"]["points"], "")
        self.assertEqual(by_key["1003", "01_vector_add"]["points"], "0")
        self.assertEqual(by_key["1001", "05_online_softmax"]["failed_cases"].count(";"), 2)
        self.assertIn("'=cmd|' /C calc'!A0", [row["student"] for row in table])

    def test_canvas_has_the_columns_that_canvas_expects(self):
        rows = read_rows("canvas.csv")
        self.assertEqual(rows[0], ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", "01 Vector add",
                                   "05 Online softmax"])
        self.assertEqual(rows[1], ["    Points Possible", "", "", "", "", "8", "6"])
        self.assertEqual(rows[4], ["Çelik Öznur", "1003", "", "", "", "0", ""])

    def test_a_gradebook_keeps_its_identities_and_what_is_not_known(self):
        rows = read_rows("canvas_filled.csv")
        self.assertEqual(rows[0][5:], ["Lesson 1: Vector add (77)", "05 Online softmax"])
        grades = {row[1]: row[5:] for row in rows[2:]}
        self.assertEqual(grades, {"1001": ["8", "4"], "1002": ["EX", "0"], "900": ["0", ""], "901": ["4", ""],
                                  "902": ["", ""]})
        self.assertIn(["Ode, Ben \"B\"", "1002", "s2", "ben", "Section A", "EX", "0"], rows)

    def test_the_worksheet_differs_only_in_grades_and_comments(self):
        before, after = read_rows("worksheet.csv"), read_rows("moodle.csv")
        self.assertEqual(len(before), len(after))
        for old, new in zip(before, after):
            self.assertEqual(old[:4] + old[5:9], new[:4] + new[5:9])
        self.assertEqual([row[4] for row in after], ["Grade", "85.71", "42.86", "", ""])
        self.assertIn("which makes a grade of 42.86 of 100", after[2][9])
        lines = read_text(FOLDER / "worksheet.csv").split("\n"), read_text(FOLDER / "moodle.csv").split("\n")
        self.assertEqual([lines[0][i] for i in (0, 3, 4)], [lines[1][i] for i in (0, 3, 4)])


class Gradescope(unittest.TestCase):
    """results.json."""

    def results(self):
        for folder in students():
            yield folder.name, json.loads(read_text(folder / "results.json"))

    @unittest.skipUnless(jsonschema, "python3-jsonschema")
    def test_results_fit_the_schema(self):
        schema = json.loads(read_text(SCHEMAS / "gradescope.schema.json"))
        jsonschema.Draft7Validator.check_schema(schema)
        for name, results in self.results():
            with self.subTest(student=name):
                jsonschema.validate(results, schema)

    @unittest.skipUnless(jsonschema, "python3-jsonschema")
    def test_the_schema_refuses_what_gradescope_does_not_know(self):
        schema = json.loads(read_text(SCHEMAS / "gradescope.schema.json"))
        good = {"name": "a", "score": 0, "max_score": 1, "status": "failed"}
        jsonschema.validate({"tests": [good]}, schema)
        for bad in [{}, {"score": "1"}, {"score": 1, "max_score": 2}, {"score": 1, "stdout_visibility": "no"},
                    {"tests": [{**good, "status": "error"}]}, {"tests": [{**good, "visibility": "never"}]}]:
            with self.subTest(bad=bad), self.assertRaises(jsonschema.ValidationError):
                jsonschema.validate(bad, schema)

    def test_scores_add_up_and_numbers_are_unique(self):
        for name, results in self.results():
            with self.subTest(student=name):
                numbers = [test["number"] for test in results["tests"]]
                self.assertEqual(len(set(numbers)), len(numbers))
                self.assertEqual(sum(test["max_score"] for test in results["tests"]), 14)
                known = [lesson["points"] or 0 for lesson in results["extra_data"]["lessons"]]
                self.assertAlmostEqual(sum(known), results["score"])

    def test_nothing_of_a_hidden_case_is_told(self):
        for folder in students():
            for path in folder.iterdir():
                with self.subTest(path=path.name):
                    self.assertNotIn("nobody may see", read_text(path))
        for _, results in self.results():
            for test in results["tests"]:
                hidden = test["name"].endswith("(hidden data)")
                self.assertEqual(test["visibility"], "after_published" if hidden else "visible")

    def test_no_text_moves_a_terminals_cursor(self):
        for _, results in self.results():
            texts = [results["output"]] + [test.get("output", "") for test in results["tests"]]
            self.assertFalse([c for text in texts for c in text if ord(c) < 32 and c not in "\n\t"])


class Junit(unittest.TestCase):
    """junit.xml."""

    @unittest.skipUnless(XMLLINT, "libxml2-utils")
    def test_files_fit_the_schema(self):
        files = [str(folder / "junit.xml") for folder in students()]
        done = subprocess.run([XMLLINT, "--nonet", "--noout", "--schema", str(SCHEMAS / "junit.xsd"), *files],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_counts_are_those_of_the_elements(self):
        for folder in students():
            root = xml.etree.ElementTree.parse(folder / "junit.xml").getroot()
            for element in [root, *root.findall("testsuite")]:
                with self.subTest(student=folder.name, element=element.get("name")):
                    for count, tag in [("tests", "testcase"), ("failures", "failure"), ("errors", "error"),
                                       ("skipped", "skipped")]:
                        self.assertEqual(int(element.get(count)), len(list(element.iter(tag))))

    @unittest.skipUnless(junitparser, "python3-junitparser")
    def test_a_reader_finds_what_was_written(self):
        by_student = {}
        for folder in students():
            suites = junitparser.JUnitXml.fromfile(str(folder / "junit.xml"))
            self.assertEqual([suite.name for suite in suites], LESSONS)
            by_student[folder.name] = [case for suite in suites for case in suite]
        kinds = [[type(result).__name__ for result in case.result] for case in by_student["Ana Lima"]]
        self.assertEqual(kinds, [[], [], [], [], [], ["Failure"], ["Failure"], [], ["Failure"]])
        missing, ungraded = by_student["Çelik Öznur"]
        self.assertEqual((type(missing.result[0]).__name__, missing.result[0].type), ("Failure", "missing"))
        self.assertEqual((type(ungraded.result[0]).__name__, ungraded.result[0].type), ("Error", "ungraded"))
        hostile = by_student["=cmd%7C' %2FC calc'!A0"]
        self.assertEqual(hostile[0].name, "adds <T> & \"quotes\", 'and' | pipes; =1+1")
        self.assertIn("]]> <script>alert(1)</script>", hostile[0].result[0].text)
        self.assertIn("1996003 more characters", hostile[1].result[0].text)


class Feedback(unittest.TestCase):
    """feedback.md."""

    @unittest.skipUnless(markdown_it, "python3-markdown-it")
    def test_no_message_leaves_its_block(self):
        reader = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table")
        for folder in students():
            tokens = reader.parse(read_text(folder / "feedback.md"))
            with self.subTest(student=folder.name):
                kinds = {token.type for token in tokens}
                self.assertFalse(kinds & {"html_block", "code_block"})
                headings = [tokens[i + 1].content for i, token in enumerate(tokens) if token.type == "heading_open"]
                self.assertFalse([heading for heading in headings if "PASS" in heading])
                # Text alone, but for the total's bold type.
                inline = {child.type for token in tokens for child in token.children or []}
                self.assertLessEqual(inline, {"text", "strong_open", "strong_close", "softbreak"})
                self.assertEqual(sum(token.type == "heading_open" and token.tag == "h1" for token in tokens), 1)

    @unittest.skipUnless(markdown_it, "python3-markdown-it")
    def test_names_are_read_as_they_were_written(self):
        reader = markdown_it.MarkdownIt("commonmark").enable("table")
        for folder, name in [("=cmd%7C' %2FC calc'!A0", "=cmd|' /C calc'!A0"), ("Çelik Öznur", "Çelik Öznur")]:
            tokens = reader.parse(read_text(FOLDER / folder / "feedback.md"))
            heading = "".join(child.content for child in tokens[1].children)
            self.assertEqual(heading, f"Feedback for {name}")

    def test_messages_are_cut_and_say_so(self):
        text = read_text(FOLDER / "=cmd%7C' %2FC calc'!A0" / "feedback.md")
        self.assertIn("[This message is cut here: 1996003 more characters are not shown.]", text)
        self.assertLess(len(text), 20_000)

    def test_cases_that_fail_alike_are_folded(self):
        text = read_text(FOLDER / "Ana Lima" / "feedback.md")
        self.assertEqual(text.count("expected NaN."), 1)
        self.assertIn("and 1 more case fails in the same way:", text)


class Sameness(unittest.TestCase):
    """The same marks give the same bytes."""

    def test_a_second_run_writes_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as other:
            subprocess.run([PROGRAM, other], check=True)
            for path in FOLDER.rglob("*"):
                if path.is_file():
                    second = pathlib.Path(other) / path.relative_to(FOLDER)
                    self.assertEqual(path.read_bytes(), second.read_bytes(), path.name)


def main():
    """Writes the samples and reads them."""
    global PROGRAM, FOLDER
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    PROGRAM = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        FOLDER = pathlib.Path(folder)
        subprocess.run([PROGRAM, folder], check=True)
        result = unittest.main(argv=sys.argv[:1], exit=False).result
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
