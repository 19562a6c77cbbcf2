#!/usr/bin/env python3
"""Makes packages of the worked solutions and of wrong files by `course export`, installs one, and runs their tests.

    export_test.py COURSE [unittest arguments]

COURSE is the built program. NumPy is enough; what needs PyTorch says "skipped" where that is not installed. To test a
package with a Python of your own: PYTHON=/path/to/python3.
"""

import base64
import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/cli"))
import learner_test  # noqa: E402

COURSE = pathlib.Path()
PYTHON = os.environ.get("PYTHON", sys.executable)


def run(*words, **options):
    return subprocess.run([*map(str, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False, **options)


def has(module):
    return run(PYTHON, "-c", f"import {module}").returncode == 0


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "package"

    def export(self, *words, status=0):
        result = run(COURSE, "export", *words, "--out", self.out, "--solution", "--backend", "cpu")
        self.assertEqual(result.returncode, status, result.stdout)
        return result.stdout

    def run_tests(self, *words, path=None):
        """The package's own tests; gives what they said."""
        environment = {**os.environ, "PYTHONPATH": str(path or self.out), "PYTHONDONTWRITEBYTECODE": "1"}
        result = run(PYTHON, self.out / "test_attention.py", "-v", *words, env=environment, cwd=self.folder)
        self.assertEqual(result.returncode, 0, result.stdout)
        return result.stdout

    def assert_ran(self, name, said):
        """All tests that ran have passed, or run_tests() would have complained: this one was not skipped."""
        self.assertRegex(said, rf"\b{name} ")
        self.assertNotRegex(said, rf"\b{name} .*\bskipped\b")


class Usage(Case):
    def refuses(self, words, *arguments):
        """Wrong usage is one sentence, and nothing is written."""
        result = self.export(*arguments, status=2)
        self.assertIn(words, " ".join(result.split()))
        self.assertEqual([path.name for path in self.folder.iterdir() if path.is_dir() and any(path.iterdir())], [])

    def test_a_lesson_without_attention(self):
        self.refuses("only attention can be exported", "05")
        self.refuses("09, 09 with 15, 10", "05")

    def test_passes_that_do_not_belong_together(self):
        self.refuses("export 17, 24:", "17", "24")
        self.refuses("export 24:", "24")
        self.refuses("export 09, 10, 11:", "9-11")

    def test_folders_that_cannot_be_made(self):
        self.out = self.folder / "file"
        self.out.touch()
        self.refuses("that is a file", "17")
        self.out = self.folder / "none/package"
        self.refuses("there is no folder", "17")

    def test_a_folder_that_is_not_empty_stays_as_it_is(self):
        self.out.mkdir()
        (self.out / "mine").touch()
        self.assertIn("that folder is not empty", self.export("17", status=2))
        self.assertEqual([path.name for path in self.out.iterdir()], ["mine"])

    def test_a_file_that_has_not_passed_is_told(self):
        progress = {**os.environ, "COURSE_PROGRESS": str(self.folder / "progress.json")}  # of somebody who begins
        said = run(COURSE, "export", "10", "--out", self.out, "--backend", "cpu", env=progress)
        self.assertEqual(said.returncode, 0, said.stdout)
        self.assertIn("your file of lesson 10 has not passed its tests", " ".join(said.stdout.split()))
        self.out = self.folder / "solution"
        self.assertNotIn("has not passed", self.export("10"))

    def test_help(self):
        self.assertIn("./course export 22 24", run(COURSE, "export", "--help").stdout)


class Package(Case):
    def setUp(self):
        super().setUp()
        self.out.mkdir()  # an empty one will do
        self.said = self.export("17")
        self.module = self.out / "course_attention_17"

    def test_it_is_installed_and_computes(self):
        if not has("numpy"):
            self.skipTest("NumPy is not installed")
        target = self.out
        if has("pip"):
            target = self.folder / "installed"
            result = run(PYTHON, "-m", "pip", "install", "--no-index", "--target", target, self.out)
            self.assertEqual(result.returncode, 0, result.stdout)
            self.assertTrue((target / "course_attention_17/17_full_backward_cpu.so").is_file())
        said = self.run_tests("Arrays", path=target)
        self.assert_ran("test_backward", said)
        self.assert_ran("test_forward", said)

    def test_what_it_says_of_itself(self):
        self.assertIn("worked solutions of 17", self.said)
        build = json.loads((self.module / "build.json").read_text(encoding="utf-8"))
        self.assertEqual((build["backends"], build["kernels"], build["types"]), (["cpu"], "worked solutions", ["float32"]))
        self.assertNotIn("@NAME@", "".join(file.read_text(encoding="utf-8") for file in self.out.glob("*.*")))

    def test_the_wheel_is_as_its_record_says(self):
        sys.path.insert(0, str(self.out))
        self.addCleanup(sys.path.remove, str(self.out))
        self.addCleanup(sys.modules.pop, "wheel_backend")
        import wheel_backend

        wheel = self.folder / wheel_backend.build_wheel(self.folder)
        self.assertRegex(wheel.name, r"^course_attention_17-1-py3-none-linux_\w+\.whl$")
        with zipfile.ZipFile(wheel) as archive:
            record = archive.read("course_attention_17-1.dist-info/RECORD").decode().splitlines()
            names = [line.split(",")[0] for line in record]
            self.assertEqual(sorted(names), sorted(archive.namelist()))
            for line in record[:-1]:
                name, digest, size = line.split(",")
                content = archive.read(name)
                found = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
                self.assertEqual((digest, int(size)), (f"sha256={found}", len(content)))


class Pair(Case):
    """Other lessons than 17: what they lack is refused by name, which the packages' own tests see to."""

    def setUp(self):
        super().setUp()
        if not has("numpy"):
            self.skipTest("NumPy is not installed")

    def test_a_forward_and_a_backward_pass(self):
        self.export("24", "22")
        self.assert_ran("test_backward", self.run_tests("Arrays"))

    def test_a_forward_pass_that_is_always_causal(self):
        self.export("10")
        said = self.run_tests("Arrays")
        self.assertRegex(said, r"test_backward.*skipped")
        self.assert_ran("test_gradients_that_are_missing_are_named", said)

    def test_a_pair_of_float32(self):
        self.export("11", "16")
        self.assert_ran("test_backward", self.run_tests("Arrays"))


class Broken(learner_test.Case):
    """The student's own files, in a copy of the project."""

    def setUp(self):
        learner_test.COURSE = COURSE
        super().setUp()
        staff = self.project / "build/bin/course-staff"
        staff.write_bytes((COURSE.parent / "course-staff").read_bytes())
        staff.chmod(0o755)
        self.out = self.project / "package"
        self.file = self.stub("09_flash2_forward")
        self.file.write_bytes(self.solution("09_flash2_forward").read_bytes())

    def export(self, status):
        result = self.course("export", "09", "--out", self.out, "--backend", "cpu")
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        return result.stdout

    def attend(self):
        program = ("import numpy, course_attention_09 as course\n"
                   "Q = numpy.ones((1, 1, 4, 8), 'float32')\n"
                   "try: course.forward(Q, Q, Q)\n"
                   "except RuntimeError as error: print('told:', error)\n"
                   "else: print('fine')\n")
        return run(PYTHON, "-c", program, env={**os.environ, "PYTHONPATH": str(self.out)}).stdout

    def test_a_file_that_does_not_compile_gives_no_package(self):
        self.file.write_text(self.file.read_text(encoding="utf-8").replace("expf(", "exqf("), encoding="utf-8")
        said = self.export(1)
        self.assertIn("09_flash2_forward does not compile, and nothing was exported", said)
        self.assertIn("flash2_forward.cu", said)
        self.assertFalse(self.out.exists())

    def test_a_kernel_that_crashes_is_an_exception_with_its_line(self):
        if not has("numpy"):
            self.skipTest("NumPy is not installed")
        text = self.file.read_text(encoding="utf-8")
        crash = "__global__ void crash_kernel(int* nowhere) { *nowhere = 1; }\n"
        begin, entry = text.index("namespace course {\n") + len("namespace course {\n"), "void flash2_forward("
        text = text[:begin] + crash + text[begin:]
        body = text.index("{\n", text.rindex(entry)) + 2
        self.file.write_text(text[:body] + "  crash_kernel<<<1, 1>>>(nullptr);\n" + text[body:], encoding="utf-8")
        self.export(0)
        self.assertRegex(self.attend(), r"told: Lesson 09: .*flash2_forward\.cu")

    def test_the_students_own_kernel_is_exported(self):
        if not has("numpy"):
            self.skipTest("NumPy is not installed")
        self.export(0)
        self.assertEqual(self.attend(), "fine\n")
        build = json.loads((self.out / "course_attention_09/build.json").read_text(encoding="utf-8"))
        self.assertEqual(build["kernels"], "student's own")


class Torch(Case):
    def setUp(self):
        super().setUp()
        if not has("torch"):
            sys.exit(print("skipped: PyTorch is not installed") or 0)

    def test_the_operator(self):
        self.export("17")
        said = self.run_tests("Tensors")
        for name in ("beside_pytorch", "compile", "gradcheck", "opcheck"):
            self.assert_ran(f"test_{name}", said)

    def test_the_operator_without_gradients(self):
        self.export("12")
        said = self.run_tests("Tensors")
        self.assert_ran("test_compile", said)
        result = run(PYTHON, self.out / "train_transformer.py")
        self.assertEqual((result.returncode, "cannot train" in result.stdout), (2, True), result.stdout)

    def test_the_example_learns_as_with_pytorch(self):
        self.export("17")
        result = run(PYTHON, self.out / "train_transformer.py", "--steps", 30)
        self.assertEqual(result.returncode, 0, result.stdout)
        lines = [line.split() for line in result.stdout.splitlines()[1:]]
        self.assertLess(float(lines[-1][1]), float(lines[0][1]))
        for _step, _ours, _theirs, apart in lines:
            self.assertLess(float(apart), 1e-3)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    COURSE = pathlib.Path(sys.argv[1]).resolve()
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
