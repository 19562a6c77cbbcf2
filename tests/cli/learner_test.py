#!/usr/bin/env python3
"""Drives list, hint, solution and reset as a student would, in a copy of the project, so that nobody's own files and
progress are touched.

    learner_test.py COURSE [unittest arguments]

COURSE is the built program; the copies use what its build folder has, and never run ninja.
"""

import json
import os
import pathlib
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from solution_page import page_of  # noqa: E402

COURSE = pathlib.Path()
LESSONS = {path.parent.name: json.loads(path.read_text(encoding="utf-8"))
           for path in sorted(ROOT.glob("lessons/*/lesson.json"))}
PRISTINE = {}  # what `./course reset` gives, by lesson
POINTS = LESSONS["01_vector_add"]["points"]


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.project = pathlib.Path(folder.name) / "project"
        for name in ("lessons", "solutions", "tests/lessons"):
            shutil.copytree(ROOT / name, self.project / name,
                            ignore=shutil.ignore_patterns("*.kept*", "mutants", "slips"))  # fmt: skip
        for name in ("common", "tests/lessons/mutants", "tests/lessons/slips"):  # many files, which no test changes
            (self.project / name).symlink_to(ROOT / name)
        self.progress = self.project / "progress.json"
        self.make_build()
        for lesson in LESSONS:  # a checkout may have a student's files
            self.stub(lesson).write_bytes(self.pristine(lesson))

    def make_build(self):
        """A build folder of the copy's own, whose ninja has nothing to do."""
        program = self.project / "build/bin/course"
        program.parent.mkdir(parents=True)
        shutil.copy(COURSE, program)
        toolchain = json.loads((COURSE.parent.parent / "toolchain.json").read_text(encoding="utf-8"))
        toolchain.update(source_dir=str(self.project), binary_dir=str(self.project / "build"), ninja=shutil.which("true"))
        (self.project / "build/toolchain.json").write_text(json.dumps(toolchain), encoding="utf-8")
        (self.project / "build/build.ninja").touch()  # without it the build counts as not configured

    def stub(self, lesson="01_vector_add"):
        return self.project / "lessons" / lesson / f"{lesson[3:]}.cu"

    def pristine(self, lesson="01_vector_add"):
        """What `./course reset` gives where no file is; grading_test holds it against the stubs of the course."""
        if lesson not in PRISTINE:
            self.stub(lesson).unlink()
            self.says(0, "reset", lesson)
            PRISTINE[lesson] = self.stub(lesson).read_bytes()
        return PRISTINE[lesson]

    def solution(self, lesson="01_vector_add"):
        return self.project / "solutions" / lesson / f"{lesson[3:]}.cu"

    def environment(self, extra):
        return {k: v for k, v in os.environ.items() if k not in ("COURSE_PROGRESS", "NO_COLOR", "TERM")} | extra

    def course(self, *arguments, **extra):
        return subprocess.run([self.project / "build/bin/course", *map(str, arguments)], capture_output=True, text=True,
                              timeout=200, env=self.environment(extra), check=False)

    def says(self, status, *arguments, **extra):
        """What the command says on stdout, or on stderr if it failed; each line within the screen."""
        result = self.course(*arguments, **extra)
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for line in (result.stdout + result.stderr).splitlines():
            self.assertNotRegex(line, "[\033\r]")
            if "--whole" not in arguments and arguments[0] != "solution":
                self.assertLessEqual(len(line), 80, line)
        return result.stdout if status == 0 else result.stderr

    def on_terminal(self, *arguments, **extra):
        """What the command writes to a terminal of 80 columns."""
        try:
            parent, child = pty.openpty()
        except OSError as error:
            raise unittest.SkipTest(f"no pseudo-terminal here: {error}") from error
        with subprocess.Popen([self.project / "build/bin/course", *arguments], stdin=child, stdout=child, stderr=child,
                              env=self.environment({"TERM": "xterm", **extra})) as process:
            os.close(child)
            output = b""
            try:
                while chunk := os.read(parent, 65536):
                    output += chunk
            except OSError:  # the other end is closed
                pass
            os.close(parent)
        return output.decode()

    def first_answer_of_watch(self, lesson):
        output = self.project / "watch.out"
        terminal, keyboard = pty.openpty()  # somebody is there who can end it
        with output.open("w", encoding="utf-8") as file, subprocess.Popen(
                [self.project / "build/bin/course", "watch", lesson], stdin=keyboard, stdout=file,
                stderr=subprocess.STDOUT, env=self.environment({})) as process:  # fmt: skip
            deadline = time.monotonic() + 100
            while "answered after" not in output.read_text(encoding="utf-8") and time.monotonic() < deadline:
                time.sleep(0.05)
            process.terminate()
        os.close(terminal)
        os.close(keyboard)
        return " ".join(output.read_text(encoding="utf-8").split())

    def remember(self, lessons):
        self.progress.write_text(json.dumps({"version": 1, "lessons": lessons}), encoding="utf-8")

    def remembered(self):
        return json.loads(self.progress.read_text(encoding="utf-8"))["lessons"]


