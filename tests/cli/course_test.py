#!/usr/bin/env python3
"""Drives the `course` program as a person would: what it prints, what it leaves behind, how it ends.

    course_test.py COURSE [unittest arguments]

COURSE is the built program; its build folder and the project's own lesson 01 are used.
"""

import json
import pathlib
import re
import signal
import subprocess
import time
import unittest

import driver
from driver import ROOT, SOLUTION, Case, course, course_on_terminal


class OneVoice(unittest.TestCase):
    """What CLI11 refuses is told as everything else is."""

    COMMANDS = ("check", "watch", "list", "hint", "solution", "reset", "explain", "run", "simulate", "profile", "trace",
                "draw", "gradcheck", "export", "bench", "grade", "doctor", "docs", "test", "build", "judge",
                "completion")  # fmt: skip

    def told(self, *arguments):
        result = course(*arguments)
        self.assertEqual(result.returncode, 2, result.stderr)
        told = " ".join(result.stderr.split())
        self.assertRegex(told, r"^course: .*[.?] `\./course [a-z]+ --help` says what there is\.$")
        return told

    def test_every_command_names_an_option_that_it_does_not_have(self):
        for command in self.COMMANDS:
            with self.subTest(command):
                self.assertIn("There is no option --nonsense.", self.told(command, "--nonsense"))

    def test_values_that_do_not_fit(self):
        for arguments, words in ((("check", "01", "--backend", "tpu"), "--backend must be auto, cpu or gpu, not tpu."),
                                 (("check", "01", "--seed", "x"), "--seed must be a whole number from 0 on, not x."),
                                 (("check", "01", "--json"), "--json needs FILE after it."),
                                 (("grade", "x", "--late", "x"), "--late must be a number from 0 to 100, not x."),
                                 (("reset",), "LESSON is missing."),
                                 (("hint", "01", "x"), "N must be a whole number from 1 on, not x.")):
            with self.subTest(arguments):
                self.assertIn(words, self.told(*arguments))


