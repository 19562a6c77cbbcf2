#!/usr/bin/env python3
"""What scripts/compare_counters.py and scripts/measure_bounds.py do with ncu, with a program in its place.

Usage: profiling_test.py
"""

import contextlib
import io
import json
import os
import pathlib
import re
import stat
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(pathlib.Path(__file__).resolve().parent)]
import compare_bound  # noqa: E402
import compare_counters  # noqa: E402
import measure_bounds  # noqa: E402
import measure_torch_units  # noqa: E402
import profiling_example  # noqa: E402
import update_tables  # noqa: E402
import write_counters_page  # noqa: E402
from profiling import bounds, causes, counters, ncu, quoted  # noqa: E402

NCU = f"#!{sys.executable}\n" + (pathlib.Path(__file__).parent / "profiling_ncu.py").read_text(encoding="utf-8")


def names_of_tests(lesson):
    """The names of all test cases, of which a long one is written as several strings."""
    source = (ROOT / "tests" / "lessons" / f"{lesson}_test.cpp").read_text(encoding="utf-8")
    found = re.findall(r'TEST_CASE\(\s*((?:"(?:[^"\\]|\\.)*"\s*)+),', source)
    return {"".join(re.findall(r'"((?:[^"\\]|\\.)*)"', words)) for words in found}


class Chosen(unittest.TestCase):
    # Parts 1 to 5, of the last run in which everything was measured.
    lessons = sorted(f"{lesson['number']:02}_{lesson['name']}" for lesson in json.loads(
        (ROOT / "docs" / "results" / "bench_h100.json").read_text(encoding="utf-8"))["lessons"] if lesson["number"] <= 18)

    def test_each_case_is_one_of_its_lesson_and_each_lesson_has_one(self):
        for lesson, case in counters.CASES:
            self.assertIn(case, names_of_tests(lesson), lesson)
        fast = ["19_register_tiling", "20_async_pipeline", "21_tensor_cores", "22_tensor_core_attention", "24_tensor_core_backward",
                "30_split_kv_decoding"]
        self.assertEqual(sorted({lesson for lesson, _ in counters.CASES}), self.lessons + fast)

    def test_each_measurement_is_one_of_the_benchmarks_and_each_lesson_has_one(self):
        measured = json.loads((ROOT / "docs" / "results" / "bench_h100.json").read_text(encoding="utf-8"))["lessons"]
        names = {f"{lesson['number']:02}_{lesson['name']}": {f"{row['series']} {row['label']}"
                                                             for row in lesson["measurements"]} for lesson in measured}
        for lesson, measurement in bounds.MEASUREMENTS:
            self.assertIn(measurement, names[lesson], lesson)
        self.assertEqual(sorted({lesson for lesson, _ in bounds.MEASUREMENTS}), self.lessons)

    def test_metrics_have_names_and_units_of_ncu(self):
        for metric in [*counters.METRICS.values(), *bounds.ALL_METRICS]:
            self.assertRegex(metric, r"^(sm|smsp|l1tex|lts|dram|gpu|gpc)__\w+\.(sum|ratio|pct|avg)(\.\w+)?$")
        self.assertEqual(len(set(bounds.ALL_METRICS)), len(bounds.ALL_METRICS))