class List(Case):
    def row(self, number):
        [row] = [line for line in self.says(0, "list").splitlines() if f"] {number:02} " in line]
        return row

    def test_a_new_student_sees_all_lessons_and_where_to_begin(self):
        text = self.says(0, "list")
        self.assertEqual(text.count("  [ ] "), len(LESSONS) + 1)  # and in the legend
        self.assertRegex(text, rf"\n0 of {len(LESSONS)} lessons passed, 0 of \d+ points\n")
        self.assertIn("Next: 01 Vector add; the notes are in lessons/01_vector_add/README.md\n", text)
        self.assertFalse(self.progress.exists())

    def test_from_the_first_failure_to_a_pass_that_no_longer_counts(self):
        self.assertEqual(self.course("check", "01").returncode, 1)
        self.assertRegex(self.row(1), rf"\[-\] 01 vector_add +45 min  \d+ of {POINTS} points$")
        shutil.copy(self.solution(), self.stub())
        self.assertRegex(self.row(1), rf"\[-\].* of {POINTS} points, edited since$")

        self.assertEqual(self.course("check", "01").returncode, 0)
        self.assertRegex(self.row(1), rf"\[x\].* {POINTS} of {POINTS} points$")
        self.assertIn("Next: 02 ", self.says(0, "list"))
        self.says(0, "check", "02", "--solution")  # is not the student's
        self.assertEqual(set(self.remembered()), {"01_vector_add"})

        shutil.rmtree(self.project / "build")
        self.make_build()
        self.assertIn("[x]", self.row(1))

        test = self.project / "tests/lessons/01_vector_add_test.cpp"
        test.write_text(test.read_text(encoding="utf-8") + "// changed\n", encoding="utf-8")
        self.assertRegex(self.row(1), r"\[!\].* points, tests changed$")
        text = self.says(0, "list")
        self.assertIn("To be checked again, since the tests have changed: 01. ./course list --verify", text)
        self.assertIn(f"\n0 of {len(LESSONS)} lessons passed", text)

        text = self.says(0, "list", "--verify")
        self.assertRegex(text, r"^PASS  01 Vector add")
        self.assertIn(f"\n1 of {len(LESSONS)} lessons passed", text)
        self.assertRegex(self.says(0, "list", "--verify"), "^Nothing that passed has changed since")

    def test_every_row_fits_the_screen(self):
        self.remember({lesson: {"passed": passed, "points": 10, "best": 99, "checked": "2026-11-23T09:30:00Z",
                                "kernel": "old", "tests": "old", "hints": 5}
                       for passed, lesson in zip([True, False] * len(LESSONS), LESSONS)})
        text = self.says(0, "list")
        self.assertIn("points, best 99, tests changed\n", text)
        self.assertIn("points, best 99, edited since\n", text)

    def test_marks_say_what_colours_say(self):
        self.stub("02_matrix_strides").write_text("mine", encoding="utf-8")
        coloured = self.on_terminal("list")
        self.assertIn("\033[31m[-]\033[0m 02 matrix_strides", coloured)
        self.assertIn("[-] 02 matrix_strides", self.on_terminal("list", NO_COLOR="1"))
        self.assertRegex(self.row(2), r"\[-\] 02 matrix_strides +75 min  \d+ points, not checked yet$")

    def test_json_has_all_of_it(self):
        self.remember({"01_vector_add": {"passed": True, "points": 24, "best": 24, "checked": "2026-11-23T09:30:00Z",
                                         "kernel": "old", "tests": "old", "hints": 2}})
        report = json.loads(self.says(0, "list", "--json"))
        first, second = report["lessons"][:2]
        self.assertEqual(set(first), {"number", "name", "title", "part", "minutes", "points", "best", "max_points",
                                      "needs", "prerequisites", "status", "edited_since", "tests_changed", "checked",
                                      "hints_shown"})
        self.assertEqual((first["status"], first["edited_since"], first["tests_changed"], first["hints_shown"]),
                         ("to_check_again", True, True, 2))
        self.assertEqual((second["status"], second["checked"], second["hints_shown"]), ("new", None, 0))
        self.assertEqual((report["version"], report["passed"], report["points"], report["next"]),
                         (1, 0, 24, "02_matrix_strides"))
        self.assertIn("exclude each other", self.says(2, "list", "--json", "--verify"))