class Usage(Case):
    def test_unknown_command_names_the_nearest(self):
        result = course("chekc", "01")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "There is no command chekc", "Did you mean check?", "./course --help")

    def test_no_command_shows_help(self):
        result = course()
        self.assertEqual(result.returncode, 2)
        self.assertIn("--help", result.stderr)

    def test_help_is_no_error(self):
        result = course("--help")
        self.assertEqual(result.returncode, 0)
        for command in ("check", "list", "run", "gradcheck", "test"):
            self.assertIn(command, result.stdout)

    def test_help_is_a_command_too(self):
        self.assertEqual(course("help").stdout, course("--help").stdout)
        self.assertEqual(course("help", "check").stdout, course("check", "--help").stdout)

    def test_the_cases_in_examples_are_there(self):
        examples = re.findall(r"course check (\d+) --case (\S+)", course("check", "--help").stdout)
        self.assertTrue(examples)
        for lesson, words in examples:
            self.assertEqual(course("check", lesson, "--list", "--case", words).returncode, 0, words)

    def test_a_file_in_the_place_of_a_lesson_is_told_its_option(self):
        result = course("check", "01", "idea.cu")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, 'There is no lesson "idea.cu".', "--file idea.cu")

    def test_unknown_command_and_option(self):
        self.assertEqual(course("chekc").returncode, 2)
        result = course("check", "--solutoin")
        self.assertEqual(result.returncode, 2)
        self.assertIn("--solutoin", result.stderr)

    def test_unknown_backend(self):
        result = course("check", "01", "--backend", "tpu")
        self.assertEqual(result.returncode, 2)
        self.assertIn("tpu", result.stderr)

    def test_unknown_lesson_names_the_nearest(self):
        result = course("check", "vectoradd")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, '"vectoradd"', "Did you mean 01_vector_add")

    def test_lesson_number_that_is_not_there(self):
        for name in ("99", "0", "98-99", "7-1", "-1", "1-"):
            with self.subTest(name):
                self.assertEqual(course("check", name).returncode, 2)

    def test_missing_file(self):
        result = course("check", "01", "--file", self.folder / "none.cu")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "There is no file")

    def test_file_needs_one_lesson(self):
        result = course("check", "--file", SOLUTION)
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "exactly one lesson")

    def test_file_that_is_a_folder(self):
        self.assertEqual(course("check", "01", "--file", self.folder).returncode, 2)

    def test_report_into_a_folder_that_is_not_there(self):
        result = course("check", "01", "--json", self.folder / "none" / "report.json")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "there is no folder")

    def test_gpu_that_is_not_there(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("this machine may have a GPU")
        result = course("check", "01", "--backend", "gpu")
        self.assertEqual(result.returncode, 3)
        self.assert_one_message(result, "GPU", "--backend cpu")


class Help(Case):
    def commands(self):
        return course("__complete", "").stdout.split()

    def assert_fits(self, text, lines):
        self.assertLessEqual(len(text.splitlines()), lines, text)
        for line in text.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_all_commands_fit_a_screen_and_stand_in_groups(self):
        text = course("--help").stdout
        self.assert_fits(text, 24)
        for group in ("Learn ", "Look inside ", "GPU ", "Teach ", "Project "):
            self.assertRegex(text, rf"(?m)^{group}")
        self.assertNotRegex(text, r"(?m)^Other ")
        self.assertNotIn(" ...\n", text.split("\n", 1)[1], "a command's description is too long for its line")
        self.assertIn("./course explain race", text)
        for command in self.commands():
            self.assertRegex(text, rf"\b{command}\b")

    def test_help_of_each_command_fits_a_screen_and_has_examples(self):
        for command in self.commands():
            with self.subTest(command):
                result = course(command, "--help")
                self.assertEqual(result.returncode, 0)
                self.assert_fits(result.stdout, {"grade": 40, "simulate": 30}.get(command, 24))
                self.assertTrue(result.stdout.startswith(f"Usage: ./course {command}"), result.stdout)
                self.assertRegex(result.stdout, rf"\nExamples:\n(.*\n)*?  .*\./course {command}")
                for option in course("__complete", command, "--").stdout.split():
                    if option != "--help":
                        self.assertIn(option, result.stdout)


class Explain(Case):
    PAGES = sorted(page.stem for page in (ROOT / "docs/diagnostics").glob("*.md"))

    def test_list_has_each_page_once_in_groups(self):
        result = course("explain")
        self.assertEqual(result.returncode, 0)
        names = re.findall(r"(?m)^  (\w+) ", result.stdout)
        self.assertEqual(sorted(names), self.PAGES)
        headings = re.findall(r"(?m)^## (.*)$", (ROOT / "docs/diagnostics.md").read_text(encoding="utf-8"))
        shown = [line for line in result.stdout.splitlines() if line in headings]
        self.assertEqual(shown, headings)
        self.assertEqual(course("explain", "--list").stdout, result.stdout)
        for line in result.stdout.splitlines():
            self.assertLessEqual(len(line), 80)

    def test_every_page_shows_its_example_its_report_and_its_fix(self):
        for name in self.PAGES:
            with self.subTest(name):
                result = course("explain", name)
                self.assertEqual((result.returncode, result.stderr), (0, ""))
                self.assertTrue(result.stdout.startswith(f"{name}: "))
                page = (ROOT / f"docs/diagnostics/{name}.md").read_text(encoding="utf-8")
                blocks = re.findall(r"(?ms)^```\w*\n(.*?)^```$", page)
                self.assertEqual(len(blocks), 3)
                shown = [line.strip() for line in result.stdout.splitlines()]
                for line in "".join(blocks).splitlines():
                    self.assertIn(line.strip(), shown)

    def test_names_may_be_written_in_many_ways(self):
        page = course("explain", "bank_conflict").stdout
        for words in (["bank", "conflict"], ["Bank-Conflict"], ["BANK_CONFLICT:"], ["bank"]):
            with self.subTest(words):
                self.assertEqual(course("explain", *words).stdout, page)

    def test_a_number_shows_the_notes_of_a_lesson(self):
        self.assertIn("Lesson 01: Vector add\n", course("explain", "01").stdout)
        self.assert_one_message(course("explain", "99"), 'no lesson "99"', "./course list")
        self.assertIn("Lesson 05: what goes wrong\n", course("explain", "5", "mistakes").stdout)
        self.assertIn("Lesson 05: on a GPU\n", course("explain", "05", "gpu").stdout)
        self.assert_one_message(course("explain", "05", "notes"), 'no page "notes"', "`./course explain 05 mistakes`")
        self.assertIn("the old terms still refer to the old maximum",
                      " ".join(course("explain", "the", "sum", "so", "far", "was", "not", "rescaled").stdout.split()))

    def test_unknown_and_ambiguous_names(self):
        result = course("explain", "rcae")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "Nothing is known of", "Did you mean race", "./course explain")
        result = course("explain", "bad")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "bad_copy, bad_memset, bad_free")
        self.assertEqual(course("explain", "race", "--list").returncode, 2)

    def test_a_mistake_that_feedback_names(self):
        result = course("explain", "weights_ignored")
        self.assertEqual(result.returncode, 0)
        self.assertIn("This is the sum of x alone: the weights are missing.", result.stdout)
        self.assertIn("lessons/03_weighted_row_sum/mistakes.md", result.stdout)
        self.assertEqual(course("explain", "not_checked").returncode, 0)

    def test_without_a_terminal_there_are_no_colours_and_with_one_there_are(self):
        self.assertNotIn("\033", course("explain", "race").stdout)
        status, text = course_on_terminal("explain", "race")
        self.assertEqual(status, 0)
        self.assertIn("\033[1mFix\033[0m", text)
        self.assertNotIn("\033", course_on_terminal("explain", "race", env={"NO_COLOR": "1"})[1])


