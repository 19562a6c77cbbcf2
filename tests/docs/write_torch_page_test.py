#!/usr/bin/env python3
"""What scripts/check_claims.py and scripts/write_torch_page.py make of results, and what they say where one is missing.

Usage: write_torch_page_test.py
"""

import contextlib
import copy
import io
import pathlib
import re
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(pathlib.Path(__file__).resolve().parent)]
import check_claims  # noqa: E402
import torch_example  # noqa: E402
import write_torch_page  # noqa: E402

EXAMPLE = torch_example.all_results()


class Claims(unittest.TestCase):
    def setUp(self):
        self.result = copy.deepcopy(EXAMPLE["compare_torch_forward"])

    def rows(self):
        """Cells of the rows of the first table."""
        lines = check_claims.report([self.result]).split("\n\n")[2].splitlines()[2:]
        return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]

    def row(self, lesson, shape):
        found = [cells for cells in self.rows() if cells[0] == lesson and cells[1] == shape]
        self.assertEqual(len(found), 1)
        return found[0]

    def set_naive(self, factor):
        for case in self.result["cases"]:
            case["torch"]["naive"] = {"milliseconds": factor * case["ours"]["milliseconds"],
                                      "extra_bytes": factor * case["ours"]["extra_bytes"]}

    def test_an_interval_has_three_sides(self):
        self.assertEqual([check_claims.held(value, (40, 50)) for value in (39.9, 40, 45, 50, 50.1)],
                         ["below", "holds", "holds", "holds", "above"])

    def test_verdicts_follow_from_the_results(self):
        self.assertEqual(self.row("09", "4 × 32 × 4,096 × 64"),
                         ["09", "4 × 32 × 4,096 × 64", "all keys", "2.50", "below", "127", "holds", "0.80", "1.00"])
        self.set_naive(45)
        self.assertEqual(self.row("09", "4 × 32 × 4,096 × 64")[3:7], ["45.0", "holds", "45.0", "below"])

    def test_what_did_not_run_has_its_reason_and_no_verdict(self):
        self.assertEqual(self.row("09", "1 × 32 × 16,384 × 64")[3:7], ["(out of memory)", "-", "(out of memory)", "-"])

    def test_lesson_07_is_no_claim(self):
        self.assertNotIn("07", {cells[0] for cells in self.rows()})

    def test_memory_is_linear_if_a_token_costs_the_same_at_each_length(self):
        rows = check_claims.linear_rows(check_claims.forward_cases([self.result]))
        nine = [cells for cells in rows if cells[:2] == ["09", "64"]][0]
        self.assertEqual(nine[3:5], ["1.00 from 1,024 to 16,384", "linear"])
        self.assertEqual(nine[6], "not linear")
        for case in self.result["cases"]:
            case["ours"]["extra_bytes"] *= case["N"]
        rows = check_claims.linear_rows(check_claims.forward_cases([self.result]))
        self.assertEqual([cells[4] for cells in rows if cells[:2] == ["09", "64"]], ["not linear"])

    def test_the_summary_counts_what_holds(self):
        self.set_naive(45)
        self.assertRegex(check_claims.report([self.result]),
                         r"40-50 times as fast .*: in (\d+) of \1 cases; the factors are 45\.0 to 45\.0\.")

    def test_tables_have_as_many_cells_in_each_row(self):
        for table in check_claims.report([self.result]).split("\n\n")[2:]:
            self.assertEqual(len({line.count("|") for line in table.splitlines()}), 1)

    def test_results_without_forward_passes(self):
        with self.assertRaises(check_claims.ClaimError):
            check_claims.report([{**self.result, "cases": []}])