class Progress(Case):
    def check(self, **extra):
        """Checks lesson 01's stub, and returns the sentence beside the report."""
        result = self.course("check", "01", **extra)
        self.assertEqual(result.returncode, 1)
        self.assertIn("FAIL  01 Vector add", result.stdout)
        return " ".join(result.stderr.split())

    def test_trouble_with_the_file_changes_no_verdict(self):
        self.assertEqual(self.check(), "")
        self.progress.write_text("{ broken", encoding="utf-8")
        self.assertIn("progress.json was broken, and is now called progress.json.broken.", self.check())
        self.assertEqual((self.project / "progress.json.broken").read_text(encoding="utf-8"), "{ broken")

        newer = '{"version": 2}'
        self.progress.write_text(newer, encoding="utf-8")
        self.assertIn("newer version of this course", self.check())
        self.assertEqual(self.progress.read_text(encoding="utf-8"), newer)

        self.remember({})
        self.progress.chmod(0o444)
        self.assertIn("is read-only", self.check())
        self.assertEqual(self.remembered(), {})
        self.assertIn("COURSE_PROGRESS may name another file",
                      self.check(COURSE_PROGRESS=str(self.project / "none" / "p.json")))

        elsewhere = self.project.parent / "elsewhere.json"
        self.assertEqual(self.check(COURSE_PROGRESS=str(elsewhere)), "")
        self.assertIn("01_vector_add", elsewhere.read_text(encoding="utf-8"))

    def test_an_edit_during_the_check_shows(self):
        """The verdict is about the file as it was when the check began."""
        judged = self.stub().read_bytes()
        with subprocess.Popen([self.project / "build/bin/course", "check", "01"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=self.environment({})) as process:
            while not list((self.project / "build").glob("kernels/*.so")) and process.poll() is None:
                time.sleep(0.01)
            self.stub().write_bytes(judged + b"// saved meanwhile\n")
            process.communicate(timeout=100)
        [lesson] = json.loads(self.says(0, "list", "--json"))["lessons"][:1]
        self.assertTrue(lesson["edited_since"])

    def test_hints_that_are_asked_for_at_once_are_all_remembered(self):
        processes = [subprocess.Popen([self.project / "build/bin/course", "hint", lesson], stdout=subprocess.DEVNULL,
                                      env=self.environment({})) for lesson in list(LESSONS)[:8]]
        self.assertEqual([process.wait(timeout=60) for process in processes], [0] * 8)
        self.assertEqual(self.remembered(), {lesson: {"hints": 1} for lesson in list(LESSONS)[:8]})


class Hint(Case):
    def test_one_step_at_a_time_and_then_what_to_do(self):
        for step in range(1, 6):
            text = self.says(0, "hint", "09")
            self.assertRegex(text, rf"^Hint {step} of 5 for lesson 09 FlashAttention-2, forward: ")
            if step < 5:
                self.assertIn(f"Next: ./course hint 09 shows hint {step + 1} of 5.\n", text)
        self.assertIn("./course solution 09 --spoil", text)
        text = self.says(0, "hint", "09")
        self.assertIn("Lesson 09 has no more hints; all 5 were shown.", text)
        self.assertIn("lessons/09_flash2_forward/README.md", text)
        self.assertEqual(self.remembered(), {"09_flash2_forward": {"hints": 5}})

    def test_a_step_again_but_none_before_its_time(self):
        self.says(0, "hint", "01")
        self.assertIn("Hint 1 of 5", self.says(0, "hint", "01", "1"))
        self.assertIn("Hint 2 of 5", self.says(0, "hint", "01", "2"))
        self.assertIn("Hint 4 comes later: the next one of lesson 01 is hint 3", self.says(2, "hint", "01", "4"))
        self.assertIn("Lesson 01 has 5 hints; there is no hint 6.", " ".join(self.says(2, "hint", "01", "6").split()))
        self.assertEqual(self.remembered(), {"01_vector_add": {"hints": 2}})

    def test_they_know_how_far_the_file_is(self):
        text = self.stub().read_text(encoding="utf-8")
        self.stub().write_text(text + "int x = ;\n", encoding="utf-8")
        self.says(1, "check", "01")
        self.assertIn("did not compile at its last check", self.says(0, "hint", "01", "1"))
        self.stub().write_text(text, encoding="utf-8")
        self.assertIn("has changed since its last check", " ".join(self.says(0, "hint", "01", "1").split()))
        # The device function of the solution, and the host function of the stub.
        whole = self.solution().read_text(encoding="utf-8")
        half = whole.replace("CUDA_CHECK(cudaMemcpy(c, c_device.data()", "if (false) CUDA_CHECK(cudaMemcpy(c, c_device.data()")
        self.assertNotEqual(half, whole)
        self.stub().write_text(half, encoding="utf-8")
        self.says(1, "check", "01")
        words = " ".join(self.says(0, "hint", "01").split())
        self.assertRegex(words, r"^At the last check \d+ of \d+ cases passed; the first that failed: host: ")
        self.assertIn("Hints 2 to 4 are left out: your file does that already. Hint 5 of 5", words)
        self.stub().write_text(whole, encoding="utf-8")
        self.says(0, "check", "01")
        self.assertEqual(self.says(0, "hint", "01"), "Your file passes: you need no hint for it.\n")
        self.assertIn("Hint 1 of 5", self.says(0, "hint", "01", "1"))

    def test_each_names_a_case_that_there_is(self):
        for lesson in LESSONS:
            program = COURSE.parent.parent / f"bin/lessons/{lesson}_test"
            hints = (self.project / "lessons" / lesson / "hints.md").read_text(encoding="utf-8")
            conditions = re.findall(r"(?m)^<!-- until: (.*) -->$", hints)
            if not conditions or not program.exists():
                continue
            listed = subprocess.run([program, "--list-cases"], capture_output=True, text=True, check=True).stdout
            names = [case["name"] for case in json.loads(listed)["cases"]]
            for until in conditions:
                self.assertTrue([name for name in names if until in name], f"{lesson}: {until}")

    def test_without_a_lesson_it_is_the_one_that_the_student_is_at(self):
        self.assertIn("for lesson 01 ", self.says(0, "hint"))
        self.stub("03_weighted_row_sum").write_text("mine", encoding="utf-8")
        self.assertIn("Hint 1 of 5 for lesson 03 ", self.says(0, "hint"))
        self.remember({lesson: {"passed": True, "checked": "2026-11-23T09:30:00Z"} for lesson in LESSONS})
        self.assertIn("All lessons have passed", self.says(0, "hint"))

    def test_where_nothing_can_be_remembered_the_student_counts(self):
        for arguments, step in ((("hint", "01"), 1), (("hint", "01", "3"), 3)):
            result = self.course(*arguments, COURSE_PROGRESS=str(self.project / "none/p.json"))
            self.assertEqual(result.returncode, 0)
            self.assertIn(f"Hint {step} of 5", result.stdout)
            self.assertIn(f"./course hint 01 {step + 1} shows hint {step + 1} of 5", result.stdout)
            self.assertIn("is not remembered", " ".join(result.stderr.split()))

    def test_wrong_usage(self):
        for arguments in (("1-3",), ("all",), ("99",), ("01", "0"), ("01", "x"), ("01", "1", "2")):
            with self.subTest(arguments):
                self.says(2, "hint", *arguments)

    def test_help_fits_a_screen(self):
        for command in ("list", "hint", "solution", "reset"):
            with self.subTest(command):
                text = self.says(0, command, "--help")
                self.assertLessEqual(len(text.splitlines()), 24)


class Solution(Case):
    def test_before_the_lesson_passes_one_sentence_says_what_to_do(self):
        result = self.course("solution", "01")
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        text = " ".join(result.stderr.split())
        for words in ("Lesson 01 has not passed yet", "./course check 01", "./course hint 01",
                      "./course solution 01 --spoil"):
            self.assertIn(words, text)
        self.assertEqual(self.course("solution", "01", "--whole").returncode, 1)

    def test_spoiled_it_is_what_turns_the_file_into_the_solution(self):
        text = self.says(0, "solution", "01", "--spoil")
        self.assertTrue(text.startswith("--- lessons/01_vector_add/vector_add.cu\n"
                                        "+++ solutions/01_vector_add/vector_add.cu\n@@ -"), text[:200])
        added = [line[1:] for line in text.splitlines()[2:] if line.startswith("+")]
        removed = [line[1:] for line in text.splitlines()[2:] if line.startswith("-")]
        # Lines that name parts of the solution for the notes, such as "// [kernel]", are none of the reader's.
        page = page_of(self.solution().read_text(encoding="utf-8"))
        solution = [line for line in page.splitlines() if not re.fullmatch(r" *// \[.*\]", line)]
        self.assertTrue(set(added) <= set(solution))
        self.assertEqual(len(self.stub().read_text(encoding="utf-8").splitlines()) + len(added) - len(removed),
                         len(solution))
        self.assertEqual(self.says(0, "solution", "01", "--spoil", "--whole"), "\n".join(solution) + "\n")
        coloured = self.on_terminal("solution", "01", "--spoil")
        self.assertIn("\033[32m+", coloured)
        self.assertIn("\033[31m-  // TODO", coloured)
        self.assertNotIn("\033", self.on_terminal("solution", "01", "--spoil", NO_COLOR="1"))

    def test_after_a_pass_until_the_tests_change(self):
        mine = next((self.project / "tests/lessons/alternatives/01_vector_add").glob("*.cu"))
        shutil.copy(mine, self.stub())
        self.assertIn("Next: ./course solution 01 shows", self.says(0, "check", "01"))
        self.assertIn("\n@@ -", self.says(0, "solution", "01"))
        self.stub().write_text("not C++", encoding="utf-8")
        self.says(1, "check", "01")
        self.assertIn("\n@@ -", self.says(0, "solution", "01"))  # a pass stays a pass
        self.assertRegex(self.says(0, "list"), rf"\[x\] 01 .* {POINTS} of {POINTS} points, 0 at the last check\n")
        shutil.copy(mine, self.stub())
        text = self.says(0, "check", "01")
        self.assertRegex(text, rf"^PASS  01 Vector add +{POINTS} of {POINTS} points")
        self.assertIn("This same file has passed the same tests before", text)
        self.assertNotIn("passed the same tests", self.says(0, "check", "01", "--again"))
        self.assertIn("This same file has passed the same tests before", self.first_answer_of_watch("01"))
        contract = self.stub().with_suffix(".hpp")
        contract.write_text(contract.read_text(encoding="utf-8") + "// more\n", encoding="utf-8")
        self.assertIn("The tests of lesson 01 have changed", " ".join(self.says(1, "solution", "01").split()))

    def test_the_same_file_is_said_to_be_the_same(self):
        text = page_of(self.solution().read_text(encoding="utf-8"))
        self.assertIn("// [kernel]\n", text)
        self.stub().write_bytes(text.replace("// [kernel]\n", "").replace("\n", "\r\n").encode())
        self.assertIn("is the same as the worked solution.", self.says(0, "solution", "01", "--spoil"))

    def test_missing_file_and_wrong_usage(self):
        self.stub().unlink()
        self.assertIn("./course reset 01", " ".join(self.says(2, "solution", "01", "--spoil").split()))
        self.says(2, "solution")
        self.says(2, "solution", "1-2", "--spoil")


class Reset(Case):
    def names(self):
        return {path.name for path in self.stub().parent.iterdir() if ".cu" in path.name}

    def test_the_stub_comes_back_and_no_file_is_lost(self):
        for number, name in ((1, "vector_add.cu.kept"), (2, "vector_add.cu.kept2"), (3, "vector_add.cu.kept3")):
            self.stub().write_text(f"draft {number}", encoding="utf-8")
            text = " ".join(self.says(0, "reset", "01").split())
            self.assertIn("lessons/01_vector_add/vector_add.cu is the stub again.", text)
            self.assertIn(f"kept as lessons/01_vector_add/{name}.", text)
            self.assertEqual(self.stub().read_bytes(), self.pristine())
            self.assertEqual((self.stub().parent / name).read_text(encoding="utf-8"), f"draft {number}")
        self.assertEqual((self.stub().parent / "vector_add.cu.kept").read_text(encoding="utf-8"), "draft 1")

    def test_an_untouched_stub_stays(self):
        self.assertIn("is the stub already; nothing was changed.", self.says(0, "reset", "01"))
        self.assertEqual(self.names(), {"vector_add.cu"})

    def test_a_file_that_was_deleted_comes_back(self):
        self.stub().unlink()
        self.assertEqual(self.says(0, "reset", "01"), "lessons/01_vector_add/vector_add.cu is the stub again.\n")
        self.assertEqual(self.stub().read_bytes(), self.pristine())
        self.assertEqual(self.names(), {"vector_add.cu"})

    def test_a_file_that_the_student_has_committed(self):
        if not shutil.which("git"):
            self.skipTest("no git")
        shutil.copy(ROOT / ".gitignore", self.project)

        def git(*arguments):
            return subprocess.run(["git", "-C", self.project, "-c", "user.name=A", "-c", "user.email=a@example.org",
                                   *arguments], capture_output=True, text=True, check=True).stdout

        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "The course")
        self.stub().write_text("my kernel", encoding="utf-8")
        git("commit", "-qam", "My work")
        self.says(0, "reset", "01")
        self.says(0, "hint", "01")
        self.assertEqual(self.stub().read_bytes(), self.pristine())
        self.assertEqual(git("status", "--short"), " M lessons/01_vector_add/vector_add.cu\n")  # what is kept is ignored

    def test_wrong_usage_and_a_course_that_is_not_whole(self):
        self.says(2, "reset")
        self.says(2, "reset", "all")
        self.stub().write_text("mine", encoding="utf-8")
        self.solution().unlink()
        self.assertIn("part of the course", " ".join(self.says(3, "reset", "01").split()))
        self.assertEqual(self.stub().read_text(encoding="utf-8"), "mine")


if __name__ == "__main__":
    COURSE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