class Lists(Case):
    """What test programs say of themselves without a kernel."""

    LESSONS = {path.parent.name: json.loads(path.read_text(encoding="utf-8"))
               for path in sorted(ROOT.glob("lessons/*/lesson.json"))}
    CLASSES = set(Explain.PAGES) | {"not_checked"}

    def each_program(self):
        """The test programs that are built: a lesson's name, its file, and its program."""
        for name, lesson in self.LESSONS.items():
            program = pathlib.Path(driver.COURSE).parent / f"lessons/{name}_test"
            if program.exists():
                with self.subTest(name):
                    yield name, lesson, program

    def ask(self, program, option):
        result = subprocess.run([program, option], capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return json.loads(result.stdout)[option.removeprefix("--list-")]

    def test_cases_have_the_points_of_their_lesson(self):
        for _, lesson, program in self.each_program():
            cases = self.ask(program, "--list-cases")
            self.assertEqual(sum(case["points"] for case in cases), lesson["points"])
            for case in cases:
                self.assertIn(f"points:{case['points']}", case["tags"])

    def test_mistakes_are_complete_and_beside_the_program(self):
        for name, _, program in self.each_program():
            listed = self.ask(program, "--list-mistakes")
            file = program.with_name(program.name + "_mistakes.json")
            self.assertEqual(json.loads(file.read_text(encoding="utf-8"))["mistakes"], listed)
            names = {mistake["name"] for mistake in listed}
            for mistake in listed:
                for sentence in mistake["sentences"]:
                    self.assertRegex(sentence, r"[.)?]$", mistake["name"])
                    self.assertNotIn("{}", sentence)
            for mutant in (ROOT / "tests/lessons/mutants" / name).glob("*.mutant"):
                for diagnosis in re.findall(r"(?m)^diagnosis(?:-luck)?: (\w+)$", mutant.read_text(encoding="utf-8")):
                    self.assertIn(diagnosis, names | self.CLASSES, mutant.name)

    def test_check_lists_cases_and_runs_some(self):
        text = course("check", "01", "--list").stdout
        self.assertRegex(text, r"^01 Vector add: \d+ cases, 24 points\n +1 point +adds the ten numbers of the notes\n")
        self.assertEqual(course("check", "01", "--list-cases").stdout, text)
        only = json.loads(course("check", "01", "--list", "--case", "HOST:", "--json", "-").stdout)["lessons"][0]["cases"]
        self.assertTrue(only)
        self.assertEqual([case["name"] for case in only if not case["name"].startswith("host: ")], [])
        listed = json.loads(course("check", "01", "--list", "--json", "-").stdout)["lessons"][0]["cases"]
        self.assertEqual(sum(case["points"] for case in listed), 24)

        result = course("check", "01", "--solution", "--case", "ten numbers")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        words = " ".join(result.stdout.split())
        self.assertRegex(words, r"^PASS 01 Vector add 1 of 1 points?")
        self.assertRegex(words, r"Only 1 of \d+ cases: 1 of the lesson's 24 points is theirs\.")
        result = course("check", "01", "--case", "zzz")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn('No case of lesson 01 has "zzz" in its name', result.stderr)
        self.assertIn("\n  adds the ten numbers of the notes\n", result.stderr)

    def test_of_several_lessons_those_with_such_a_case_are_checked(self):
        lessons = json.loads(course("check", "1-4", "--list", "--case", "one ", "--json", "-").stdout)["lessons"]
        self.assertEqual([lesson["number"] for lesson in lessons], [2, 3])
        result = course("check", "1-4", "--case", "zzz")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn("No case of these lessons", result.stderr)


class Doctor(Case):
    def test_it_runs_kernels_and_tells_nobody_s_name(self):
        result = course("doctor", env={"HOME": str(ROOT.parent), "SIMT_CHECK": ""})
        toolchain = pathlib.Path(driver.COURSE).parent.parent / "toolchain.json"
        cpu = json.loads(toolchain.read_text(encoding="utf-8"))["cpu"]
        self.assertEqual(result.returncode, 0 if cpu or "ok    kernel" in result.stdout else 3, result.stdout)
        if cpu:
            self.assertRegex(result.stdout, r"ok +run mode")
            self.assertRegex(result.stdout, r"ok +check mode")
        report = result.stdout.split("For a bug report\n")[1]
        self.assertRegex(report, r"course \d+\.\d+\.\d+, .* build")
        self.assertIn("CMake ", report)
        self.assertNotIn(str(ROOT.parent), report)
        for line in result.stdout.splitlines():
            if "sudo " not in line:
                self.assertLessEqual(len(line), 80, line)

    def test_for_programs(self):
        result = course("doctor", "--json")
        answer = json.loads(result.stdout)
        self.assertEqual(answer["version"], 1)
        self.assertEqual(result.returncode, 0 if answer["simulator"] or answer["gpu"] else 3)
        for finding in answer["findings"]:
            self.assertIn(finding["state"], ("fine", "missing", "too_old", "broken"))
            if finding["state"] == "missing":
                self.assertTrue(finding["gives"] and finding["remedy"], finding)
        build = pathlib.Path(driver.COURSE).parent.parent
        self.assertEqual(list((build / "doctor").iterdir()), [])


class Check(Case):
    def test_every_way_to_name_a_lesson(self):
        for name in ("1", "01", "vector_add", "01_vector_add", "lessons/01_vector_add/", "1-1"):
            with self.subTest(name):
                result = course("check", name, "--solution")
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                self.assertRegex(result.stdout, r"^PASS  01 Vector add +24 of 24 points")

    def test_stub_fails_in_words(self):
        result = course("check", "01")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "")
        self.assertIn("FAIL  01 Vector add", result.stdout)
        self.assertIn("never written", result.stdout)
        self.assertRegex(result.stdout, r"and \d+ more cases fail in (the same way|one of these ways)")
        self.assertIn("Next: edit lessons/01_vector_add/vector_add.cu, then ./course check 01", result.stdout)
        for noise in ("error:", "Assertion", "REQUIRE", "/usr/", str(ROOT)):
            self.assertNotIn(noise, result.stdout)

    def test_piped_output_is_plain_and_narrow(self):
        for arguments in (("check", "01"), ("check", "01", "--verbose"), ("list",)):
            result = course(*arguments)
            self.assertNotIn("\033", result.stdout + result.stderr)
            self.assertNotIn("\r", result.stdout + result.stderr)
            for line in result.stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_terminal_gets_colour_unless_no_color(self):
        status, output = course_on_terminal("check", "01", "--solution")
        self.assertEqual(status, 0)
        self.assertIn("\033[32mPASS\033[0m", output)
        status, output = course_on_terminal("check", "01", "--solution", env={"NO_COLOR": "1"})
        self.assertEqual(status, 0)
        self.assertNotIn("\033[32m", output)

    def test_file_that_does_not_compile(self):
        file = self.file("vector_add.cu", '#include "vector_add.hpp"\n\nint x = y;\n')
        result = course("check", "01", "--file", file)
        self.assertEqual(result.returncode, 1)
        self.assertIn("DOES NOT COMPILE  01 Vector add", result.stdout)
        self.assertIn("vector_add.cu:3:", result.stdout)
        self.assertIn("3 | int x = y;", result.stdout)

    def test_missing_function_is_named_as_the_contract_has_it(self):
        file = self.file("vector_add.cu", '#include "vector_add.hpp"\n')
        text = " ".join(course("check", "01", "--file", file).stdout.split())
        self.assertIn("vector_add.cu does not define course::vector_add(const float* a, const float* b, float* c, "
                      "std::int64_t n) as lessons/01_vector_add/vector_add.hpp declares it", text)

    def test_path_with_spaces_and_other_folder(self):
        file = self.file("my kernel's file.cu", SOLUTION.read_text(encoding="utf-8"))
        result = course("check", "01", "--file", file.name, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_shared_array_that_is_too_short_is_named(self):
        solution = (ROOT / "solutions/03_weighted_row_sum/weighted_row_sum.cu").read_text(encoding="utf-8")
        declared = "warp_sums_smem[kBlockWarps]"
        self.assertIn(declared, solution)
        short = self.file("short.cu", solution.replace(declared, "warp_sums_smem[1]"))
        text = " ".join(course("check", "03", "--file", short).stdout.split())
        self.assertIn("uses warp_sums_smem[1], index 1 of an array of type 'float [1]'", text)

    def test_changed_header_beside_the_file_is_compiled_anew(self):
        header = self.file("extra.hpp", "")
        source = '#include "extra.hpp"\n' + SOLUTION.read_text(encoding="utf-8")
        file = self.file("vector_add.cu", source)
        self.assertEqual(course("check", "01", "--file", file).returncode, 0)
        header.write_text("#error changed\n", encoding="utf-8")
        result = course("check", "01", "--file", file)
        self.assertEqual(result.returncode, 1)
        self.assertIn("changed", result.stdout)


class Json(Case):
    FIELDS = {"number", "name", "status", "points", "max_points", "seconds", "not_checked", "cases"}
    CASE_FIELDS = {"name", "status", "points", "message", "failures", "diagnoses", "diagnostics", "counters"}
    DIAGNOSTIC_FIELDS = {"class", "severity", "file", "line", "other", "element", "message"}

    def check_form(self, report):
        self.assertEqual(set(report), {"version", "backend", "lessons"})
        self.assertEqual(report["version"], 1)
        for lesson in report["lessons"]:
            self.assertEqual(set(lesson), self.FIELDS)
            self.assertIn(lesson["status"], ("pass", "fail", "error"))
            for case in lesson["cases"]:
                self.assertEqual(set(case), self.CASE_FIELDS)
                for diagnostic in case["diagnostics"]:
                    self.assertEqual(set(diagnostic), self.DIAGNOSTIC_FIELDS)
            self.assertEqual(lesson["points"], sum(case["points"] for case in lesson["cases"]))

    def test_file_beside_the_text(self):
        file = self.folder / "report.json"
        result = course("check", "01", "--solution", "--json", file)
        self.assertEqual(result.returncode, 0)
        self.assertIn("PASS", result.stdout)
        report = json.loads(file.read_text(encoding="utf-8"))
        self.check_form(report)
        lesson = report["lessons"][0]
        self.assertEqual((lesson["number"], lesson["name"], lesson["status"]), (1, "vector_add", "pass"))
        self.assertEqual(lesson["points"], lesson["max_points"])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["report.json"])

    def test_standard_output_has_nothing_else(self):
        result = course("check", "01", "--json", "-")
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout)
        self.check_form(report)
        self.assertEqual(report["lessons"][0]["status"], "fail")

    def test_file_that_does_not_compile_is_an_error(self):
        file = self.file("vector_add.cu", "int x = y;\n")
        result = course("check", "01", "--file", file, "--json", "-")
        self.assertEqual(result.returncode, 1)
        report = json.loads(result.stdout)
        self.check_form(report)
        self.assertEqual(report["lessons"][0]["status"], "error")
        # g++: 'y' was not declared; nvcc: identifier "y" is undefined
        self.assertRegex(report["lessons"][0]["cases"][0]["message"], """['"]y['"] (was not declared|is undefined)""")

    def test_list(self):
        lessons = json.loads(course("list", "--json").stdout)["lessons"]
        self.assertEqual(lessons[0]["name"], "vector_add")
        self.assertEqual(lessons[0]["max_points"], 24)

    def test_full_disk_leaves_no_half_written_report(self):
        small = self.folder / "small"
        small.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", small], capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("mounting a small file system takes root")
        self.addCleanup(subprocess.run, ["umount", small], check=False)
        (small / "report.json").write_text("old", encoding="utf-8")
        result = course("check", "01", "--solution", "--json", small / "report.json")
        self.assertEqual(result.returncode, 3)
        self.assertIn("No space left", " ".join(result.stderr.split()))
        self.assertEqual([path.name for path in small.iterdir()], ["report.json"])
        self.assertEqual((small / "report.json").read_text(encoding="utf-8"), "old")


