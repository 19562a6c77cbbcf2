#!/usr/bin/env python3
"""Grades made-up classes, and ends the grader in every way that a power cut or a person could.

    class_test.py COURSE SOURCE_DIR [--seed N] [unittest arguments]

COURSE is the built program. The seed, which is printed, decides when the grader is killed. Without a sandbox on this
machine, a line that begins with "skipped" says so, and the exit status is 0.
"""

import csv
import json
import os
import pathlib
import pwd
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unicodedata
import unittest
import xml.etree.ElementTree

import class_tools as tools

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts"))
from solution_page import page_of  # noqa: E402

DEADLINE_OPTIONS = ["--deadline", "2026-11-20 18:00", "--late", "50"]
LATE_SHARE = 0.5
SECONDS = 900  # that one run may take on a busy machine
SECRET = 987654321012345678
ROOT_OPTIONS = ["--as-root"] if os.geteuid() == 0 else []

COURSE = SOURCE = WORK = SEED = None
FEW = CLASS = None  # Graded; CLASS when its tests begin


def solution_of(lesson):
    """The bytes that students and the grader hand in as the solution of the lesson."""
    return page_of((SOURCE / "solutions" / lesson / f"{lesson[3:]}.cu").read_text(encoding="utf-8")).encode()


def make_class(name, *options):
    folder = WORK / name
    script = SOURCE / "scripts/make_class.py"
    subprocess.run([sys.executable, "-B", script, folder, *options], check=True, stdout=subprocess.DEVNULL)
    return folder


def words_of(submissions, out, *options, jobs=2, course=None, root=ROOT_OPTIONS):
    return [str(course or COURSE), "grade", str(submissions), "--out", str(out), "--backend", "cpu", "--jobs",
            str(jobs), *root, *options]  # fmt: skip


def run(words):
    """The run once it has ended, its output one text."""
    return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8", errors="backslashreplace", timeout=SECONDS, check=False)  # fmt: skip


def grade(submissions, out, *options, **settings):
    return run(words_of(submissions, out, *options, **settings))


