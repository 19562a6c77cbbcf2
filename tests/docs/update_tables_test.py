#!/usr/bin/env python3
"""What scripts/update_tables.py makes of results, and what it says where something is wrong.

Usage: update_tables_test.py
"""

import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import update_tables  # noqa: E402


class Case(unittest.TestCase):
    """A table and a number of two results in a folder of their own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.write("speed", {"gpu": "a GPU", "runs": [{"N": 1024, "milliseconds": 0.5045},
                                                      {"N": 2048, "milliseconds": 1234.5}]})
        self.replace("RESULTS", self.folder)
        self.replace("TABLES", {"speed": self.table})
        self.replace("VALUES", {"gpu": lambda: update_tables.result("speed")["gpu"]})

    def replace(self, name, value):
        before = getattr(update_tables, name)
        self.addCleanup(setattr, update_tables, name, before)
        setattr(update_tables, name, value)

    def write(self, name, data):
        (self.folder / f"{name}_h200.json").write_text(json.dumps(data), encoding="utf-8")

    @staticmethod
    def table():
        rows = update_tables.result("speed")["runs"].rows()
        return ["N", "time", "remark"], [[update_tables.whole(row["N"]), update_tables.ms(row["milliseconds"]), ""]
                                         for row in rows]

    def page(self, text):
        path = self.folder / "page.md"
        path.write_text(text, encoding="utf-8")
        return path

    def run_script(self, *arguments):
        """Exit status, and what was printed."""
        said = io.StringIO()
        before, sys.argv = sys.argv, ["update_tables.py", *map(str, arguments)]
        try:
            with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                return update_tables.main(), said.getvalue()
        finally:
            sys.argv = before


EMPTY = "# Title\n\n<!-- table: speed -->\n<!-- /table -->\n\nOn <!-- value: gpu --><!-- /value -->, that is.\n"
FULL = ("# Title\n\n<!-- table: speed -->\n| N | time | remark |\n| ---: | ---: | --- |\n| 1,024 | 0.505\u00a0ms | |\n"
        "| 2,048 | 1,235\u00a0ms | |\n<!-- /table -->\n\nOn <!-- value: gpu -->a GPU<!-- /value -->, that is.\n")


class Numbers(unittest.TestCase):
    def test_three_digits_and_halves_away_from_zero(self):
        for value, shown in ((0.5045, "0.505"), (7.5534, "7.55"), (29.8826, "29.9"), (117.2387, "117"), (9.996, "10.00"),
                             (1234.5, "1,235"), (0, "0.00"), (33, "33.0")):
            self.assertEqual(update_tables.digits(value), shown, value)

    def test_bytes_and_shares(self):
        self.assertEqual(update_tables.size(136314880), "136\u00a0MB")
        self.assertEqual(update_tables.size(34493956096), "34.5\u00a0GB")
        self.assertEqual(update_tables.percent(0.285), "29\u00a0%")
        self.assertEqual(update_tables.percent(1.7), "170\u00a0%")


class Tables(unittest.TestCase):
    def test_a_column_of_numbers_is_aligned_at_the_right_whatever_is_empty(self):
        rows = [["1,024", "0.505\u00a0ms", "", "4 tokens", "no"], ["2,048", "", "", "4", "7\u00a0%"]]
        self.assertEqual(update_tables.markdown(["N", "time", "none", "sinks", "share"], rows),
                         "| N | time | none | sinks | share |\n| ---: | ---: | --- | --- | --- |\n"
                         "| 1,024 | 0.505\u00a0ms | | 4 tokens | no |\n| 2,048 | | | 4 | 7\u00a0% |\n")


class Pages(Case):
    def test_fills_a_table_and_a_number_and_nothing_else(self):
        page = self.page(EMPTY)
        self.assertEqual(self.run_script(page), (0, f"updated {page}\n"))
        self.assertEqual(page.read_text(encoding="utf-8"), FULL)
        self.assertEqual(self.run_script(page), (0, ""))

    def test_check_is_content_with_a_page_that_is_up_to_date(self):
        self.assertEqual(self.run_script("--check", self.page(FULL)), (0, ""))

    def test_check_finds_an_edited_number_in_a_table_and_mends_nothing(self):
        edited = FULL.replace("0.505", "0.405")
        page = self.page(edited)
        status, said = self.run_script("--check", page)
        self.assertEqual(status, 1)
        self.assertIn("out of date; run scripts/update_tables.py", said)
        self.assertEqual(page.read_text(encoding="utf-8"), edited)

    def test_check_finds_an_edited_number_in_a_sentence(self):
        self.assertEqual(self.run_script("--check", self.page(FULL.replace("-->a GPU", "-->my GPU")))[0], 1)

    def test_check_finds_results_that_have_changed(self):
        page = self.page(FULL)
        self.write("speed", {"gpu": "a GPU", "runs": [{"N": 1024, "milliseconds": 0.7}]})
        self.assertEqual(self.run_script("--check", page)[0], 1)

    def test_a_table_of_another_program_stays(self):
        text = "<!-- table: steps -->\nas it was\n<!-- /table -->\n"
        self.assertEqual(update_tables.fill(text), text)

    def test_a_number_of_the_profiler_has_the_unit_of_its_name(self):
        kernel = {"kernel": "keys_kernel<64>", "fma_pipe_percent": 50.4, "nanoseconds": 18372512, "registers": 234,
                  "waiting_warps": {"wait": 0.4449}, "cycles_between_instructions": 125.468}  # fmt: skip
        self.write("bounds", {"entries": [{"lesson": "15_backward", "measurement": "all D=64", "kernels": [kernel]}]})
        for name, shown in (("fma_pipe_percent", "50\u00a0%"), ("nanoseconds", "18.4\u00a0ms"), ("registers", "234"),
                            ("waiting_warps.wait", "0.44"), ("cycles_between_instructions", "125")):  # fmt: skip
            text = f"It is <!-- value: bounds:15:D=64:keys:{name} --><!-- /value -->."
            self.assertEqual(update_tables.fill(text), text.replace("--><!", f"-->{shown}<!"))

    def test_an_indented_table_is_an_example(self):
        text = "    <!-- table: anything -->\n    <!-- /table -->\n"
        self.assertEqual(update_tables.fill(text), text)


class Twins(Case):
    """A lesson of 16 bits beside PyTorch, with its twin in Triton and without."""

    def rates(self, twin, **more):
        case = {"lesson": 22, "dtype": "bfloat16", "layout": "bhnd", "H": 2, "H_kv": 2, "D": 64, "N": 4096, "causal": False,
                "operations": 2_000_000_000_000, "ours": {"milliseconds": 5.0},
                "torch": {"flash": {"milliseconds": 4.0}, "cudnn": {"failed": "No kernel."}, **more}}  # fmt: skip
        grouped = {**case, "H": 4}
        file = self.folder / "compare_torch_16bit_h100.json"
        file.write_text(json.dumps({"cases": [{**case, **twin}, grouped]}), encoding="utf-8")
        return update_tables.table_rates_of_16_bits(22)

    def test_a_twin_in_triton_is_a_column_where_it_was_timed(self):
        head, rows = self.rates({"triton": {"milliseconds": 8.0}})
        self.assertEqual(head[-3:], ["cuDNN", "Triton twin", "of FlashAttention-2"])
        self.assertEqual(rows, [["64", "4,096", "none", "400", "500", "", "250", "80\u00a0%"]])

    def test_so_is_flash_attention_that_gives_the_same_bits_every_time(self):
        head, rows = self.rates({}, **{"flash, deterministic": {"milliseconds": 6.0}})
        self.assertEqual(head[4:], ["FlashAttention-2", "deterministic", "cuDNN", "of FlashAttention-2", "of deterministic"])
        self.assertEqual(rows, [["64", "4,096", "none", "400", "500", "333", "", "80\u00a0%", "120\u00a0%"]])

    def test_without_one_the_table_stays_as_it_is(self):
        for twin in ({}, {"triton": {"failed": "Triton cannot be imported."}}):
            head, rows = self.rates(twin)
            self.assertEqual(head[-3:], ["FlashAttention-2", "cuDNN", "of FlashAttention-2"])
            self.assertEqual(rows, [["64", "4,096", "none", "400", "500", "", "80\u00a0%"]])


class Errors(Case):
    def says(self, text, *words):
        status, said = self.run_script(self.page(text))
        self.assertEqual(status, 2, said)
        for word in ("page.md", *words):
            self.assertIn(word, said)

    def test_a_member_that_is_missing_is_named_with_its_file(self):
        self.write("speed", {"gpu": "a GPU", "runs": [{"N": 1024}]})
        self.says(EMPTY, 'speed_h200.json, runs[0] has no "milliseconds"')

    def test_a_number_that_the_profiler_does_not_have_is_named(self):
        self.write("bounds", {"entries": []})
        self.says("It is <!-- value: bounds:15:D=64:keys:registers --><!-- /value -->.",
                  '"15:D=64:keys:registers" names 0 measurements')

    def test_a_file_that_is_missing_is_named(self):
        (self.folder / "speed_h200.json").unlink()
        self.says(EMPTY, "there is no file docs/results/speed_h200.json")

    def test_a_file_that_is_not_json_is_named(self):
        (self.folder / "speed_h200.json").write_text("{", encoding="utf-8")
        self.says(EMPTY, "docs/results/speed_h200.json is not JSON")

    def test_a_row_that_is_missing_is_described(self):
        with self.assertRaisesRegex(update_tables.TableError, "no row with N = 4096"):
            update_tables.result("speed")["runs"].row(N=4096)

    def test_two_rows_for_one_are_an_error(self):
        self.write("speed", {"runs": [{"N": 1024}, {"N": 1024}]})
        with self.assertRaisesRegex(update_tables.TableError, "2 rows with N = 1024 instead of 1"):
            update_tables.result("speed")["runs"].row(N=1024)

    def test_unknown_names(self):
        self.says("<!-- table: sped -->\n<!-- /table -->\n", 'no table "sped"; there are speed')
        self.says("On <!-- value: gpus -->1<!-- /value -->\n", 'no value "gpus"; there are gpu')

    def test_what_is_never_closed(self):
        self.says("<!-- table: speed -->\n", "1 table comment(s) are not closed")
        self.says("<!-- value: gpu -->1\n", "1 value comment(s) are not closed")

    def test_a_value_may_not_begin_a_line(self):
        self.says("On\n<!-- value: gpu -->1<!-- /value -->\n", 'a line begins with the value "gpu"')

    def test_a_row_that_is_too_short(self):
        self.replace("TABLES", {"speed": lambda: (["a", "b"], [["1"]])})
        self.says(EMPTY, "a row has 1 cells below 2 columns")


class Results(unittest.TestCase):
    """The results of the project."""

    def test_every_table_can_be_made(self):
        for name in update_tables.TABLES:
            with self.subTest(name):
                self.assertGreater(update_tables.make_table(name).count("\n"), 3)

    def test_every_value_can_be_made(self):
        for name in update_tables.VALUES:
            with self.subTest(name):
                self.assertTrue(update_tables.make_value(name))

    def test_every_table_and_value_stands_on_a_page(self):
        pages = "".join(page.read_text(encoding="utf-8") for page in update_tables.all_pages())
        for kind, names in (("table", update_tables.TABLES), ("value", update_tables.VALUES)):
            for name in names:
                with self.subTest(name):
                    self.assertTrue(f"<!-- {kind}: {name} -->" in pages, f"no page has the {kind} {name}")


if __name__ == "__main__":
    unittest.main()