class Run(Case):
    def test_usage(self):
        out = self.folder / "out"
        for arguments in (("run",), ("run", "01"), ("run", "01", "--in", self.folder / "none", "--out", out),
                          ("run", "01", "--in", self.folder, "--out", out, "--set", "n"),
                          ("run", "all", "--in", self.folder)):
            with self.subTest(arguments):
                self.assertEqual(course(*arguments).returncode, 2)

    def test_missing_input(self):
        result = course("run", "01", "--solution", "--in", self.folder, "--out", self.folder / "out")
        self.assertEqual(result.returncode, 2)
        self.assertIn("a.npy", result.stderr)

    def test_adds_ten_million_numbers_as_numpy_does(self):
        try:
            import numpy  # pylint: disable=import-outside-toplevel
        except ImportError:
            self.skipTest("no NumPy")
        generator = numpy.random.default_rng(1)
        inputs = self.folder / "in"
        inputs.mkdir()
        a, b = (generator.standard_normal(10_000_000, dtype=numpy.float32) for _ in range(2))
        numpy.save(inputs / "a.npy", a)
        numpy.save(inputs / "b.npy", b)
        result = course("run", "01", "--solution", "--in", inputs.name, "--out", "out", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        c = numpy.load(self.folder / "out" / "c.npy")
        self.assertEqual(c.tobytes(), (a + b).tobytes())


class Gradcheck(Case):
    GRADIENTS = [description.parent.name[:2] for description in sorted(ROOT.glob("lessons/*/lesson.json"))
                 if json.loads(description.read_text(encoding="utf-8")).get("gradients")]

    def setUp(self):
        super().setUp()
        if not self.GRADIENTS and "usage" not in self.id():
            self.skipTest("no lesson has gradients yet")

    def gradcheck(self, *arguments):
        return course("gradcheck", self.GRADIENTS[0], *arguments)

    def wrong_solution(self, name, change):
        [solution] = ROOT.glob(f"solutions/{self.GRADIENTS[0]}_*/*.cu")
        text = solution.read_text(encoding="utf-8")
        self.assertNotEqual(change(text), text)
        return self.file(name, change(text))

    def test_usage(self):
        for arguments, words in (((), "LESSON is missing."), (("nope",), "There is no lesson"),
                                 (("all",), "exactly one lesson"),
                                 (("01", "--cases", "0"), "whole number from 1 on"),
                                 (("01", "--cases", "two"), "whole number from 1 on"),
                                 (("01", "--seed=-1"), "whole number from 0 on"),
                                 (("01", "--set", "causal"), "write causal as name=value"),
                                 (("01", "--solution", "--file", SOLUTION), "exclude each other"),
                                 (("01", "--file", self.folder / "none.cu"), "There is no file")):
            with self.subTest(arguments):
                result = course("gradcheck", *arguments)
                self.assertEqual(result.returncode, 2)
                self.assert_one_message(result, words)

    def test_usage_of_a_lesson_without_gradients_names_those_with(self):
        result = course("gradcheck", "01", "--solution")
        self.assertEqual(result.returncode, 2)
        others = "these have: " + ", ".join(self.GRADIENTS) if self.GRADIENTS else "nor has any other yet"
        self.assert_one_message(result, "Lesson 01 has no gradients to check; " + others + ".")

    def test_solution_is_right_and_the_page_is_plain_and_narrow(self):
        result = self.gradcheck("--solution")
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertRegex(result.stdout, r"(?s)^Case 1, seed 1: .*\nCase 2, seed 2: .*\nCase 3, seed 3: ")
        self.assertRegex(result.stdout, r"\n  d\w+ is right: \d+ elements?, at most [\d.e-]+ from")
        self.assertRegex(result.stdout, r"\nAll \d+ gradients are right\.\n$")
        self.assertNotIn("\033", result.stdout)
        for line in result.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_seed_repeats_one_case(self):
        page = " ".join(self.gradcheck("--solution").stdout.split())
        again = " ".join(self.gradcheck("--solution", "--seed", "3", "--cases", "1").stdout.split())
        case = again[again.index("seed 3"):again.index(" All")]
        self.assertIn(case, page)

    def test_stub_fails(self):
        result = self.gradcheck("--cases", "1", "--file", next(ROOT.glob(f"lessons/{self.GRADIENTS[0]}_*/*.cu")))
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertRegex(" ".join(result.stdout.split()), r"d\w+ is wrong: d\w+\[.*\d+ of \d+ gradients are wrong\. Add ")
        for line in result.stdout.splitlines():
            self.assertLessEqual(len(line), 80, line)

    def test_setting_that_is_not_there(self):
        result = self.gradcheck("--solution", "--set", "no_such_setting=1")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "--set no_such_setting: this lesson's gradient check has no such setting.")

    def test_kernel_that_ends_the_program(self):
        file = self.wrong_solution("exits.cu", lambda text: "#include <cstdlib>\n" + text +
                                   "\nstatic const int ended = (std::exit(0), 0);\n")
        result = self.gradcheck("--file", file)
        self.assertEqual(result.returncode, 1, result.stdout)
        self.assertNotIn("right", result.stdout)

    def test_file_that_does_not_compile(self):
        result = self.gradcheck("--file", self.wrong_solution("broken.cu", lambda text: text + "\nint x = ;\n"))
        self.assertEqual(result.returncode, 1)
        self.assertIn("broken.cu", result.stderr)