def start(submissions, out, *options, **settings):
    """A run that goes on beside the test."""
    return subprocess.Popen(words_of(submissions, out, *options, **settings), stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")  # fmt: skip


def wait_for_verdicts(process, out, number):
    """Until so many files are judged, or the run has ended."""
    while process.poll() is None and len([*(out / ".grading/verdicts").glob("*.json")]) < number:
        time.sleep(0.01)


class Graded:
    """A class and its results, as one run without a stop makes them."""

    def __init__(self, name, lessons, options, *grade_options):
        self.lessons, self.options = lessons, grade_options
        self.submissions = make_class(name, *options)
        self.expected = tools.read_expected(self.submissions)
        self.out = WORK / f"{name}_out"
        begin = time.monotonic()
        self.run = grade(self.submissions, self.out, *grade_options)
        self.seconds = time.monotonic() - begin

    def copy(self, name):
        """The same results and verdicts in another folder."""
        return pathlib.Path(shutil.copytree(self.out, WORK / name, symlinks=True))

    def wrong_verdicts(self, out):
        return tools.wrong_verdicts(out, self.expected, late_share=LATE_SHARE if self.options else 1)


def columns(line):
    """How wide a terminal shows the line."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Case(unittest.TestCase):
    """What all runs must do."""

    maxDiff = None

    def assert_well_said(self, output):
        """Fit for a file: no line longer than 80 columns, no escape codes, nothing that only a programmer reads."""
        self.assertNotIn("\x1b", output)
        self.assertEqual([line for line in output.split("\n") if columns(line) > 80], [])
        self.assertNotRegex(output, r"terminate called|Traceback|what\(\):|Assertion")

    def assert_ends(self, ended, status):
        self.assertEqual(ended.returncode, status, ended.stdout)
        self.assert_well_said(ended.stdout)

    def assert_same_results(self, out, graded):
        changed = tools.differences(tools.results_tree(out), tools.results_tree(graded.out))
        self.assertEqual(changed, [], "not as a run without a stop has it")

    def assert_nothing_left(self, known, out):
        self.assertEqual(tools.left_over(known, out, seconds=1), [], "still runs a second after the grader was ended")


class AClass(Case):
    @classmethod
    def setUpClass(cls):
        global CLASS
        CLASS = Graded("class", ["01_vector_add", "03_weighted_row_sum"],
                       [*"--students 12 --lessons 1,3 --variety 2 --tricks imports --seed 186".split()],
                       *DEADLINE_OPTIONS)  # fmt: skip

    def test_gives_every_student_the_expected_verdict(self):
        self.assert_ends(CLASS.run, 0)
        self.assertEqual(CLASS.wrong_verdicts(CLASS.out), [])

    def test_leaves_all_files_of_the_class_and_of_each_student(self):
        files = {path.name for path in CLASS.out.iterdir() if path.is_file()}
        self.assertEqual(files, tools.CLASS_FILES)
        students = tools.read_results(CLASS.out)
        self.assertEqual(len(students), len(CLASS.expected["students"]))
        for student in students.values():
            self.assertEqual({path.name for path in student["folder"].iterdir()}, tools.STUDENT_FILES)

    def test_writes_the_same_points_into_every_format(self):
        grades = tools.read_grades(CLASS.out)
        with open(CLASS.out / "canvas.csv", encoding="utf-8", newline="") as file:
            canvas = {row[0]: row for row in csv.reader(file, strict=True)}
        results = tools.read_results(CLASS.out)
        for student in CLASS.expected["students"]:
            cell, known = tools.in_a_cell(student["name"]), results[tools.shown(student["name"])]
            points = [float(grades[cell, lesson]["points"]) for lesson in CLASS.expected["lessons"]]
            self.assertAlmostEqual(known["score"], sum(points), places=2)
            self.assertEqual([float(word) for word in canvas[cell][5:]], points)
            suites = xml.etree.ElementTree.parse(known["folder"] / "junit.xml").getroot().findall("testsuite")
            in_suites = [float(suite.find("properties/property[@name='points']").get("value")) for suite in suites]
            self.assertEqual(in_suites, points)
            feedback = (known["folder"] / "feedback.md").read_text(encoding="utf-8")
            self.assertIn(f"{sum(points):g} of ", feedback)
        self.assertEqual(json.loads((CLASS.out / "run.json").read_text(encoding="utf-8"))["students"], len(results))

    def test_judges_files_with_the_same_bytes_once(self):
        kept = tools.verdicts(CLASS.out)
        self.assertEqual(len({(verdict["says"]["conditions"], verdict["judged"]) for verdict in kept.values()}),
                         len(kept))  # fmt: skip
        solutions = {solution_of(lesson) for lesson in CLASS.lessons}
        judged = {verdict["judged"] for verdict in kept.values()}
        self.assertLessEqual(solutions, judged)
        works = {(lesson, student["lessons"][lesson]["kind"], student["lessons"][lesson]["source"])
                 for student in CLASS.expected["students"] for lesson in CLASS.lessons}  # fmt: skip
        works |= {(lesson, "solution", "") for lesson in CLASS.lessons}
        works = {work for work in works if work[1] not in ("missing", "misnamed", "empty")}
        self.assertEqual(len(kept), len(works))

    def test_run_again_judges_nothing_and_changes_no_byte(self):
        before, kept = tools.results_tree(CLASS.out), tools.verdicts(CLASS.out)
        timings = (CLASS.out / "timings.csv").read_bytes()
        self.assert_ends(grade(CLASS.submissions, CLASS.out, *CLASS.options), 0)
        self.assertEqual(tools.verdicts(CLASS.out), kept)
        self.assertEqual(tools.differences(tools.results_tree(CLASS.out), before), [])
        self.assertEqual((CLASS.out / "timings.csv").read_bytes(), timings)

    def test_judges_again_a_student_and_nobody_else(self):
        out = CLASS.copy("again_student")
        student = next(s for s in CLASS.expected["students"] if s["manner"] == "folder"
                       and {w["kind"] for w in s["lessons"].values()} & {"stub", "mutant", "alternative"})  # fmt: skip
        own = {path.read_bytes() for path in (CLASS.submissions / student["name"]).rglob("*")
               if path.suffix.lower() == ".cu" and "before" not in path.parts}  # fmt: skip
        self.assert_judged_again(out, student["name"], lambda says, judged: judged in own)

    def test_judges_again_a_lesson_and_no_other(self):
        out = CLASS.copy("again_lesson")
        solution = solution_of("03_weighted_row_sum")
        conditions = {v["says"]["conditions"] for v in tools.verdicts(out).values() if v["judged"] == solution}
        self.assert_judged_again(out, "3", lambda says, judged: says["conditions"] in conditions)

    def assert_judged_again(self, out, word, expected):
        before = tools.verdicts(out)
        self.assert_ends(grade(CLASS.submissions, out, *CLASS.options, "--regrade", word), 0)
        after = tools.verdicts(out)
        self.assertEqual(set(after), set(before))
        renewed = {name for name in after if after[name]["version"] != before[name]["version"]}
        wanted = {name for name, verdict in before.items() if expected(verdict["says"], verdict["judged"])}
        self.assertEqual(renewed, wanted)
        self.assertNotIn(len(wanted), (0, len(before)))  # else this test could not fail
        self.assert_same_results(out, CLASS)


class AStoppedRun(Case):
    def test_killed_twice_at_random_goes_on_to_the_same_bytes(self):
        out, moments = WORK / "killed", random.Random(SEED)
        for _ in range(2):
            process = start(FEW.submissions, out)
            time.sleep(moments.uniform(0.05, 0.7) * FEW.seconds)
            known = tools.descendants(process.pid)
            process.kill()
            process.communicate()
            with self.subTest("no process is left over"):
                self.assert_nothing_left(known, out)
        self.assert_ends(grade(FEW.submissions, out), 0)
        self.assert_same_results(out, FEW)
        self.assertEqual(FEW.wrong_verdicts(out), [])

    def test_killed_while_it_writes_goes_on_to_the_same_bytes(self):
        out, moments = FEW.copy("killed_writing"), random.Random(SEED)
        begin = time.monotonic()
        self.assert_ends(grade(FEW.submissions, out), 0)
        seconds = time.monotonic() - begin
        for _ in range(10):
            process = start(FEW.submissions, out)
            time.sleep(moments.uniform(0.2, 1) * seconds)
            process.kill()
            process.communicate()
        self.assert_ends(grade(FEW.submissions, out), 0)
        self.assert_same_results(out, FEW)

    def test_interrupted_says_so_and_goes_on(self):
        out, moments = WORK / "interrupted", random.Random(SEED + 1)
        process = start(FEW.submissions, out)
        # By its progress: seconds that another run took say little on a busy machine.
        wait_for_verdicts(process, out, moments.randrange(len(tools.verdicts(FEW.out)) - 2))
        time.sleep(moments.uniform(0, 0.3))
        known = tools.descendants(process.pid)
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, output)
        self.assert_well_said(output)
        self.assertIn("interrupted", output)
        with self.subTest("no process is left over"):
            self.assert_nothing_left(known, out)
        with self.subTest("nothing is left of what was made on the way"):
            self.assertEqual(list((out / ".grading").rglob(".scratch-*")), [])
        self.assert_ends(grade(FEW.submissions, out), 0)
        self.assert_same_results(out, FEW)

    def test_with_one_job_gives_the_same_bytes(self):
        out = WORK / "one_job"
        self.assert_ends(grade(FEW.submissions, out, jobs=1), 0)
        self.assert_same_results(out, FEW)


class ASecretSeed(Case):
    @classmethod
    def setUpClass(cls):
        cls.out = WORK / "secret"
        seed = WORK / "seed.txt"
        seed.write_text(f"{SECRET}\n", encoding="utf-8")
        cls.ended = grade(FEW.submissions, cls.out, "--secret-seed", str(seed))

    def test_halves_the_points_of_each_case(self):
        self.assert_ends(self.ended, 0)
        self.assertEqual(FEW.wrong_verdicts(self.out), [])
        hidden, plain = tools.read_results(self.out), tools.read_results(FEW.out)
        for name, student in hidden.items():
            before = {test["name"]: test for test in plain[name]["tests"]}
            for test in student["tests"]:
                title = test["name"].removesuffix(" (hidden data)")
                twin = len([one for one in student["tests"] if one["name"].startswith(title)]) == 2
                self.assertAlmostEqual(test["max_score"], before[title]["max_score"] / (2 if twin else 1))
                if "hidden" in test["tags"]:
                    self.assertEqual(test["visibility"], "after_published")
            self.assertAlmostEqual(sum(test["max_score"] for test in student["tests"]),
                                   sum(test["max_score"] for test in plain[name]["tests"]))  # fmt: skip
        tests = [test for student in hidden.values() for test in student["tests"]]
        self.assertTrue(any("hidden" in test["tags"] for test in tests))

    def test_shows_no_number_of_the_hidden_run(self):
        said = {True: set(), False: set()}  # long numbers in messages: of hidden cases, of open ones
        for verdict in tools.verdicts(self.out).values():
            for hidden, cases in ((True, verdict["says"]["hidden"]), (False, verdict["says"]["open"])):
                said[hidden] |= set(re.findall(r"\d+\.\d{3,}(?:e[-+]?\d+)?", json.dumps(cases)))
        secrets = said[True] - said[False]
        self.assertGreater(len(secrets), 3)  # else this test could not fail
        for path, content in tools.results_tree(self.out).items():
            text = content.decode("utf-8")
            with self.subTest(path):
                self.assertEqual([secret for secret in secrets if secret in text], [])
                self.assertEqual(str(SECRET) in text, path == "run.json")

    def test_keeps_the_verdicts_of_runs_without_it_apart(self):
        mine, theirs = tools.verdicts(self.out), tools.verdicts(FEW.out)
        self.assertEqual(set(mine) & set(theirs), set())


class AWrongValue(Case):
    def test_is_told_first_to_root_as_well(self):
        for option, value in [("--deadline", "soon"), ("--lessons", "99"), ("--secret-seed", "/nowhere"), ("--late", "x")]:
            ended = run([str(COURSE), "grade", str(FEW.submissions), "--out", str(WORK / "wrong"), option, value])
            self.assert_ends(ended, 2)
            self.assertIn(value, ended.stdout)
            self.assertNotIn("root", ended.stdout)


class AFolderForResults(Case):
    def test_with_something_else_in_it_is_refused(self):
        out = WORK / "photos"
        out.mkdir()
        (out / "holiday.jpg").write_bytes(b"sea")
        ended = grade(FEW.submissions, out)
        self.assert_ends(ended, 2)
        self.assertIn("has something else in it", " ".join(ended.stdout.split()))
        self.assertEqual([path.name for path in out.iterdir()], ["holiday.jpg"])

    def test_that_another_run_writes_to_is_refused(self):
        out = WORK / "two_at_once"
        first = start(FEW.submissions, out)
        try:
            while not (out / ".grading/lock").exists() and first.poll() is None:
                time.sleep(0.01)
            time.sleep(0.3)
            ended = grade(FEW.submissions, out)
            self.assertIsNone(first.poll())
            self.assert_ends(ended, 2)
            self.assertIn("in use", ended.stdout)
        finally:
            first.send_signal(signal.SIGTERM)
            first.communicate(timeout=60)

    def test_in_the_end_is_there_in_spite_of_a_full_disk(self):
        if os.geteuid() != 0:
            self.skipTest("a small disk is mounted by root alone")
        with SmallDisk(WORK / "disk", mebibytes=320) as disk:
            for free in (0, 300, 1000):
                disk.fill(leave_kibibytes=free)
                ended = run(disk.within(words_of(FEW.submissions, WORK / "disk/out")))
                disk.make_space()
                with self.subTest(f"students are told nothing of this machine, with {free} KiB left"):
                    told = {name for name, content in tools.results_tree(disk.path / "out").items()
                            if str(WORK).encode() in content and "/" in name}  # fmt: skip
                    self.assertEqual(told, set())
                with self.subTest(f"{free} KiB left"):
                    self.assert_well_said(ended.stdout)
                    self.assertIn(ended.returncode, (0, 1, 3) if free else (3,), ended.stdout)
                    if free == 0:
                        self.assertRegex(ended.stdout, r"No\s+space\s+left|disk[^.]*is\s+full")
            ended = run(disk.within(words_of(FEW.submissions, WORK / "disk/out")))
            self.assert_ends(ended, 0)
            shutil.copytree(disk.path / "out", WORK / "from_disk", ignore=shutil.ignore_patterns(".grading"))
        self.assert_same_results(WORK / "from_disk", FEW)

    def test_may_be_that_of_a_user_who_is_not_root(self):
        if os.geteuid() != 0:
            self.skipTest("already not root")
        user = ["setpriv", "--reuid=nobody", "--regid=65534", "--clear-groups"]
        if run([*user, "bwrap", "--unshare-user", "--ro-bind", "/", "/", "true"]).returncode != 0:
            self.skipTest("nobody may not make namespaces here")
        if run([*user, "cat", str(COURSE), str(SOURCE / "course")]).returncode != 0:
            self.skipTest("nobody may not read this build")
        home = WORK / "nobody"
        home.mkdir()
        course = own_build(home)
        for path in (home, *home.rglob("*")):
            os.chown(path, pwd.getpwnam("nobody").pw_uid, 65534)
        ended = run([*user, *words_of(FEW.submissions, home / "out", course=course, root=[])])
        self.assert_ends(ended, 0)
        self.assert_same_results(home / "out", FEW)

    def test_judges_again_with_another_grader_alone(self):
        out, home = FEW.copy("another_grader"), WORK / "another_grader_build"
        home.mkdir()
        course, before = own_build(home), tools.verdicts(out)
        self.assert_ends(grade(FEW.submissions, out, course=course), 0)
        self.assertEqual(tools.verdicts(out), before)
        with (home / "bin/course-staff").open("ab") as program:
            program.write(b"another")
        self.assert_ends(grade(FEW.submissions, out, course=course), 0)
        conditions = {verdict["says"]["conditions"] for verdict in before.values()}
        again = [verdict["judged"] for verdict in tools.verdicts(out).values()
                 if verdict["says"]["conditions"] not in conditions]  # fmt: skip
        self.assertCountEqual(again, [verdict["judged"] for verdict in before.values()])
        self.assert_same_results(out, FEW)


def own_build(folder):
    """The program in a build folder of its own, whose tools are those that are built already."""
    toolchain = json.loads((COURSE.parent.parent / "toolchain.json").read_text(encoding="utf-8"))
    toolchain |= {"binary_dir": str(folder), "ninja": shutil.which("true")}
    (folder / "bin").mkdir()
    (folder / "toolchain.json").write_text(json.dumps(toolchain), encoding="utf-8")
    (folder / "build.ninja").touch()  # without it the build counts as not configured
    shutil.copy2(COURSE.with_name("course-staff"), folder / "bin/course-staff")
    return pathlib.Path(shutil.copy2(COURSE, folder / "bin/course"))


class SmallDisk:
    """A disk in memory, mounted where only commands `within` see it; gone when this process is."""

    def __init__(self, place, mebibytes):
        place.mkdir()
        mount = f'mount -t tmpfs -o size={mebibytes}m small "$1" && echo mounted && exec cat'
        self.holder = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "sh", "-c", mount, "sh",
                                        str(place)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
        if self.holder.stdout.readline() != b"mounted\n":
            raise unittest.SkipTest("no disk can be mounted here")
        self.path = pathlib.Path(f"/proc/{self.holder.pid}/root{place}")
        self.filler = self.path / "filler"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.holder.communicate()

    def within(self, words):
        return ["nsenter", "--mount", "--target", str(self.holder.pid), "--", *words]

    def fill(self, leave_kibibytes):
        state = os.statvfs(self.path)
        with open(self.filler, "wb") as file:
            os.posix_fallocate(file.fileno(), 0, max(state.f_bfree * state.f_bsize - leave_kibibytes * 1024, 1))

    def make_space(self):
        self.filler.unlink()


def prepare():
    """Grades a few students. Returns why that is not possible here, or nothing."""
    global FEW
    for tool in ("bwrap", "setpriv", "prlimit"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    FEW = Graded("few", ["01_vector_add"], [*"--students 7 --lessons 1 --variety 1 --tricks imports --seed 2".split()])
    if FEW.run.returncode == 3 and "The sandbox does not work" in FEW.run.stdout:
        return " ".join(FEW.run.stdout.split())
    return ""


def main():
    global COURSE, SOURCE, WORK, SEED
    COURSE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    rest = sys.argv[3:]
    SEED = int(rest.pop(rest.index("--seed") + 1)) if "--seed" in rest else time.time_ns() % 1_000_000
    rest = [word for word in rest if word != "--seed"]
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        WORK = pathlib.Path(folder)
        WORK.chmod(0o755)
        if why_not := prepare():
            print(f"skipped: {why_not}")
            return 0
        print(f"seed {SEED}; {len(FEW.expected['students'])} students took {FEW.seconds:.0f} s", flush=True)
        return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
