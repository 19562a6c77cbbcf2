#!/usr/bin/env python3
"""What scripts/plot_results.py draws of results, read back from what matplotlib is told to draw, and what it says where
some are missing. Without matplotlib, a line that begins with "skipped" says so.

Usage: plot_results_test.py
"""

import contextlib
import copy
import functools
import io
import itertools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

try:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.text import Text
except ImportError:
    print("skipped: no matplotlib (python3-matplotlib)")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(pathlib.Path(__file__).resolve().parent)]
import plot_results  # noqa: E402
import plots  # noqa: E402
import torch_example  # noqa: E402
from torch_comparison import results  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"
OF_LESSONS = ("07_naive_attention", "08_flash1_forward", "09_flash2_forward", "09_naive_torch", "10_causal",
              "12_sliding_window", "13_attention_sinks", "17_full_backward", "17_full_backward_torch")  # fmt: skip
# Made-up results, and beside them the lessons' own as they were measured.
EXAMPLE = {**torch_example.all_results(),
           **{name: json.loads((ROOT / "docs" / "results" / f"{name}_h200.json").read_text(encoding="utf-8"))
              for name in OF_LESSONS}}


class Case(unittest.TestCase):
    """Results of an example in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.results = copy.deepcopy(EXAMPLE)

    def run_script(self, *words):
        """Exit status, and what was printed."""
        torch_example.write(self.results, self.folder)
        said = io.StringIO()
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            status = plot_results.main(["--gpu", "example", "--results", str(self.folder), "--out",
                                        str(self.folder / "out"), *words])
        return status, said.getvalue()


@functools.cache
def figure_of(name, gpu="example"):
    """What matplotlib is told to draw of the example, or of what was measured."""
    with tempfile.TemporaryDirectory() as folder:
        torch_example.write(EXAMPLE, pathlib.Path(folder))
        read = results.Results(pathlib.Path(folder) if gpu == "example" else ROOT / "docs" / "results", gpu)
        figure = plot_results.FIGURES[name][0](read)
    figure.draw_without_rendering()
    return figure


@functools.cache
def svg_of(name):
    return plots.svg(figure_of(name), plot_results.FIGURES[name][1])


def words_of(figure):
    return [text for text in figure.findobj(Text) if text.get_visible() and text.get_text()]


def bars_of(axes):
    """Pairs of what stands at the left of a bar and how long it is."""
    return list(zip((label.get_text() for label in axes.get_yticklabels()),
                    (float(bar.get_width()) for bar in axes.containers[-1])))


class Files(unittest.TestCase):
    def test_each_is_a_picture_with_a_title_and_both_colour_schemes(self):
        for name in plot_results.FIGURES:
            with self.subTest(name):
                text = svg_of(name)
                root = xml.etree.ElementTree.fromstring(text)
                self.assertEqual((root.get("role"), root.get("aria-labelledby")), ("img", "title"))
                self.assertEqual(root.find(f"{SVG}title").get("id"), "title")
                self.assertEqual(root.find(f"{SVG}title").text, plot_results.FIGURES[name][1])
                self.assertGreater(len(root.find(f"{SVG}title").text), 40)
                self.assertIn("prefers-color-scheme: dark", text)
                self.assertRegex(text, "(Example GPU|NVIDIA H200), CUDA 13.0, .*2026-")
                self.assertLess(len(text.encode()), 60e3)

    def test_text_is_text(self):
        for name in plot_results.FIGURES:
            with self.subTest(name):
                root = xml.etree.ElementTree.fromstring(svg_of(name))
                self.assertEqual(sorted("".join(text.itertext()) for text in root.iter(f"{SVG}text")),
                                 sorted(text.get_text() for text in words_of(figure_of(name))))

    def test_each_stands_alone(self):
        for name in plot_results.FIGURES:
            with self.subTest(name):
                text = svg_of(name)
                ids = re.findall(r'\bid="([^"]*)"', text)
                self.assertEqual(len(ids), len(set(ids)))
                self.assertLessEqual(set(re.findall(r'(?:href="|url\()#([^")]*)', text)), set(ids))
                self.assertNotIn("<!DOCTYPE", text)
                self.assertEqual(re.findall("https?://[^\"]*", text), ["http://www.w3.org/2000/svg"])

    def test_each_colour_is_one_of_the_table_and_has_its_pair(self):
        light = {pair[0]: pair[1] for pair in plots.COLOURS.values()}
        for name in plot_results.FIGURES:
            with self.subTest(name):
                root = xml.etree.ElementTree.fromstring(svg_of(name))
                rules = root.find(f"{SVG}style").text
                used = {found for element in root.iter() for found in re.findall(r"(fill|stroke): (#\w+)",
                                                                                 element.get("style", ""))}
                self.assertGreater(len(used), 2)
                for part, colour in used:
                    self.assertIn(f'[style*="{part}: {colour}"] {{ {part}: {light[colour]} !important; }}', rules)

    def test_a_colour_without_a_pair_and_black_are_refused(self):
        for colour, said in (("#123456", "without a pair in dark: #123456"), ("#000000", "black")):
            with self.subTest(colour):
                figure, ((axes,),) = plots.panels("A title", "", "", [100])
                axes.barh([0], [1], color=colour)
                with self.assertRaisesRegex(ValueError, said):
                    plots.svg(figure, "a title")

    def test_text_is_told_from_the_page_in_both_schemes(self):
        def brightness(colour):
            parts = [int(colour[at:at + 2], 16) / 255 for at in (1, 3, 5)]
            parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

        for name, least in {**dict.fromkeys(plots.COLOURS, 4.5), "grey": 3, "grid": 1, "page": 1}.items():
            for scheme in (0, 1):
                pair = sorted(brightness(plots.COLOURS[key][scheme]) for key in ("page", name))
                with self.subTest(name, scheme=scheme):
                    self.assertGreaterEqual((pair[1] + 0.05) / (pair[0] + 0.05), least)

    def test_words_lie_within_the_picture_and_not_on_one_another(self):
        for name, gpu in [(name, gpu) for name in plot_results.FIGURES for gpu in ("example", plot_results.gpu_of(name))]:
            figure = figure_of(name, gpu)
            renderer = FigureCanvasAgg(figure).get_renderer()
            boxes = [(text.get_text(), Text.get_window_extent(text, renderer)) for text in words_of(figure)]
            for text, box in boxes:
                with self.subTest(name, gpu=gpu, text=text):
                    self.assertTrue(0 <= box.x0 and box.x1 <= figure.bbox.x1)
                    self.assertTrue(0 <= box.y0 and box.y1 <= figure.bbox.y1)
            for (one, box), (other, of_other) in itertools.combinations(boxes, 2):
                with self.subTest(name, gpu=gpu, one=one, other=other):
                    self.assertFalse(box.overlaps(of_other))


class Charts(unittest.TestCase):
    def test_types_lead_from_naive_pytorch_to_the_fastest_kernels(self):
        figure = figure_of("torch_types")
        self.assertEqual([axes.get_title(loc="left") for axes in figure.axes],
                         [f"{dtype}, D = {D}: cuBLAS does {rate} TFLOP/s" for dtype, rate in (("float32", 20), ("bfloat16", 200))
                          for D in (64, 128)])
        # The example's kernels do 10 TFLOP/s, its FlashAttention-2 and cuDNN refuse.
        self.assertEqual([(name, round(value, 3)) for name, value in bars_of(figure.axes[0])], [
            ("PyTorch, naive", 0.2), ("09 FlashAttention-2", 0.5), ("19 Register tiling", 0.5),
            ("PyTorch, memory-efficient", 0.625)])
        self.assertEqual([(name, round(value, 3)) for name, value in bars_of(figure.axes[3])],
                         [("PyTorch, naive", 0.02), ("22 Tensor cores", 0.05)])

    def test_the_ladder_has_each_lesson_for_both_dims(self):
        axes = figure_of("torch_ladder").axes
        lessons = [[f"{lesson:02} {title}" for lesson, title in plot_results.TITLES.items() if (lesson < 15) == forward]
                   for forward in (True, True, False, False)]
        self.assertEqual([[label for label, _ in bars_of(each)] for each in axes], lessons)
        self.assertAlmostEqual(dict(bars_of(axes[0]))["09 FlashAttention-2"], 0.5)  # 10 of 20 TFLOP/s
        self.assertIn("50 %, 55.0 ms", [text.get_text() for text in axes[0].texts])

    def test_a_line_ends_where_pytorch_ran_out_of_memory(self):
        for axes in figure_of("torch_time").axes:
            points = {line.get_label(): len(line.get_xdata()) for line in axes.lines}
            self.assertEqual(points, {name: 4 if way == "naive" else 5 for name, _, way in plot_results.FORWARD_LINES})

    def test_lines_have_the_numbers_of_the_results_and_their_names(self):
        axes = figure_of("torch_memory").axes[1]
        line = [line for line in axes.lines if line.get_label() == "PyTorch, memory-efficient"][0]
        wanted = {case["N"]: case["torch"]["efficient"]["extra_bytes"] / case["B"]
                  for case in results.cases_with(EXAMPLE["compare_torch_forward"]["cases"], lesson=9, D=128,
                                                 causal=False, direction="forward", window=None)}
        self.assertEqual(dict(zip(line.get_xdata(), line.get_ydata())), wanted)
        self.assertEqual({(text.get_text(), text.get_color()) for text in axes.texts},
                         {(line.get_label(), line.get_color()) for line in axes.lines})

    def test_errors_have_a_dot_for_each_length_and_spread(self):
        figure = figure_of("torch_errors")
        # Four panels of four points for the kernel and the memory-efficient way; naive has no room at 16384.
        self.assertEqual(sum(len(line.get_xdata()) for axes in figure.axes for line in axes.lines), 4 * 3 * 4 - 2)

    def test_the_roofline_has_the_highest_rate_of_each_lesson(self):
        self.assertEqual([(lesson, y) for lesson, *_, y in plot_results.roofline_points(EXAMPLE["bench"])],
                         [(1, 0.075), (6, 14.0), (7, 10.0), (9, 15.0)])
        axes = figure_of("roofline").axes[0]
        self.assertEqual(sorted(axes.lines[1].get_ydata()), [0.075, 10.0, 14.0, 15.0])
        labels = {text.get_text(): text.xy for text in axes.texts}
        self.assertEqual({lesson: labels[lesson][1] for lesson in ("01", "06", "07", "09")},
                         {"01": 0.075, "06": 14.0, "07": 10.0, "09": 15.0})

    def test_the_roof_is_the_two_ceilings(self):
        roof = figure_of("roofline").axes[0].lines[0]
        (start, low), (ridge, high), (_, end) = roof.get_xydata()
        self.assertEqual((high, end, ridge), (20.0, 20.0, 20.0))  # 20 TFLOP/s at 1000 GB/s
        self.assertAlmostEqual(low / start, 1000e9 / 1e12)

    def test_bars_of_the_results_page(self):
        def times(name, member, **wanted):
            return [row["milliseconds"] for row in EXAMPLE[name][member]
                    if all(row[key] == value for key, value in wanted.items())]

        for axes, D in zip(figure_of("results_forward").axes, (64, 128)):
            self.assertEqual([value for _, value in bars_of(axes)],
                             times("09_naive_torch", "torch_naive_attention", N=4096, D=D)
                             + times("07_naive_attention", "naive_attention", N=4096, D=D)
                             + times("08_flash1_forward", "flash1_forward", Nq=4096, D=D)
                             + times("09_flash2_forward", "flash2_forward", Nq=4096, D=D))
        bars = dict(bars_of(figure_of("results_masks").axes[0]))
        self.assertEqual(bars["10 causal"], times("10_causal", "causal_attention", Nq=16384, D=64)[0])
        self.assertEqual(len(bars), 6)
        for axes in figure_of("results_memory").axes:
            (_, theirs), (_, ours) = bars_of(axes)
            self.assertGreater(theirs, 20 * ours)
            self.assertIn(f"{theirs / 1e9:.1f} GB", [text.get_text() for text in axes.texts])


class Labels(unittest.TestCase):
    def test_those_with_room_stay_where_they_are(self):
        self.assertEqual(plots.spread([0, 15, 40], 15), [0, 15, 40])

    def test_those_without_move_apart_evenly_and_keep_their_order(self):
        self.assertEqual(plots.spread([10, 10, 10], 15), [-5, 10, 25])
        self.assertEqual(plots.spread([0, 0, 12], 10), [-6, 4, 14])

    def test_they_stay_within_limits(self):
        self.assertEqual(plots.spread([10, 10, 10], 15, low=0), [0, 15, 30])
        self.assertEqual(plots.spread([10, 10, 10], 15, high=20), [-10, 5, 20])

    def test_decades_enclose_what_is_drawn(self):
        self.assertEqual(plots.decades(0.2, 30), [0.1, 1.0, 10.0, 100.0])
        self.assertEqual(plots.decades(1, 1), [1.0, 10.0])
        self.assertEqual(plots.power_of_ten(1e-6), "10⁻⁶")


class Check(Case):
    def test_the_figures_of_the_site_are_what_the_results_give(self):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            self.assertEqual(plot_results.main(["--check"]), 0, said)
        self.assertEqual(said.getvalue(), "")

    def test_a_figure_is_out_of_date_until_it_is_drawn_and_when_a_result_changes(self):
        self.assertEqual(self.run_script("--check", "torch_time")[0], 1)
        self.assertFalse((self.folder / "out").exists())
        self.run_script("torch_time")
        self.assertEqual(self.run_script("--check", "torch_time"), (0, ""))
        # The same results give the same bytes.
        self.assertEqual((self.folder / "out" / "torch_time.svg").read_text(encoding="utf-8"), svg_of("torch_time"))
        for case in self.results["compare_torch_forward"]["cases"]:
            case["ours"]["milliseconds"] *= 1.01
        status, said = self.run_script("--check", "torch_time")
        self.assertEqual(status, 1)
        self.assertIn("torch_time.svg is out of date; run scripts/plot_results.py torch_time", said)


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

    def test_a_file_of_a_lesson_is_named_with_the_page_that_has_its_command(self):
        del self.results["10_causal"]
        status, said = self.run_script("results_masks")
        self.assertEqual(status, 1)
        self.assertIn("10_causal_example.json. On a machine with the GPU: the command that docs/results/README.md has",
                      said)

    def test_a_row_that_is_missing(self):
        self.results["13_attention_sinks"]["attention_with_sinks"] = []
        status, said = self.run_script("results_masks")
        self.assertEqual(status, 1)
        self.assertIn("results_masks: 0 rows with", said)

    def test_every_result_has_a_command(self):
        self.assertEqual(set(results.COMMANDS), set(torch_example.all_results()))

    def test_without_matplotlib_one_sentence_says_what_to_install(self):
        (self.folder / "matplotlib.py").write_text("raise ImportError\n", encoding="utf-8")
        run = subprocess.run([sys.executable, "-B", ROOT / "scripts" / "plot_results.py", "--check"], text=True,
                             capture_output=True, env={**os.environ, "PYTHONPATH": str(self.folder)}, check=False)
        self.assertEqual((run.returncode, run.stdout), (1, ""))
        self.assertRegex(run.stderr, "^.* has no matplotlib: `sh scripts/setup.sh test --yes` installs .*\n$")

    def test_results_without_what_a_figure_shows(self):
        self.results["compare_torch_forward"]["cases"] = []
        status, said = self.run_script("torch_time", "torch_ladder")
        self.assertEqual(status, 1)
        self.assertIn("torch_time: compare_torch_forward has no times of lesson 09", said)
        self.assertIn("torch_ladder: compare_torch_forward has no time with N = 4096", said)

    def test_a_file_that_is_not_json(self):
        torch_example.write(self.results, self.folder)
        (self.folder / "bench_example.json").write_text("{", encoding="utf-8")
        with self.assertRaisesRegex(results.Missing, "bench_example.json is not JSON"):
            plot_results.draw_roofline(results.Results(self.folder, "example"))

    def test_tensor_cores_have_a_roof_of_their_own(self):
        bench = self.results["bench"]
        bench["ceilings"]["bfloat16_matmul_teraflops"] = 400.0
        bench["lessons"].append({"number": 22, "measurements": [
            {"series": "attention", "unit": "tensor cores", "operations": 4e12, "bytes": 1e9, "teraflops": 300.0}]})
        torch_example.write(self.results, self.folder)
        axes = plot_results.draw_roofline(results.Results(self.folder, "example")).axes[0]
        self.assertEqual([line.get_ydata()[-1] for line in axes.lines[:2]], [20.0, 400.0])
        self.assertEqual(list(axes.lines[3].get_ydata()), [300.0])
        self.assertIn("22", [text.get_text() for text in axes.texts])

    def test_a_roofline_without_ceilings(self):
        self.results["bench"]["ceilings"]["float32_matmul_teraflops"] = None
        status, said = self.run_script("roofline")
        self.assertEqual(status, 1)
        self.assertIn("cuBLAS has to be there", said)

    def test_an_unknown_figure(self):
        with contextlib.redirect_stderr(io.StringIO()) as said, self.assertRaises(SystemExit) as ended:
            plot_results.main(["rooflines"])
        self.assertEqual(ended.exception.code, 2)
        self.assertIn("There is no figure rooflines", said.getvalue())


if __name__ == "__main__":
    unittest.main()
