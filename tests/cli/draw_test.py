#!/usr/bin/env python3
"""Drives ./course draw on solutions: pictures, words, and counts that must be those of ./course profile.

Usage: draw_test.py PATH_TO_COURSE [TEST ...]
"""

import collections
import json
import os
import pathlib
import pty
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

COURSE = pathlib.Path(sys.argv.pop(1)).resolve()
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "common/draw"), str(ROOT / "scripts")]
os.environ["COURSE_BUILD_DIR"] = str(COURSE.parent.parent)
import figure_draw  # noqa: E402
import trace_traffic  # noqa: E402
from trace_steps import read_trace  # noqa: E402


def course(*arguments, environment=None, folder=None):
    return subprocess.run([COURSE, *arguments], capture_output=True, text=True, cwd=folder or ROOT,
                          env={**os.environ, "NO_COLOR": "1", **(environment or {})})


class Counted:
    """Adds up what a trace counts, by kind of access, and holds each access against the rules by which it is drawn."""

    def __init__(self, test):
        self.test, self.totals = test, collections.Counter()

    def begin(self, arrays):
        """Needs none of them."""

    def add(self, step):
        if not step.is_access:
            return
        kind, cost = f"{step.memory}_{step.kind}", max(step.sectors, step.wavefronts)
        counted = (trace_traffic.wavefronts_counted if step.memory == "shared" else trace_traffic.sectors_counted)(step)
        self.test.assertEqual(counted, cost, step)
        self.totals[kind, "requests"] += 1
        self.totals[kind, "wavefronts" if step.memory == "shared" else "sectors"] += cost
        self.totals[kind, "bytes_asked"] += len(step.lanes) * step.bytes