class Page(unittest.TestCase):
    """The page of an example in a folder of its own, with pictures that have nothing but a title."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = copy.deepcopy(EXAMPLE)
        (self.folder / "figures").mkdir()
        for name in (*write_torch_page.FIGURES, "roofline"):
            text = f'<svg><title id="title">What {name} shows</title></svg>'
            (self.folder / "figures" / f"{name}.svg").write_text(text, encoding="utf-8")

    def write_page(self, *words):
        torch_example.write(self.results, self.folder)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = write_torch_page.main(["--gpu", "example", "--results", str(self.folder), "--page",
                                            str(self.folder / "page.md"), "--figures",
                                            str(self.folder / "figures"), *words])
        return status, said.getvalue()

    def test_it_shows_each_figure_with_words_for_those_who_do_not_see_it(self):
        self.assertEqual(self.write_page()[0], 0)
        text = (self.folder / "page.md").read_text(encoding="utf-8")
        for name in (*write_torch_page.FIGURES, "roofline"):
            self.assertIn(f'<img src="figures/{name}.svg" width="664" alt="What {name} shows.">', text)

    def test_a_figure_that_is_missing_is_named_with_the_command_that_draws_it(self):
        (self.folder / "figures" / "torch_time.svg").unlink()
        status, said = self.write_page()
        self.assertEqual(status, 2)
        self.assertIn("torch_time.svg; run scripts/plot_results.py torch_time", said)

    def test_numbers_are_those_of_the_results(self):
        self.write_page()
        text = (self.folder / "page.md").read_text(encoding="utf-8")
        self.assertIn("| 09 | all keys | 64 | 4,096 | 55.0\u00a0ms | 10.0 | 50\u00a0% | 2.50 | 2.50 | 0.80 | |", text)
        self.assertIn("a copy moved 1,000 GB/s, and cuBLAS did 20.0 TFLOP/s", text)

    def test_twins_in_triton_are_a_column_where_they_were_timed(self):
        self.write_page()
        self.assertNotIn("Triton", (self.folder / "page.md").read_text(encoding="utf-8"))
        case = next(case for case in self.results["compare_torch_forward"]["cases"]
                    if (case["lesson"], case["N"], case["D"], case["layout"]) == (9, 4096, 64, "bhnd"))
        case["triton"] = {"milliseconds": 1.5 * case["ours"]["milliseconds"]}
        self.write_page()
        text = (self.folder / "page.md").read_text(encoding="utf-8")
        self.assertIn("| 09 | all keys | 64 | 4,096 | 55.0\u00a0ms | 10.0 | 50\u00a0% | 2.50 | 2.50 | 0.80 | | 1.50 |", text)
        self.assertEqual(text.count("| Triton twin |"), 1)
        self.assertIn('"Triton twin" is the lesson', text)

    def test_what_failed_or_was_left_out_is_on_the_page(self):
        case = self.results["compare_torch_forward"]["cases"][0]
        case["ours"] = {"failed": "its process ended with signal 6: <x>"}
        self.results["compare_torch_backward"]["left_out"] = ["18 forward, N 1024"]
        self.assertEqual(self.write_page()[0], 0)
        text = (self.folder / "page.md").read_text(encoding="utf-8")
        self.assertIn("its process ended with signal 6: &lt;x&gt;", text)
        self.assertRegex(text, r"- Left out of \[compare_torch_backward\]\(.*\), which names them, for want of time: 1 of its cases")

    def test_check_is_content_until_a_result_changes(self):
        self.assertEqual(self.write_page("--check")[0], 1)
        self.write_page()
        self.assertEqual(self.write_page("--check"), (0, ""))
        self.results["compare_torch_forward"]["cases"][0]["ours"]["milliseconds"] *= 2
        status, said = self.write_page("--check")
        self.assertEqual(status, 1)
        self.assertIn("page.md is out of date; run scripts/write_torch_page.py", said)

    def test_a_result_that_is_missing_is_named(self):
        del self.results["compare_torch_errors"]
        status, said = self.write_page()
        self.assertEqual(status, 2)
        self.assertIn("scripts/compare_torch.py --errors --json", said)

    def test_without_benchmarks_the_roofline_is_left_out(self):
        del self.results["bench"]
        self.assertEqual(self.write_page()[0], 0)
        self.assertNotIn("roofline", (self.folder / "page.md").read_text(encoding="utf-8"))


class Guide(unittest.TestCase):
    def test_options_that_docs_gpu_names_exist(self):
        import compare_torch
        with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.suppress(SystemExit):
            compare_torch.parse_arguments(["--help"])
        text = (ROOT / "docs" / "gpu.md").read_text(encoding="utf-8")
        for line in text.splitlines():
            if "compare_torch.py" in line:
                for option in re.findall(r"(?<= )--[a-z-]+", line.split("compare_torch.py", 1)[1].split("`")[0]):
                    with self.subTest(option):
                        self.assertIn(option, said.getvalue())


if __name__ == "__main__":
    unittest.main()
