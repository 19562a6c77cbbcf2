#!/usr/bin/env python3
"""What scripts/compare_torch.py does without a GPU and without PyTorch: cases, arguments, libraries, the worker's end.

Usage: compare_torch_test.py
"""

import contextlib
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(pathlib.Path(__file__).resolve().parent)]
import compare_torch  # noqa: E402
import torch_example  # noqa: E402
from torch_comparison import cases, client, library, tables  # noqa: E402


def seen_by_hand(case):
    """Pairs that see each other, one by one, by the contract of lesson 17."""
    window = case.window or case.N
    return sum((not case.causal or j <= p) and (p - j < window or j < case.sinks)
               for p in range(case.N) for j in range(case.N))


class Cases(unittest.TestCase):
    def test_pairs_are_those_of_the_contract(self):
        for window, sinks in ((None, 0), (1, 0), (7, 0), (7, 4), (7, 40), (29, 4), (30, 4), (99, 4)):
            for causal in (True, False) if window is None else (True,):
                case = cases.Case(17, "forward", 1, 1, 1, 30, 8, causal=causal, window=window, sinks=sinks)
                with self.subTest(window=window, sinks=sinks, causal=causal):
                    self.assertEqual(case.pairs(), seen_by_hand(case))

    def test_operations_and_bytes_by_their_formulas(self):
        forward = cases.Case(11, "forward", 2, 4, 1, 16, 8)
        self.assertEqual(forward.operations(), 4 * 2 * 4 * 16 * 16 * 8)
        self.assertEqual(forward.bytes(), 4 * (2 * 16 * 8 * (4 + 4 + 1 + 1) + 2 * 4 * 16))
        backward = cases.Case(16, "backward", 2, 4, 4, 16, 8)
        self.assertEqual(backward.operations(), 10 * 2 * 4 * 16 * 16 * 8)
        self.assertEqual(backward.bytes(), 2 * 4 * (9 * 16 * 8 * 4 + 16 * 16))
        half = cases.Case(24, "backward", 2, 4, 4, 16, 8, dtype="float16")
        self.assertEqual(half.operations(), backward.operations())
        self.assertEqual(half.bytes(), 2 * 4 * (9 * 16 * 8 * 2 + 16 * 16))

    def test_every_lesson_has_as_many_tokens_and_the_same_width(self):
        for case in cases.choose_cases(sorted(cases.FOLDERS)):
            self.assertEqual(case.B * case.N, max(16384, case.N), case.label())
            if case.H == case.H_kv:
                self.assertEqual(case.H * case.D, 2048, case.label())
            else:
                self.assertEqual((case.H, case.H_kv), (32, 8), case.label())

    def test_each_lesson_is_there_with_each_length_and_each_entry(self):
        chosen = cases.choose_cases(sorted(cases.FOLDERS))
        for entry in library.ENTRIES:
            lengths = {case.N for case in chosen if (case.lesson, case.direction) == entry}
            with self.subTest(entry):
                # Random numbers of dropout end at 4096; no window hides anything of 1024 tokens.
                missing = {18: {8192, 16384}, 12: {1024}, 13: {1024}}.get(entry[0], set())
                self.assertEqual(lengths - {cases.FAR}, set(cases.LENGTHS) - missing)

    def test_lessons_of_16_bits_have_64_k_tokens_wide_rows_and_groups(self):
        chosen = cases.choose_cases([22, 24])
        for lesson, widest in ((22, 256), (24, 128)):  # as their contracts have it
            own = [case for case in chosen if case.lesson == lesson]
            self.assertEqual(max(case.D for case in own), widest)
            self.assertEqual(max(case.N for case in own), 65536)
            self.assertEqual({(case.H, case.H_kv) for case in own if case.H != case.H_kv}, {(32, 8)})

    def test_labels_tell_all_cases_apart(self):
        labels = [case.label() for case in cases.choose_cases(sorted(cases.FOLDERS))]
        self.assertEqual(len(labels), len(set(labels)))

    def test_a_budget_cuts_off_no_lesson(self):
        chosen = cases.choose_cases(sorted(cases.FOLDERS))
        first = [case for case in chosen if case.N == chosen[0].N]
        self.assertEqual(chosen[:len(first)], first)
        self.assertEqual({case.lesson for case in first}, set(cases.FOLDERS))

    def test_quick_is_a_part_of_all(self):
        quick, everything = cases.choose_cases([9, 17], quick=True), cases.choose_cases([9, 17])
        self.assertTrue(set(quick) < set(everything))
        self.assertEqual({case.layout for case in quick}, {"bhnd"})

    def test_errors_are_measured_by_length_and_by_spread(self):
        chosen = [case for case in cases.error_cases([9]) if case.lesson == 9]
        self.assertEqual({case.N for case in chosen if case.spread == 1}, {256, 1024, 4096, 16384})
        self.assertEqual({case.spread for case in chosen if case.N == 1024}, {1, 4, 16, 64})