class Sanitize(Case):
    """The option --sanitize, with a script in the place of NVIDIA's tools and the simulator behind it."""

    TOOL = """#!/bin/sh
if [ "$1" = --help ]; then echo 'Usage: --tool --log-file'; exit 0; fi
while [ $# -gt 0 ]; do
  case $1 in
    --tool) tool=$2; shift 2 ;;
    --log-file) log=$2; shift 2 ;;
    --*) shift 2 ;;
    *) break ;;
  esac
done
say() { echo "========= $*" >> "$log"; }
say COMPUTE-SANITIZER
"$@" 3>&-
FINDINGS
say 'ERROR SUMMARY: 0 errors'
"""
    UNINITIALISED = """if [ $tool = initcheck ]; then
  for thread in 0 1 2; do
    say 'Uninitialized __global__ memory read of size 4 bytes'
    say '    at add_kernel(float *)+0x50 in vector_add.cu:12'
    say "    by thread ($thread,0,0) in block (0,0,0)"
  done
fi"""

    def sanitize(self, findings, *arguments):
        tool = self.file("tool", self.TOOL.replace("FINDINGS", findings))
        tool.chmod(0o755)
        return course("check", "01", "--solution", "--backend", "cpu", "--sanitize", *arguments,
                      env={"COURSE_COMPUTE_SANITIZER": str(tool)})

    def test_nothing_found(self):
        result = self.sanitize("", "--json", self.folder / "report.json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        text = " ".join(result.stdout.split())
        self.assertIn("PASS 01 Vector add", text)
        self.assertIn("compute-sanitizer (memcheck, racecheck, initcheck and synccheck) found nothing", text)
        lesson = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["lessons"][0]
        self.assertEqual(lesson["tools"], ["memcheck", "racecheck", "initcheck", "synccheck"])

    def test_finding_fails_the_lesson_and_is_told_as_check_mode_tells_it(self):
        result = self.sanitize(self.UNINITIALISED, "--json", self.folder / "report.json")
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)
        text = " ".join(result.stdout.split())
        self.assertIn("FAIL 01 Vector add", text)
        self.assertIn("vector_add.cu:12: error: uninitialised_read: thread (0,0,0) of block (0,0,0) reads 4 bytes of "
                      "global memory, which neither the host nor a kernel has written. cudaMalloc does not clear "
                      "memory.", text)
        self.assertIn("found 1 mistake", text)
        self.assertIn("--solution --sanitize", text)
        lesson = json.loads((self.folder / "report.json").read_text(encoding="utf-8"))["lessons"][0]
        self.assertEqual((lesson["status"], lesson["points"]), ("fail", 0))
        for case in lesson["cases"]:
            [finding] = case["diagnostics"]
            self.assertEqual((finding["class"], finding["tool"], finding["line"], finding["count"] % 3),
                             ("uninitialised_read", "initcheck", 12, 0))

    def test_tool_that_cannot_work_here(self):
        result = self.sanitize("[ $tool = racecheck ] && say 'Device not supported.'")
        self.assertEqual(result.returncode, 3, result.stdout + result.stderr)
        self.assert_one_message(result, "racecheck cannot work here: Device not supported.")

    def test_variable_that_names_no_tool(self):
        result = course("check", "01", "--sanitize", env={"COURSE_COMPUTE_SANITIZER": "/bin/true"})
        self.assertEqual(result.returncode, 3)
        self.assert_one_message(result, "/bin/true", "no compute-sanitizer")

    def test_needs_a_gpu(self):
        result = course("check", "01", "--backend", "cpu", "--sanitize")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "--sanitize", "need a GPU", "check mode")
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("this machine may have a GPU")
        result = course("check", "01", "--sanitize")
        self.assertEqual(result.returncode, 3)
        self.assert_one_message(result, "--sanitize", "need a GPU", "check mode")


