#!/usr/bin/env python3
"""What scripts/plot_results.py and scripts/check_claims.py make of results, and what they say where some are missing.

Usage: plot_results_test.py
"""

import contextlib
import copy
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(pathlib.Path(__file__).resolve().parent)]
import charts  # noqa: E402
import check_claims  # noqa: E402
import plot_results  # noqa: E402
import torch_example  # noqa: E402
import write_torch_page  # noqa: E402
from torch_comparison import results  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
EXAMPLE = torch_example.all_results()


class Case(unittest.TestCase):
    """Results of an example in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = copy.deepcopy(EXAMPLE)

    def write(self):
        for name, content in self.results.items():
            (self.folder / f"{name}_example.json").write_text(json.dumps(content), encoding="utf-8")

    def run_script(self, *figures):
        """Exit status, and what was printed."""
        self.write()
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = plot_results.main(["--gpu", "example", "--results", str(self.folder), "--out",
                                        str(self.folder / "out"), *figures])
        return status, said.getvalue()

    def drawn(self, name):
        self.assertEqual(self.run_script(name)[0], 0)
        return (self.folder / "out" / f"{name}.svg").read_text(encoding="utf-8")


class Figures(Case):
    def test_each_is_well_formed_has_a_title_and_both_colour_schemes(self):
        for name in plot_results.FIGURES:
            with self.subTest(name):
                text = self.drawn(name)
                root = xml.etree.ElementTree.fromstring(text)
                self.assertGreater(len(root.find(f"{SVG}title").text), 40)
                self.assertIn("prefers-color-scheme: dark", text)
                self.assertIn("Example GPU, CUDA 13.0", text)

    def test_the_same_results_give_the_same_bytes(self):
        for name in plot_results.FIGURES:
            with self.subTest(name):
                self.assertEqual(self.drawn(name), self.drawn(name))

    def test_everything_lies_within_the_picture(self):
        for name in plot_results.FIGURES:
            root = xml.etree.ElementTree.fromstring(self.drawn(name))
            high = float(root.get("height"))
            for element in root.iter():
                x = element.get("x") or element.get("cx")
                y = element.get("y") or element.get("cy")
                if x and y and element.get("width") != "100%":
                    with self.subTest(name, text=element.text, x=x, y=y):
                        self.assertTrue(0 <= float(x) <= charts.WIDTH)
                        self.assertTrue(0 <= float(y) <= high)

    def test_the_ladder_has_each_lesson_for_both_dims(self):
        text = self.drawn("torch_ladder")
        for lesson, title in plot_results.TITLES.items():
            self.assertEqual(text.count(f">{lesson:02} {title}<"), 2, title)
        self.assertIn(">50 %, 55.0 ms<", text)  # lesson 09: half of 20 TFLOP/s

    def test_a_line_ends_where_pytorch_ran_out_of_memory(self):
        root = xml.etree.ElementTree.fromstring(self.drawn("torch_time"))
        lines = [path.get("d").count(" L ") + 1 for path in root.iter(f"{SVG}path") if "line" in path.get("class", "")]
        self.assertEqual(sorted(lines), [4, 4, 5, 5, 5, 5, 5, 5, 5, 5])

    def test_errors_have_a_dot_for_each_length_and_spread(self):
        root = xml.etree.ElementTree.fromstring(self.drawn("torch_errors"))
        # Four panels of four points for the kernel and the memory-efficient way; naive has no room at 16384.
        self.assertEqual(len(list(root.iter(f"{SVG}circle"))), 4 * 3 * 4 - 2)

    def test_the_roofline_has_the_highest_rate_of_each_lesson(self):
        self.assertEqual([(lesson, y) for lesson, _, _, y in plot_results.roofline_points(self.results["bench"])],
                         [(1, 0.075), (6, 14.0), (7, 10.0), (9, 15.0)])
        text = self.drawn("roofline")
        for lesson in ("01", "06", "07", "09"):
            self.assertIn(f">{lesson}</text>", text)

    def test_a_point_on_the_roof_lies_on_the_roof(self):
        rows = self.results["bench"]["lessons"][1]["measurements"]
        rows[0]["teraflops"] = 20.0
        root = xml.etree.ElementTree.fromstring(self.drawn("roofline"))
        roof = [path.get("d") for path in root.iter(f"{SVG}path") if path.get("class") == "ceiling"][0]
        height = roof.split()[-1]
        self.assertIn(height, [circle.get("cy") for circle in root.iter(f"{SVG}circle")])


class Missing(Case):
    def test_a_file_that_is_missing_is_named_with_the_command_that_makes_it(self):
        for name in self.results:
            del self.results[name]
            break
        status, said = self.run_script()
        self.assertEqual(status, 1)
        self.assertIn("compare_torch_forward_example.json. On a machine with the GPU: scripts/compare_torch.py "
                      "--lessons 7-13 --json", said)
        self.assertIn("wrote", said)  # what does not need it is drawn
        self.assertTrue((self.folder / "out" / "roofline.svg").is_file())

    def test_every_result_has_a_command(self):
        self.assertEqual(set(results.COMMANDS), set(EXAMPLE))

    def test_results_without_what_a_figure_shows(self):
        self.results["compare_torch_forward"]["cases"] = []
        status, said = self.run_script("torch_time", "torch_ladder")
        self.assertEqual(status, 1)
        self.assertIn("torch_time: compare_torch_forward has no times of lesson 09", said)
        self.assertIn("torch_ladder: compare_torch_forward has no time with N = 4096", said)

    def test_a_file_that_is_not_json(self):
        self.write()
        (self.folder / "bench_example.json").write_text("{", encoding="utf-8")
        with self.assertRaisesRegex(results.Missing, "bench_example.json is not JSON"):
            plot_results.draw_roofline(results.Results(self.folder, "example"))

    def test_a_roofline_without_ceilings(self):
        self.results["bench"]["ceilings"]["float32_matmul_teraflops"] = None
        status, said = self.run_script("roofline")
        self.assertEqual(status, 1)
        self.assertIn("cuBLAS has to be there", said)

    def test_an_unknown_figure(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
            plot_results.main(["rooflines"])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("there is no figure rooflines", said.getvalue())


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


class Page(Case):
    def write_page(self, *words):
        self.write()
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = write_torch_page.main(["--gpu", "example", "--results", str(self.folder), "--page",
                                            str(self.folder / "page.md"), "--figures",
                                            str(self.folder / "figures"), *words])
        return status, said.getvalue()

    def test_it_shows_each_figure_with_words_for_those_who_do_not_see_it(self):
        self.assertEqual(self.write_page()[0], 0)
        text = (self.folder / "page.md").read_text(encoding="utf-8")
        for name in plot_results.FIGURES:
            self.assertRegex(text, f'<img src="figures/{name}.svg" width="664" alt="[^"]{{40,}}">')
            self.assertTrue((self.folder / "figures" / f"{name}.svg").is_file())

    def test_numbers_are_those_of_the_results(self):
        self.write_page()
        text = (self.folder / "page.md").read_text(encoding="utf-8")
        self.assertIn("| 09 | all keys | 64 | 4,096 | 55.0\u00a0ms | 10.0 | 50\u00a0% | 2.50 | 2.50 | 0.80 | |", text)
        self.assertIn("a copy moved 1,000 GB/s, and cuBLAS did 20.0 TFLOP/s", text)

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