class LowerBound(unittest.TestCase):
    CASE = {"series": "matmul", "label": "M=1024", "launches": [{"unit": "float32 units", "cycles": 1}]}

    def shown(self, bound, time):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "bound.json"
            case = self.CASE | {"bound_milliseconds": bound, "milliseconds": time}
            file.write_text(json.dumps({"cases": [case]}), encoding="utf-8")
            output = io.StringIO()
            with contextlib.redirect_stdout(output):
                status = compare_bound.main(["--show", "--output", str(file)])
        return status, output.getvalue()

    def test_a_bound_below_the_time_is_as_it_should_be_and_one_above_is_named(self):
        status, text = self.shown(0.5, 2)
        self.assertEqual(status, 0)
        self.assertIn("0.5000 of  2.0000 ms  25%  float32 units", text)
        status, text = self.shown(3, 2)
        self.assertEqual(status, 1)
        self.assertIn("matmul, M=1024: the bound is above the time.", text)

    def test_all_that_is_recorded_are_below_and_of_the_times_that_are_recorded(self):
        results = ROOT / "docs" / "results"
        recorded = json.loads((results / "profile_bound_h100.json").read_text(encoding="utf-8"))
        bench = json.loads((results / recorded["times"]["file"]).read_text(encoding="utf-8"))
        self.assertEqual(len(recorded["cases"]), len(list(compare_bound.cases())))
        for case, compared in zip(sorted(compare_bound.cases(), key=lambda case: case.lesson), recorded["cases"]):
            self.assertEqual(compare_bound.measured(bench, case)[0]["milliseconds"], compared["milliseconds"], case)
            self.assertLess(compared["bound_milliseconds"], compared["milliseconds"], case)

    def test_a_kernel_that_does_not_run_is_told(self):
        case = next(compare_bound.cases())
        with mock.patch.object(subprocess, "run", return_value=mock.Mock(returncode=1, stdout="", stderr="no\n")):
            with self.assertRaisesRegex(compare_bound.Failure, "Lesson 6 did not run:\nno"):
                compare_bound.bounds_of(case)


class Names(unittest.TestCase):
    def test_kernels_lose_namespaces_parameters_and_types_of_constants(self):
        for demangled, short in (
            ("void course::<unnamed>::keys_kernel<(int)64, (bool)1>(course::View<const float, (int)4>)",
             "keys_kernel<64, 1>"),
            ("course::vector_add_kernel(const float *, const float *, float *, long)", "vector_add_kernel"),
            ("void course::(anonymous namespace)::delta_kernel(float *)", "delta_kernel"),
            ("void tile_kernel<course::device::TileShape<(int)4>>(int)", "tile_kernel<course::device::TileShape<4>>"),
        ):  # fmt: skip
            self.assertEqual(ncu.short_name(demangled), short)

    def test_a_name_of_a_case_is_no_pattern_to_catch2(self):
        self.assertEqual(counters.test_pattern('a "b", [c]*'), '\\a \\"b\\"\\, \\[c\\]\\*'[1:])