class Interrupt(Case):
    def descendants(self, pid):
        """Processes below `pid`, by /proc."""
        found = []
        for child in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = child.read_text(encoding="utf-8").rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == pid:
                below = int(child.parent.name)
                found += [below, *self.descendants(below)]
        return found

    def interrupt(self, number, seconds=0.0, processes=0):
        """Sends the signal after so many seconds, and once so many processes run below the command."""
        report = self.folder / "report.json"
        step = "i += stride"
        solution = SOLUTION.read_text(encoding="utf-8")
        self.assertIn(step, solution)
        endless = self.folder / "endless.cu"
        endless.write_text(solution.replace(step, "i += 0 * stride"), encoding="utf-8")
        process = subprocess.Popen([driver.COURSE, "check", "01", "--file", endless, "--json", report],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
        time.sleep(seconds)
        patience = time.monotonic() + 60
        while len(below := self.descendants(process.pid)) < processes and time.monotonic() < patience:
            time.sleep(0.02)
        process.send_signal(number)
        started = time.monotonic()
        _, errors = process.communicate(timeout=30)
        self.assertLess(time.monotonic() - started, 10)
        self.assertEqual(process.returncode, 128 + number)
        self.assertEqual(errors, "course: interrupted\n")
        self.assertFalse(report.exists())
        patience = time.monotonic() + 10
        for pid in below:
            while (alive := pathlib.Path(f"/proc/{pid}/exe").exists()) and time.monotonic() < patience:
                time.sleep(0.02)
            self.assertFalse(alive, f"process {pid} outlived the command")
        build = pathlib.Path(driver.COURSE).parent.parent
        return below, list((build / "kernels").glob(f".scratch-{process.pid}-*"))

    def test_ctrl_c_ends_everything(self):
        below, scratch = self.interrupt(signal.SIGINT, seconds=2, processes=2)  # the test program and its worker
        self.assertGreaterEqual(len(below), 2)
        self.assertEqual(scratch, [])

    def test_ctrl_c_early(self):
        _, scratch = self.interrupt(signal.SIGINT, seconds=0.15)
        self.assertEqual(scratch, [])

    def test_termination(self):
        _, scratch = self.interrupt(signal.SIGTERM, seconds=1)
        self.assertEqual(scratch, [])


if __name__ == "__main__":
    driver.main()
