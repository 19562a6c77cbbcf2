#!/usr/bin/env python3
"""Drives `course bench` where no GPU is needed: what it refuses, and in which words.

    bench_test.py COURSE [unittest arguments]
"""

import pathlib

import driver


def bench(*arguments):
    return driver.course("bench", *arguments)


class Refusals(driver.Case):
    def test_the_simulator_is_not_timed(self):
        result = bench("01", "--backend", "cpu")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "Only a GPU can be timed", "./course profile")

    def test_a_lesson_without_a_benchmark_names_those_that_have_one(self):
        lessons = {folder.parent.name for folder in driver.ROOT.glob("lessons/*/lesson.json")}
        measured = {file.name.removesuffix("_bench.cu") for file in driver.ROOT.glob("tests/lessons/bench/*_bench.cu")}
        self.assertLessEqual(measured, lessons)
        for lesson in sorted(lessons - measured):
            with self.subTest(lesson):
                result = bench(lesson)
                self.assertEqual(result.returncode, 2)
                self.assert_one_message(result, f"Without a benchmark: {lesson[:2]}", "01, 02")

    def test_unknown_lesson(self):
        self.assertEqual(bench("99").returncode, 2)

    def test_solution_and_file_exclude_each_other(self):
        result = bench("01", "--solution", "--file", driver.SOLUTION)
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "exclude each other")

    def test_file_needs_one_lesson(self):
        for lessons in ((), ("1-2",)):
            with self.subTest(lessons):
                result = bench(*lessons, "--file", driver.SOLUTION)
                self.assertEqual(result.returncode, 2)
                self.assert_one_message(result, "exactly one lesson")

    def test_missing_file(self):
        result = bench("01", "--file", self.folder / "none.cu")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "There is no file")

    def test_results_into_a_folder_that_is_not_there(self):
        result = bench("01", "--json", self.folder / "none" / "results.json")
        self.assertEqual(result.returncode, 2)
        self.assert_one_message(result, "there is no folder")

    def test_a_machine_without_a_gpu(self):
        if pathlib.Path("/dev/nvidiactl").exists():
            self.skipTest("this machine may have a GPU")
        for arguments in (("01",), ("01", "--solution"), ()):
            with self.subTest(arguments):
                result = bench(*arguments, "--json", self.folder / "results.json")
                self.assertEqual(result.returncode, 3)
                self.assert_one_message(result, "GPU", "./course profile")
                self.assertFalse((self.folder / "results.json").exists())

    def test_help_tells_how_a_floor_comes_about(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        self.assertIn("--solution", result.stdout)
        self.assertIn("floor", result.stdout)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)


if __name__ == "__main__":
    driver.main()