class Arguments(unittest.TestCase):
    def says(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            compare_torch.parse_arguments(words)
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def test_lessons_as_numbers_and_ranges(self):
        self.assertEqual(compare_torch.parse_arguments(["--lessons", "7-10,15,9"]).lessons, [7, 8, 9, 10, 15])
        self.assertEqual(compare_torch.parse_arguments([]).lessons, sorted(cases.FOLDERS))

    def test_lessons_without_attention_and_words_that_are_none(self):
        self.assertIn("7-13, 15-19, 22 and 24", self.says("--lessons", "3"))
        self.assertIn("nine is neither a number nor a range", self.says("--lessons", "nine"))
        self.assertIn("neither a number", self.says("--lessons", "9,"))

    def test_libraries_that_cannot_be(self):
        self.assertIn("LESSON=FILE", self.says("--library", "kernel.so"))
        self.assertIn("there is no file nowhere.so", self.says("--library", "9=nowhere.so"))

    def test_a_folder_for_results_that_is_not_there(self):
        self.assertIn("there is no such folder", self.says("--json", "/nowhere/at/all.json"))
        self.assertIn("above 0", self.says("--time-budget", "0"))
        self.assertIn("there is none called -", self.says("--resume"))

    def test_twins_are_timed(self):
        self.assertTrue(compare_torch.parse_arguments(["--triton"]).triton)
        self.assertIn("exclude each other", self.says("--errors", "--triton"))


class Libraries(unittest.TestCase):
    def test_reads_what_course_build_prints(self):
        text = ("ok    09_flash2_forward  unchanged  /a folder/x.so\nFAIL  10_causal  0.2 s\n"
                "      causal.cu:3: expected ;\n      and more\n")
        found = library.read_build(text, [9, 10, 11])
        self.assertEqual(found[9], pathlib.Path("/a folder/x.so"))
        self.assertEqual(str(found[10]), "It does not compile. causal.cu:3: expected ; and more")
        self.assertIsInstance(found[11], library.LibraryError)

    def test_types_are_those_of_the_contracts(self):
        for (lesson, direction), (name, words) in library.ENTRIES.items():
            dtype = "bfloat16" if "{type}" in name else "float32"
            name = name.format(type=dtype)
            folder = cases.FOLDERS[lesson]
            header = (ROOT / "lessons" / folder / f"{folder[3:]}.hpp").read_text(encoding="utf-8")
            declared = " ".join(header.split(f"void {name}(", 1)[1].split(");", 1)[0].split())
            wanted = []
            for word in words.split():
                kind = library.parameter_type(word, direction, dtype).replace("course::", "")
                kind = re.sub(r"(float|bfloat16) const", r"const \1", kind).replace("unsigned long", "std::uint64_t")
                wanted.append(f"{'std::int64_t' if kind == 'long' else kind} {word}")
            with self.subTest(name, lesson=lesson):
                self.assertEqual(declared, ", ".join(wanted))

    def test_a_file_that_is_no_library_is_named(self):
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            with self.assertRaisesRegex(library.LibraryError, "cannot be loaded"):
                library.Library(file.name)

    def test_a_library_without_a_table(self):
        with self.assertRaisesRegex(library.LibraryError, "no table of entries"):
            library.Library("libc.so.6")


WORKER = """
import json, os, sys, time
first = json.loads(sys.stdin.readline())
print(json.dumps({"machine": {"gpu": "a"}, "ceilings": {} if first["ceilings"] else None}), flush=True)
for line in sys.stdin:
    case = json.loads(line)["case"]
    if case["N"] == 1: os.abort()
    if case["N"] == 2: sys.exit("terminate called: what(): D must be at most 128.")
    if case["N"] == 3: time.sleep(60)
    print(json.dumps({**case, "ours": {"milliseconds": os.getpid()}, "torch": {}}), flush=True)
"""


class Workers(unittest.TestCase):
    def setUp(self):
        self.client = client.Client([sys.executable, "-c", WORKER], {}, 20)
        self.addCleanup(lambda: self.client.stop())

    def ask(self, N):
        return self.client.ask(cases.Case(9, "forward", 1, 1, 1, N, 8), False)["ours"]

    def test_one_process_answers_as_long_as_it_lives(self):
        self.assertEqual(self.ask(10)["milliseconds"], self.ask(11)["milliseconds"])
        self.assertEqual(self.client.machine, {"gpu": "a"})

    def test_a_case_that_crashes_is_an_entry_and_the_next_one_goes_on(self):
        before = self.ask(10)["milliseconds"]
        self.assertIn("its process ended with signal 6", self.ask(1)["failed"])
        self.assertIn("D must be at most 128", self.ask(2)["failed"])
        self.assertNotEqual(self.ask(10)["milliseconds"], before)

    def test_a_case_that_takes_too_long_is_ended(self):
        self.client.case_seconds = 0.3
        self.assertIn("took longer than", self.ask(3)["failed"])
        self.client.case_seconds = 20
        self.assertIn("milliseconds", self.ask(10))

    def test_a_machine_that_lacks_something_says_so(self):
        answer = json.dumps({"lacks": "PyTorch finds no GPU."})
        lacking = client.Client([sys.executable, "-c", f"print({answer!r}, flush=True); input()"], {}, 20)
        self.addCleanup(lacking.stop)
        with self.assertRaisesRegex(client.Lacks, "PyTorch finds no GPU"):
            lacking.start()

    def test_a_worker_that_does_not_start(self):
        dead = client.Client([sys.executable, "-c", "raise SystemExit('no such thing')"], {}, 20)
        self.addCleanup(dead.stop)
        with self.assertRaisesRegex(client.Lacks, "no such thing"):
            dead.start()


class Tables(unittest.TestCase):
    def setUp(self):
        self.found = torch_example.result_of(cases.problem(9, "forward", 4096, 64))

    def test_the_larger_floor_counts(self):
        case = {"operations": 2_000_000_000_000, "bytes": 1_000_000_000}
        self.assertEqual(tables.floor_milliseconds(case, torch_example.CEILINGS), (100.0, "operations"))
        half = {**case, "dtype": "bfloat16"}
        self.assertEqual(tables.floor_milliseconds(half, {**torch_example.CEILINGS, "matmul_bfloat16_teraflops": 200}),
                         (10.0, "operations"))
        case["operations"] = 1
        self.assertEqual(tables.floor_milliseconds(case, torch_example.CEILINGS), (1.0, "bytes"))

    def test_a_line_has_time_rate_share_and_factors(self):
        line = tables.line_of(self.found, torch_example.CEILINGS)
        self.assertRegex(line, r"^09 forward, N 4096, D 64.* 55\.0 +10\.0 +50 % +x2\.50 +x2\.50 +x0\.80 +- +- +-$")

    def test_a_twin_in_triton_is_one_more_column(self):
        self.found["triton"] = {"milliseconds": 2 * self.found["ours"]["milliseconds"]}
        self.assertRegex(tables.line_of(self.found, torch_example.CEILINGS), r"x0\.80 +- +- +- +x2\.00$")
        self.found["triton"] = {"failed": "Triton failed: a tile is too large"}
        self.assertRegex(tables.line_of(self.found, torch_example.CEILINGS), r"x0\.80 +- +- +- +-$")

    def test_a_line_of_what_failed_has_the_reason(self):
        self.found["ours"] = {"failed": "wrong, so not timed: O is off by 1, allowed are 1e-06"}
        self.assertTrue(tables.line_of(self.found).endswith("O is off by 1, allowed are 1e-06"))
        self.assertFalse(tables.is_right(self.found))

    def test_errors_that_are_too_large_stand_out(self):
        self.found["ours"]["errors"]["O"].update({"error": None, "right": False})
        self.assertIn("O nan/7e-06 WRONG, lse 7e-06/7e-06", tables.error_line(self.found))


class Reports(unittest.TestCase):
    MACHINE = {"gpu": "a", "driver": "1", "torch": "2", "device": "GPU-1"}

    def resumed(self, file, **machine):
        arguments = compare_torch.parse_arguments(["--json", str(file), "--resume"])
        return compare_torch.Report(arguments, {**self.MACHINE, **machine}, {"of": "a later run"})

    def test_a_run_goes_on_where_an_earlier_one_was(self):
        done, left = (cases.problem(9, "forward", N, 64) for N in (4096, 1024))
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            first = compare_torch.Report(compare_torch.parse_arguments(["--json", str(file)]), self.MACHINE,
                                         torch_example.CEILINGS)
            first.add(torch_example.result_of(done))
            first.finish([left], 10)
            second = self.resumed(file)
            self.assertEqual([second.lacks(case) for case in (done, left)], [False, True])
            second.add(torch_example.result_of(left))
            second.finish([], 5)
            content = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual([case["N"] for case in content["cases"]], [4096, 1024])
            self.assertEqual((content["left_out"], content["parts"], content["seconds"]), ([], 2, 15))
            self.assertEqual(content["ceilings"], torch_example.CEILINGS)
            with self.assertRaisesRegex(compare_torch.Unlike, "has gpu a, and this is b"):
                self.resumed(file, gpu="b")

    def test_a_later_run_adds_the_twins_and_measures_their_cases_again(self):
        plain, without = cases.problem(9, "forward", 4096, 64), cases.problem(8, "forward", 4096, 64)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            file.write_text(json.dumps({**torch_example.comparison([plain, without]), **self.MACHINE}), encoding="utf-8")
            self.assertFalse(self.resumed(file).lacks(plain))
            arguments = compare_torch.parse_arguments(["--json", str(file), "--resume", "--triton"])
            report = compare_torch.Report(arguments, self.MACHINE, {})
            self.assertEqual([report.lacks(case) for case in (plain, without)], [True, False])
            report.add({**torch_example.result_of(plain), "triton": {"failed": "Triton cannot be imported."}})
            self.assertFalse(report.lacks(plain))
            content = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual([case["lesson"] for case in content["cases"]], [8, 9])

    def test_the_file_is_whole_after_every_case_and_has_what_was_left_out(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            arguments = compare_torch.parse_arguments(["--json", str(file)])
            report = compare_torch.Report(arguments, {"gpu": "a", "device": "GPU-1"}, torch_example.CEILINGS)
            case = cases.problem(9, "forward", 4096, 64)
            report.add(torch_example.result_of(case))
            self.assertEqual(len(json.loads(file.read_text(encoding="utf-8"))["cases"]), 1)
            report.finish([case], 1.0)
            content = json.loads(file.read_text(encoding="utf-8"))
            self.assertEqual(content["left_out"], [case.label()])
            self.assertNotIn("device", content)
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [file])


if __name__ == "__main__":
    unittest.main()