class Draw(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def assert_one_message(self, result, status, *words):
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        text = " ".join(result.stderr.split())
        for word in words:
            self.assertIn(word, text)
        self.assertLessEqual(len(result.stderr.splitlines()), 4, result.stderr)

    def test_writes_the_picture_here_and_says_it(self):
        result = course("draw", "01", "--solution", "--case", "255, 256", folder=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        text = " ".join(result.stdout.split())
        self.assertIn("What block (0,0,0) of vector_add_kernel touches.", text)
        self.assertRegex(text, r"Warp 0, step 0, load of a \(vector_add\.cu:\d+\): 32 lanes touch 32 consecutive elements "
                         r"of 4 bytes, 4 sectors, all bytes used\. And 6 more steps like this by 6 other warps, each 128 "
                         r"bytes further\.")
        self.assertRegex(text, r"The picture is in 01_vector_add\.svg \(\d+\.\d KiB\)\.$")
        self.assertLess(max(map(len, result.stdout.splitlines())), 81)
        picture = (self.folder / "01_vector_add.svg").read_text(encoding="utf-8")
        xml.etree.ElementTree.fromstring(picture)
        self.assertIn("c[i] = a[i] + b[i]", picture)
        self.assertIn("prefers-color-scheme: dark", picture)

    def test_to_standard_output_it_is_the_picture_alone(self):
        result = course("draw", "01", "--solution", "--step", "2", "--out", "-")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        xml.etree.ElementTree.fromstring(result.stdout)
        self.assertIn("step 2, store of c", result.stdout)

    def test_opens_nothing_where_there_is_no_terminal(self):
        opener = self.folder / "xdg-open"
        opener.write_text(f"#!/bin/sh\ntouch {self.folder}/opened\n", encoding="utf-8")
        opener.chmod(0o755)
        path = f"{self.folder}:{os.environ['PATH']}"
        result = course("draw", "01", "--solution", "--open", environment={"PATH": path}, folder=self.folder)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertFalse((self.folder / "opened").exists())

    def test_opens_the_picture_on_a_terminal(self):
        try:
            ours, its = pty.openpty()
        except OSError as error:
            self.skipTest(f"no pseudo-terminal here: {error}")
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, its)
        programs = self.folder / "programs"
        programs.mkdir()
        (programs / "python3").symlink_to(sys.executable)  # what PATH has may be a script that needs more programs
        for name in ("env", "sh", "ninja", "cmake", "c++", "g++", "as", "ld"):
            if found := shutil.which(name):
                (programs / name).symlink_to(found)

        def draw():
            return subprocess.run([COURSE, "draw", "01", "--solution", "--step", "0", "--open"], stdout=its, text=True,
                                  stderr=subprocess.PIPE, cwd=self.folder,
                                  env={**os.environ, "TERM": "dumb", "PATH": str(programs)})

        result = draw()
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("xdg-open is not installed; open 01_vector_add.svg in a browser.", result.stderr)
        opener = programs / "xdg-open"
        opener.write_text(f'#!/bin/sh\necho "$1" > {self.folder}/opened\n', encoding="utf-8")
        opener.chmod(0o755)
        result = draw()
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual((self.folder / "opened").read_text(encoding="utf-8"), "01_vector_add.svg\n")

    def test_transpose_has_no_conflict_and_without_padding_all_of_them(self):
        copy = self.folder / "unpadded.cu"
        text = (ROOT / "solutions/02_matrix_strides/matrix_strides.cu").read_text(encoding="utf-8")
        copy.write_text(text.replace(*figure_draw.UNPADDED), encoding="utf-8")
        for which, cost in ((["--solution"], "1 wavefront, no bank conflict"),
                            (["--file", copy], "32 wavefronts where 1 would do: a bank conflict")):
            result = course("draw", "02", *which, "--case", "without bank conflicts", "--out", self.folder / "x.svg")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertRegex(" ".join(result.stdout.split()), rf"load of tile_smem \([^)]*\): [^:]*, {cost}\.")

    def test_counts_are_those_of_profile(self):
        """Of the only block of the first launch of a case."""
        for lesson, case in (("01", "ten numbers"), ("02", "transposes squares")):
            with self.subTest(lesson):
                trace, counts = self.folder / "t.json", self.folder / "c.json"
                for arguments in (("trace", lesson, "--solution", "--case", case, "--out", trace),
                                  ("profile", lesson, "--solution", "--case", case, "--all", "--json", counts)):
                    self.assertEqual(course(*arguments).returncode, 0)
                launch = json.loads(counts.read_text(encoding="utf-8"))["launches"][0]
                counted = Counted(self)
                head = read_trace(trace, [counted])
                self.assertEqual((list(head.grid), launch["grid"]), ([1, 1, 1], [1, 1, 1]))
                self.assertTrue(counted.totals)
                for (kind, name), count in counted.totals.items():
                    self.assertEqual(count, launch["total"][kind][name], f"{kind} {name}")
                self.assertEqual(sum(launch["total"][kind]["requests"] for kind in launch["total"] if "_" in kind and
                                     isinstance(launch["total"][kind], dict)),
                                 sum(count for (_, name), count in counted.totals.items() if name == "requests"))

    def test_recorded_figures_are_what_the_solutions_do(self):
        for figure in ("01_vector_add_draw", "02_matrix_strides_draw"):
            recorded = (figure_draw.FIGURES / f"{figure}.json").read_text(encoding="utf-8")
            self.assertEqual(figure_draw.record(figure), recorded, f"scripts/figure_draw.py --record {figure}.svg")

    def test_views_are_traced_with_their_shape(self):
        trace = self.folder / "t.json"
        case = "copies a square"
        self.assertEqual(course("trace", "02", "--solution", "--case", case, "--out", trace).returncode, 0)
        head = read_trace(trace, [])
        arrays = {array["name"]: array for array in head.arrays}
        self.assertEqual((arrays["src.data"]["shape"], arrays["src.data"]["strides"]), ([3, 3], [3, 1]))

    def test_wrong_usage_is_one_sentence(self):
        for arguments, words in (
                (("--at", "1"), "--at 1: write launch,x,y,z"),
                (("--out", self.folder / "none" / "x.svg"), "there is no folder"),
                (("--out", self.folder), "that is a folder"),
                (("--solution", "--file", ROOT / "README.md"), "--solution and --file exclude each other"),
                (("--solution", "--step", "99"), "it has no step 99; its steps are 0 to 2")):
            with self.subTest(arguments):
                self.assert_one_message(course("draw", "01", *arguments, folder=self.folder), 2, words)
        for arguments in ((), ("01", "--step", "x"), ("01", "--step", "-1")):
            with self.subTest(arguments):
                self.assertEqual(course("draw", *arguments, folder=self.folder).returncode, 2)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_a_case_that_there_is_not_is_answered_with_those_there_are(self):
        result = course("draw", "01", "--solution", "--case", "zzz", folder=self.folder)
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertIn('No case of lesson 01 has "zzz" in its name. Its cases:', result.stderr)
        self.assertIn("adds the ten numbers of the notes", result.stderr)

    def test_draws_what_lanes_hold_for_tensor_cores_without_a_kernel(self):
        result = course("draw", "21", "--fragments", folder=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("Which lane holds what", result.stdout)
        self.assertIn("The picture is in fragments.svg", result.stdout)
        self.assertEqual((self.folder / "fragments.svg").read_text(encoding="utf-8"),
                         (ROOT / "docs/figures/21_tensor_cores.svg").read_text(encoding="utf-8"))

    def test_draws_how_an_accumulator_becomes_an_operand(self):
        result = course("draw", "22", "--fragments", folder=self.folder)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("no number changes its lane", result.stdout.replace("\n", " "))
        self.assertEqual((self.folder / "operand.svg").read_text(encoding="utf-8"),
                         (ROOT / "docs/figures/22_tensor_core_attention.svg").read_text(encoding="utf-8"))

    def test_what_never_runs_cannot_be_drawn(self):
        for arguments, words in ((("--at", "0,0,7,0"), "No test case makes a call in which 0,0,7,0 is run"),
                                 (("--file", ROOT / "lessons/01_vector_add/vector_add.cu"), "No test case makes a call")):
            with self.subTest(arguments):
                solution = () if "--file" in arguments else ("--solution",)
                self.assert_one_message(course("draw", "01", *solution, *arguments, folder=self.folder), 1, words)
        self.assertEqual(list(self.folder.iterdir()), [])

    def test_needs_python(self):
        result = course("draw", "01", "--solution", environment={"PATH": str(self.folder)}, folder=self.folder)
        self.assert_one_message(result, 3, "Pictures are drawn by python3, which this machine does not have")


if __name__ == "__main__":
    unittest.main()
