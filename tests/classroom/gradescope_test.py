#!/usr/bin/env python3
"""Makes the zip for Gradescope's autograder, looks into it, and runs its run_autograder on a few submissions.

    gradescope_test.py COURSE SOURCE_DIR [unittest arguments]

What setup.sh makes, a course in /autograder/course, is stood in for by COURSE, the built program; bare_machine.sh runs all
of it. Without a sandbox on this machine, a line that begins with "skipped" says so, and the exit status is 0.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

try:
    import jsonschema
except ImportError:
    jsonschema = None

COURSE = SOURCE = None


class AZip(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="gradescope-")
        self.addCleanup(folder.cleanup)
        self.work = pathlib.Path(folder.name)
        self.work.chmod(0o755)

    def make(self, *options, out="autograder.zip"):
        made = subprocess.run([sys.executable, "-B", SOURCE / "scripts/gradescope_zip.py", "--out", self.work / out,
                               *options], capture_output=True, encoding="utf-8", check=False)  # fmt: skip
        self.output = made.stdout + made.stderr
        return made.returncode

    def unpack(self):
        with zipfile.ZipFile(self.work / "autograder.zip") as packed:
            packed.extractall(self.work / "source")
            return {info.filename: info.external_attr >> 16 & 0o777 for info in packed.infolist()}

    def test_holds_what_gradescope_looks_for_and_the_course(self):
        self.assertEqual(self.make("--lessons", "1", "3-4"), 0, self.output)
        modes = self.unpack()
        self.assertEqual(modes, {"setup.sh": 0o755, "run_autograder": 0o755, "options": 0o644, "course.tar.gz": 0o644})
        with tarfile.open(self.work / "source/course.tar.gz") as course:
            members = {member.name: member for member in course.getmembers()}
            solution = course.extractfile("solutions/01_vector_add/vector_add.cu").read()
        self.assertEqual(solution, (SOURCE / "solutions/01_vector_add/vector_add.cu").read_bytes())
        for name in ("course", "scripts/setup.sh", "CMakeLists.txt", "lessons/03_weighted_row_sum/weighted_row_sum.cu"):
            self.assertIn(name, members)
        self.assertEqual(members["course"].mode, 0o755)
        self.assertEqual([name for name in members if name.startswith(("build", ".git/"))], [])
        options = (self.work / "source/options").read_text(encoding="utf-8").split()
        self.assertEqual(options, ["--isolation", "process", "--lessons", "1", "3-4"])

    def test_has_the_same_bytes_each_time(self):
        for name in ("one.zip", "two.zip"):
            self.assertEqual(self.make("--lessons", "1", out=name), 0)
        self.assertEqual((self.work / "one.zip").read_bytes(), (self.work / "two.zip").read_bytes())

    def test_takes_a_secret_seed_from_a_file_alone(self):
        seed = self.work / "seed.txt"
        for wrong in ("0", "12a", "", "1" * 19):
            seed.write_text(wrong, encoding="utf-8")
            self.assertEqual(self.make("--lessons", "1", "--secret-seed", seed), 1)
            self.assertIn("no whole number", self.output)
        seed.write_text("987654321\n", encoding="utf-8")
        self.assertEqual(self.make("--lessons", "1", "--secret-seed", seed), 0, self.output)
        self.assertIn("seed.txt", self.unpack())
        self.assertIn("--secret-seed\nseed.txt\n", (self.work / "source/options").read_text(encoding="utf-8"))

    def test_refuses_lessons_that_a_shell_would_read(self):
        self.assertEqual(self.make("--lessons", "1; rm"), 2)

    def autograder(self):
        """As setup.sh leaves it."""
        self.make("--lessons", "1", "--isolation", "namespaces")
        self.unpack()
        for folder in ("course", "submission", "results"):
            (self.work / folder).mkdir()
        shutil.copy(self.work / "source/options", self.work / "course")
        program = self.work / "course/course"
        program.write_text(f'#!/bin/sh\nshift\nexec "{COURSE}" "$@"\n', encoding="utf-8")  # shift: --yes
        program.chmod(0o755)

    def judge(self, content, name="vector_add.cu"):
        for path in (self.work / "submission").iterdir():
            path.unlink()
        if content is not None:
            (self.work / "submission" / name).write_text(content, encoding="utf-8")
        results = self.work / "results/results.json"
        results.unlink(missing_ok=True)
        ended = subprocess.run(["sh", self.work / "source/run_autograder"], stdin=subprocess.DEVNULL, check=False,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                               env={**os.environ, "AUTOGRADER": str(self.work)})  # fmt: skip
        return ended, json.loads(results.read_text(encoding="utf-8")) if results.exists() else None

    def test_gives_points_in_gradescopes_form(self):
        self.autograder()
        solution = (SOURCE / "solutions/01_vector_add/vector_add.cu").read_text(encoding="utf-8")
        ended, results = self.judge(solution)
        if "The sandbox does not work" in ended.stdout:
            self.skipTest("no sandbox here")
        self.assertEqual(ended.returncode, 0, ended.stdout)
        self.assertEqual(results["score"], 24)
        self.assertEqual({test["status"] for test in results["tests"]}, {"passed"})
        if jsonschema:
            schema = SOURCE / "tests/classroom/schemas/gradescope.schema.json"
            jsonschema.validate(results, json.loads(schema.read_text(encoding="utf-8")))
        ended, results = self.judge("int main( {")
        self.assertEqual((ended.returncode, results["score"]), (0, 0), ended.stdout)
        self.assertIn("does not compile", json.dumps(results))
        ended, results = self.judge("no kernel", name="essay.txt")
        self.assertEqual((ended.returncode, results["score"]), (0, 0), ended.stdout)

    def test_gives_no_points_at_all_where_the_machine_fails(self):
        self.autograder()
        (self.work / "course/course").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
        ended, results = self.judge("anything")
        self.assertEqual((ended.returncode, results), (1, None))
        self.assertIn("no fault of the student", ended.stdout)


def main():
    global COURSE, SOURCE
    COURSE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    if shutil.which("bwrap") is None:
        print("skipped: bwrap is not installed")
        return 0
    return 0 if unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