class Worker(unittest.TestCase):
    def test_a_worker_outlives_its_launcher_and_ends_when_its_tests_hang_up(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            done = folder / "done"
            worker, script = folder / "worker", folder / "script"
            worker.write_text(f"#!/bin/sh\nread line <&3\necho \"$1 $line\" > {done}\n", encoding="utf-8")
            script.write_text(counters.worker_script(str(worker)), encoding="utf-8")
            for file in (worker, script):
                file.chmod(0o755)
            reading, writing = os.pipe()
            process = subprocess.Popen(["/bin/sh", "-c", f"exec {script} --confined 3<&{reading}"],
                                       pass_fds=(reading,), start_new_session=True)
            os.close(reading)
            time.sleep(0.5)
            self.assertIsNone(process.poll())
            os.killpg(process.pid, 9)
            process.wait(10)
            os.write(writing, b"hung up\n")
            os.close(writing)
            for _ in range(100):
                if done.exists() and done.read_text(encoding="utf-8"):
                    break
                time.sleep(0.05)
            self.assertEqual(done.read_text(encoding="utf-8"), "--confined hung up\n")


class WithNcu(unittest.TestCase):
    """A folder with programs in place of ncu, nvcc and nvidia-smi, on PATH."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program("ncu", NCU)
        self.program("nvidia-smi", "#!/bin/sh\necho 'Example GPU, 1.2.3'\n")
        self.program("nvcc", profiling_example.NVCC)
        module = self.folder / "extras" / "python"
        module.mkdir(parents=True)
        (module / "ncu_report.py").write_text(profiling_example.NCU_REPORT, encoding="utf-8")
        patch = mock.patch.dict(os.environ, {"PATH": f"{self.folder}:{os.environ['PATH']}"})
        patch.start()
        self.addCleanup(patch.stop)
        self.addCleanup(sys.modules.pop, "ncu_report", None)
        path = list(sys.path)
        self.addCleanup(lambda: sys.path.__setitem__(slice(None), path))
        self.output = self.folder / "out.json"

    def program(self, name, text):
        file = self.folder / name
        file.write_text(text, encoding="utf-8")
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
        return file

    def result(self):
        return json.loads(self.output.read_text(encoding="utf-8"))

    def run_main(self, module, *words):
        """Exit status and what was said."""
        said = io.StringIO()
        with mock.patch.object(sys, "argv", ["script", "--output", str(self.output), *map(str, words)]), \
                contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):  # fmt: skip
            return module.main(), said.getvalue()


class Bounds(WithNcu):
    def test_one_failing_benchmark_does_not_lose_the_others_and_resume_measures_it_alone(self):
        (self.folder / "does_not_compile").write_text("04_safe_softmax", encoding="utf-8")
        status, said = self.run_main(measure_bounds, "--lessons", "3-5")
        self.assertEqual(status, 1, said)
        entries = {(entry["lesson"], entry["measurement"]): entry for entry in self.result()["entries"]}
        self.assertEqual(len(entries), 4)
        failed = entries["04_safe_softmax", "safe_softmax rows=65536 cols=4096"]
        self.assertIn("does not compile: an error of the example", failed["problem"])
        kernel = entries["03_weighted_row_sum", "weighted_row_sum rows=65536 cols=4096"]["kernels"][0]
        self.assertEqual(kernel["kernel"], "example_kernel<64>")
        self.assertEqual(kernel["grid"], [2, 1, 1])
        self.assertEqual(kernel["registers"], 40)
        self.assertEqual(list(kernel["waiting_warps"]), ["long_scoreboard", "barrier"])
        self.assertIsNone(kernel["l2_bytes"])  # what ncu does not know
        self.assertEqual(self.result()["gpu"], "Example GPU")

        (self.folder / "does_not_compile").unlink()
        (self.folder / "calls").unlink()
        status, said = self.run_main(measure_bounds, "--lessons", "3-5", "--resume")
        self.assertEqual(status, 0, said)
        calls = (self.folder / "calls").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len([call for call in calls if "--export" in call]), 1)
        self.assertIn("--profile-from-start off", calls[-1])
        self.assertIn("--profile --only safe_softmax rows=65536 cols=4096", calls[-1])

    def test_a_metric_that_ncu_does_not_know_is_left_out(self):
        (self.folder / "unknown_metric").write_text(bounds.METRICS["l2_bytes"], encoding="utf-8")
        status, said = self.run_main(measure_bounds, "--lessons", "1")
        self.assertEqual(status, 0, said)

    def test_a_benchmark_without_kernels_is_a_problem_in_its_own_words(self):
        (self.folder / "no_kernels").touch()
        status, said = self.run_main(measure_bounds, "--lessons", "1")
        self.assertEqual(status, 1, said)
        self.assertIn("ncu ended with status 1 and gave no kernels: no such measurement",
                      self.result()["entries"][0]["problem"])

    def test_the_table_has_a_line_for_each_kernel(self):
        self.run_main(measure_bounds, "--lessons", "1")
        status, said = self.run_main(measure_bounds, "--show")
        self.assertEqual(status, 0)
        self.assertRegex(said, r"example_kernel<64> +1\.500 +40 .*long_scoreboard 2\.50, barrier 0\.50")


class Units(WithNcu):
    def test_products_on_tensor_cores_and_multiply_adds_of_each_pass_are_counted(self):
        status, said = self.run_main(measure_torch_units)
        self.assertEqual(status, 0, said)
        entries = self.result()["entries"]
        self.assertEqual(len(entries), len(measure_torch_units.PASSES))
        self.assertEqual(entries[0]["kernels"], [{"kernel": "example_kernel<64>", "executed": 15,
                                                  "tensor_cores": {"HMMA.1688.F32.TF32": 3}, "ffma": 8}])  # fmt: skip
        calls = (self.folder / "calls").read_text(encoding="utf-8")
        self.assertIn("--one efficient backward float32 128", calls)
        status, said = self.run_main(measure_torch_units, "--show")
        self.assertEqual(status, 0)
        self.assertIn("efficient, forward, float32, D = 64\n", said)
        self.assertIn("15 instructions, 3 HMMA.1688.F32.TF32 on tensor cores, 8 FFMA: example_kernel<64>\n", said)

    def test_a_pass_without_kernels_does_not_lose_the_others(self):
        (self.folder / "no_kernels").write_text("naive forward float32 64", encoding="utf-8")
        status, said = self.run_main(measure_torch_units)
        self.assertEqual(status, 1, said)
        failed = [entry for entry in self.result()["entries"] if "problem" in entry]
        self.assertEqual([(entry["way"], entry["direction"], entry["D"]) for entry in failed], [("naive", "forward", 64)])


class Counters(WithNcu):
    def setUp(self):
        super().setUp()
        self.build = self.folder / "build"
        (self.build / "bin").mkdir(parents=True)
        lessons = [{"folder": lesson, "test": "/bin/true"} for lesson, _ in counters.CASES]
        (self.build / "toolchain.json").write_text(
            json.dumps({"gpu": {"worker": "/bin/true"}, "lessons": lessons}), encoding="utf-8")
        course = self.program("course", profiling_example.COURSE)
        course.rename(self.build / "bin" / "course")

    def measure(self, *words):
        return self.run_main(compare_counters, "--build", self.build, "--course", self.build / "bin" / "course", "--lessons",
                             "1,9", *words)

    def test_both_halves_meet_in_one_file(self):
        status, said = self.measure("--only", "profiler")
        self.assertEqual(status, 0, said)
        status, said = self.measure("--only", "simulator")
        self.assertEqual(status, 0, said)
        found = self.result()
        self.assertEqual(found["ncu"], "2025.3.1.0")
        self.assertEqual(len(found["entries"]), 3)
        for entry in found["entries"]:
            (there, here), *_ = counters.matched(entry)
            self.assertEqual(counters.pairs(there, here),
                             [("global_load.requests", 4, 2), ("global_load.sectors", 16, 16), ("barriers", 2, 2)])
            self.assertEqual(counters.line_pairs(there, here, "global_load.requests"), [("example.cu:7", 4, 2)])
            self.assertEqual(there["lines"]["example.cu:7"]["global_load"]["opcodes"], {"LDG.E.64": 2})

        status, said = self.measure("--show")
        self.assertIn("example_kernel<64> global_load.requests: simulator 4, profiler 2", said)
        self.assertIn("example.cu:7: 4, 2  [{'LDG.E.64': 2}]", said)
        self.assertIn("9 counters compared, 6 equal", said)

    def test_a_case_without_kernels_is_tried_twice_and_does_not_lose_the_others(self):
        (self.folder / "no_kernels").write_text("adds 255", encoding="utf-8")
        status, said = self.measure("--only", "profiler")
        self.assertEqual(status, 1, said)
        first, *others = self.result()["entries"]
        self.assertIn("Once more, without the script", first["profiler"]["problem"])
        for entry in others:
            self.assertEqual(len(entry["profiler"]["launches"]), 1)
        (self.folder / "no_kernels").unlink()
        status, said = self.measure("--only", "profiler", "--resume")
        self.assertEqual(status, 0, said)

    def test_when_the_time_is_over_what_is_missing_says_so(self):
        status, said = self.measure("--only", "profiler", "--seconds", "0")
        self.assertEqual(status, 1, said)
        self.assertEqual(self.result()["entries"][0]["profiler"], {"problem": "no time was left"})

    def both_halves(self):
        """The first entry of a file with both halves."""
        self.measure("--only", "profiler")
        self.measure("--only", "simulator")
        return self.result()["entries"][0]

    def test_launches_that_are_not_the_same_are_not_compared(self):
        entry = self.both_halves()
        entry["simulator"]["launches"][0]["grid"] = [3, 1, 1]
        with self.assertRaisesRegex(ncu.ProfileError, r"launch 0 of example_kernel<64> on the GPU, with the grid "
                                                      r"\[2, 1, 1\] .* is not among those of the simulator"):
            counters.matched(entry)
        del entry["simulator"]
        with self.assertRaisesRegex(ncu.ProfileError, "has no launches of the simulator: it was not measured"):
            counters.matched(entry)

    def test_launches_that_the_gpu_leaves_out_are_skipped_and_their_order_is_kept(self):
        entry = self.both_halves()
        launch = entry["simulator"]["launches"][0]
        other = launch | {"grid": [7, 1, 1]}
        entry["simulator"]["launches"] = [other, launch, other]
        self.assertIs(counters.matched(entry)[0][1], launch)
        there = entry["profiler"]["launches"][0]
        entry["profiler"]["launches"] = [there, there | {"grid": [7, 1, 1]}]
        self.assertEqual([here for _, here in counters.matched(entry)], [launch, other])
        entry["profiler"]["launches"].reverse()
        entry["simulator"]["launches"] = [launch, other]
        with self.assertRaisesRegex(ncu.ProfileError, "launch 1 of example_kernel"):
            counters.matched(entry)

    def test_a_kernel_behind_a_pointer_has_the_name_of_the_variable_and_another_kernel_is_not_the_same(self):
        entry = self.both_halves()
        launch = entry["simulator"]["launches"][0]
        launch["kernel"] = "kernel"
        self.assertEqual(len(counters.matched(entry)), 1)
        launch["kernel"] = "other_kernel"
        with self.assertRaises(ncu.ProfileError):
            counters.matched(entry)

    def test_the_file_keeps_the_lines_at_which_the_halves_differ(self):
        self.measure("--only", "profiler")
        self.assertEqual(list(self.result()["entries"][0]["profiler"]["launches"][0]["lines"]),
                         ["example.cu:7", "example.cu:8"])
        for half in self.both_halves().items():
            if half[0] in ("profiler", "simulator"):
                self.assertEqual(list(half[1]["launches"][0]["lines"]), ["example.cu:7"])

    def write_page(self, *words):
        """Exit status, what was said, and the page in one line."""
        said, page = io.StringIO(), self.folder / "page.md"
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = write_counters_page.main(["--results", str(self.output), "--page", str(page), *words])
        text = page.read_text(encoding="utf-8") if page.exists() else ""
        return status, said.getvalue(), text.replace("\n   ", " ").replace("\n", " ")

    def test_the_page_has_each_difference_with_its_cause_or_says_that_there_is_none(self):
        status, said, _ = self.write_page()
        self.assertEqual(status, 2)
        self.assertIn("scripts/compare_counters.py makes it", said)
        self.measure("--only", "profiler")
        self.measure("--only", "simulator")
        nothing = mock.patch.object(causes, "EXPLAINED", {})
        nothing.start()
        self.addCleanup(nothing.stop)
        self.assertEqual(self.write_page("--check")[0], 1)
        status, said, page = self.write_page()
        self.assertEqual(status, 0, said)
        self.assertIn("Of 9 numbers of 3 launches, 6 are equal, 0 differ for a known reason, and 3 are unexplained.",
                      page)
        row = "| `example_kernel` | global load, requests | 1 of 1 | 2 of 64 | 4 | 2 | +100.0\u00a0% unexplained |"
        self.assertIn(row, page)
        self.assertIn("4 of 6 counters of 2 launches agree.", page)  # lesson 09 has two cases
        self.assertEqual(self.write_page("--check")[0], 0)

        explained = {(lesson, "example_kernel", "global_load.requests"): "wider"
                     for lesson in ("01_vector_add", "09_flash2_forward")}
        with mock.patch.object(causes, "EXPLAINED", explained), \
                mock.patch.object(causes, "CAUSES", {"wider": "Two loads are one."}):  # fmt: skip
            status, said, page = self.write_page()
            self.assertEqual(status, 0, said)
            self.assertIn("1. Two loads are one.", page)
            self.assertIn("| 4 | 2 | +100.0\u00a0% [1] |", page)
            self.assertIn("3 differ for a known reason, and 0 are unexplained", page)
            with mock.patch.object(causes, "UNEXPLAINED", {"wider"}):
                page = self.write_page()[2]
                self.assertIn("| +100.0\u00a0% [1] unexplained |", page)
                self.assertIn("0 differ for a known reason, and 3 are unexplained", page)
            explained["01_vector_add", "example_kernel", "barriers"] = "wider"
            status, said, _ = self.write_page()
            self.assertEqual(status, 2)
            self.assertIn("explains what does not differ: ('01_vector_add', 'example_kernel', 'barriers')", said)

    def test_a_lesson_without_a_difference_has_a_sentence_and_no_table(self):
        self.both_halves()
        found = self.result()
        for entry in found["entries"]:
            entry["simulator"]["launches"][0]["total"]["global_load"]["requests"] = 2
        self.output.write_text(json.dumps(found), encoding="utf-8")
        with mock.patch.object(causes, "EXPLAINED", {}):
            page = self.write_page()[2]
        self.assertIn("all 3 counters of 1 launch agree.", page)
        self.assertNotIn("| kernel |", page)


class Quoted(unittest.TestCase):
    kernel = {"kernel": "keys_kernel<64>", "fma_pipe_percent": 50.4, "waiting_warps": {"barrier": 0.25}}
    entries = [
        {"lesson": "15_flash2_backward", "measurement": "flash2_backward N=4096 D=64 H=16", "kernels": [kernel]},
        {"lesson": "15_flash2_backward", "measurement": "flash2_backward N=4096 D=128 H=16",
         "kernels": [{"kernel": "keys_kernel<128>", "fma_pipe_percent": 1}, {"kernel": "keys_kernel<64>"}]},
        {"lesson": "16_grouped_query_backward", "measurement": "grouped", "kernels": [{"kernel": "x", "local": 0}]},
    ]  # fmt: skip

    def test_words_of_the_measurement_and_the_beginning_of_a_kernel_find_a_number(self):
        for name, found in (("15:D=64:keys:fma_pipe_percent", ("fma_pipe_percent", 50.4)),
                            ("15:flash2_backward+D=64:keys:waiting_warps.barrier", ("waiting_warps", 0.25)),
                            ("15:D=128:keys@1:fma_pipe_percent", ("fma_pipe_percent", 1)),
                            ("16:*:x:local", ("local", 0))):  # fmt: skip
            self.assertEqual(quoted.quoted(self.entries, name), found)

    def test_what_finds_no_number_or_several_is_an_error(self):
        for name, why in (("15:N=4096:keys:fma_pipe_percent", "names 2 measurements"),
                          ("15:D=64:queries:fma_pipe_percent", "names 0 kernels"),
                          ("15:D=128:keys:fma_pipe_percent", "names 2 kernels"),
                          ("15:D=128:keys@3:fma_pipe_percent", "names 0 kernels"),
                          ("15:D=128:keys@2:fma_pipe_percent", "names no number"),
                          ("15:D=64:keys:waiting_warps.sleeping", "names no number"),
                          ("15:keys:fma_pipe_percent", "is not LESSON:WORDS:KERNEL:NUMBER")):  # fmt: skip
            with self.assertRaisesRegex(quoted.QuoteError, why):
                quoted.quoted(self.entries, name)

    def test_every_lesson_that_was_profiled_quotes_the_bounds_on_its_page_for_a_gpu(self):
        profiled = {entry["lesson"] for entry in update_tables.result("bounds").data["entries"]}
        self.assertGreaterEqual(len(profiled), 18)
        for lesson in sorted(profiled):
            page = ROOT / "lessons" / lesson / "gpu.md"
            self.assertIn("<!-- value: bounds:", page.read_text(encoding="utf-8"), page)
            self.assertIn(page, update_tables.all_pages())


class Shown(unittest.TestCase):
    def test_a_table_whose_reader_has_gone_ends_quietly(self):
        for script in ("measure_bounds", "compare_counters"):
            reading, writing = os.pipe()
            os.close(reading)
            done = subprocess.run([sys.executable, "-B", ROOT / "scripts" / f"{script}.py", "--show"], stdout=writing,
                                  stderr=subprocess.PIPE, text=True, check=False)
            os.close(writing)
            self.assertEqual((done.returncode, done.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
