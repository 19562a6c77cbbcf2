#!/usr/bin/env python3
"""Tests of docs/notes_map.md and docs/glossary.md: links and the words that they quote lead somewhere, nothing that the
pages promise to hold is missing, and the numbers are those of the arithmetic and of the recorded runs.

Usage: tests/docs/notes_map_test.py
"""

import json
import math
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
PAGES = {name: (DOCS / name).read_text(encoding="utf-8") for name in ("notes_map.md", "glossary.md")}
LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s]+)\)")
WRITTEN = (*range(1, 25), 29, 30)  # numbers of the lessons that exist
PLANNED = tuple(range(25, 29))  # and of those that are planned


def without_code(text):
    """The page without fenced code and without code spans."""
    return re.sub(r"`[^`]*`", "", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))


def anchor_of(heading):
    """The anchor that a code host gives to a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def sections_of(file):
    """anchor -> text of the section, up to the next heading. Lines in code fences are no headings."""
    sections, anchor, fenced = {}, None, False
    for line in file.read_text(encoding="utf-8").split("\n"):
        fenced ^= line.startswith("```")
        heading = None if fenced else re.match(r"#+ (.*)", line)
        if heading:
            anchor = anchor_of(heading.group(1))
            sections[anchor] = ""
        elif anchor is not None:
            sections[anchor] += line + "\n"
    return sections


def plain(text):
    """Words alone: without the marks of code and emphasis, in one line."""
    return re.sub(r"\s+", " ", re.sub(r"[*`\\]", "", text))


def section(page, heading):
    """A section of level 2 with its subsections."""
    match = re.search(rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", PAGES[page], re.MULTILINE | re.DOTALL)
    if match is None:
        raise AssertionError(f"{page} has no section {heading}")
    return match.group(1)


def tables(text):
    """The tables of a text: lists of rows, rows as lists of cells; the head is row 0."""
    found, rows = [], []
    for line in text.split("\n") + [""]:
        if line.startswith("|"):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
        elif rows:
            found.append([rows[0]] + rows[2:])
            rows = []
    return found


def sort_key(row):
    return re.sub(r"[`*_\\(){}\[\]]", "", row[0]).strip().casefold()


def result(name, machine="h200"):
    return json.loads((DOCS / "results" / f"{name}_{machine}.json").read_text(encoding="utf-8"))


def pick(rows, **wanted):
    return [row for row in rows if all(row[key] == value for key, value in wanted.items())]


def span(numbers):
    low, high = f"{min(numbers):.1f}", f"{max(numbers):.1f}"
    return low if low == high else f"{low} to {high}"


class Links(unittest.TestCase):
    def relative_links(self):
        for page, text in PAGES.items():
            for words, target in LINK.findall(without_code(text)):
                if not target.startswith(("http://", "https://")):
                    yield page, words, target

    def test_every_link_leads_to_a_file_and_a_heading(self):
        count = 0
        for page, _, target in self.relative_links():
            count += 1
            path, _, anchor = target.partition("#")
            file = (DOCS / path).resolve() if path else DOCS / page
            with self.subTest(page=page, target=target):
                self.assertTrue(file.is_file(), f"{target}: no such file")
                self.assertTrue(file.is_relative_to(ROOT), f"{target} leads out of the repository")
                if anchor:
                    self.assertIn(anchor, sections_of(file), f"{target}: no such heading")
        self.assertGreater(count, 300)

    def test_what_a_link_quotes_stands_in_the_section(self):
        count = 0
        for page, words, target in self.relative_links():
            quoted = re.search(r': "(.*)"$', words)
            if quoted is None:
                continue
            count += 1
            path, _, anchor = target.partition("#")
            with self.subTest(page=page, words=words):
                self.assertIn(plain(quoted.group(1)), plain(sections_of(DOCS / path)[anchor]))
        self.assertGreater(count, 150)

    def test_a_link_names_the_lesson_and_the_section_that_it_leads_to(self):
        for page, words, target in self.relative_links():
            lesson = re.match(r"\.\./lessons/(\d\d)_\w+/README\.md#(.*)", target)
            if lesson:
                with self.subTest(page=page, words=words):
                    self.assertEqual(words[:3], lesson.group(1) + " ")
                    self.assertEqual(anchor_of(words[3:].split(":")[0]), lesson.group(2))

    def test_every_lesson_is_linked_from_both_pages(self):
        folders = {int(path.name[:2]) for path in (ROOT / "lessons").iterdir() if path.name[:2].isdigit()}
        self.assertLessEqual(set(WRITTEN), folders)
        for page, text in PAGES.items():
            linked = {int(number) for number in re.findall(r"\]\(\.\./lessons/(\d\d)_", text)}
            self.assertEqual(set(WRITTEN) - linked, set(), f"{page} links no section of these lessons")

    def test_planned_lessons_do_not_exist_yet(self):
        for page, text in PAGES.items():
            named = {int(number) for part in re.findall(r"planned: lessons? [\d, and]+", text)
                     for number in re.findall(r"\d+", part)}
            self.assertTrue(named)
            for number in named:
                self.assertIn(number, PLANNED)
                self.assertEqual(list((ROOT / "lessons").glob(f"{number:02}_*")), [],
                                 f"{page} calls lesson {number} planned, but it exists")


class Contents(unittest.TestCase):
    def test_the_index_has_all_lessons(self):
        index = section("notes_map.md", "Index by lesson")
        for number in WRITTEN:
            self.assertIn(f"](../lessons/{number:02}_", index)
        planned = {int(number) for line in index.split("\n") if "planned" in line
                   for number in re.findall(r"\b\d\d\b", line.split("planned")[1])}
        self.assertEqual(planned, set(PLANNED))

    def test_the_nine_questions_have_a_row_each_with_a_link(self):
        questions = tables(section("notes_map.md", "The nine questions, 003"))[0][1:]
        self.assertEqual([row[0] for row in questions], [f"Q{number}" for number in range(1, 10)])
        for row in questions:
            self.assertRegex(row[2], LINK)

    def test_every_row_of_a_topic_says_where(self):
        for name in ("Notes on the video, 000", "Survey, first part of 001", "Lecture, 001 and 002",
                     "FlashAttention 1, 004", "Algorithms", "Facts on GPUs and Triton", "Performance and versions"):
            for table in tables(section("notes_map.md", name)):
                for row in table[1:]:
                    self.assertRegex(" ".join(row), r"\]\(|planned: lesson|not measured here", row[0])

    def test_what_is_left_out_says_where_to_read(self):
        rows = tables(section("notes_map.md", "Left out"))[0][1:]
        self.assertEqual(len(rows), 11)
        for row in rows:
            self.assertTrue(row[1] and row[2], row[0])
        topics = " ".join(row[0] for row in rows)
        for word in ("autograd", "Jacobian", "HBM", "pipelines", "balance", "profiling", "mixed precision", "64K",
                     "192", "MQA", "installing", "approximate", "projections"):
            self.assertIn(word, topics)

    def test_every_correction_names_its_source_and_all_sources_occur(self):
        seen = set()
        for table in tables(section("notes_map.md", "Corrections")):
            for row in table[1:]:
                self.assertRegex(row[0], r"^00[0-4]")
                self.assertTrue(all(row), row)
                seen.update(re.findall(r"00[0-4]", row[0]))
        self.assertEqual(seen, {"000", "001", "002", "003"})

    def test_the_glossary_has_the_words_and_each_once_in_its_group(self):
        terms = []
        for table in tables(PAGES["glossary.md"]):
            keys = [sort_key(row) for row in table[1:]]
            self.assertEqual(keys, sorted(keys), "not alphabetical")
            self.assertEqual(len(keys), len(set(keys)))
            terms += keys
        for word in ("arithmetic intensity", "attention mask", "attention sinks", "bank conflict", "barrier",
                     "block pointer", "bottom-right", "causal", "check mode", "coalesced", "contiguous", "delta",
                     "diagnosis", "divergence", "dk", "dp", "dq", "dropout", "ds", "dv", "finding", "float32 pipes",
                     "global memory", "gqa", "grid", "group", "guard", "guard words", "kernel", "kv cache", "l, m",
                     "lane", "launch", "learned sink", "load mask", "lse", "mha", "mqa", "multiprocessor", "mutant",
                     "numstages", "numwarps", "occupancy", "online softmax", "philox", "poison", "program",
                     "program id",
                     "race", "recompute", "registers", "rescale", "reshape", "roofline", "run mode", "running maximum",
                     "safe softmax", "scale", "sector", "shared memory", "shuffle", "sink tokens", "sliding window",
                     "softmax", "spill", "stride", "thread", "tile", "tl.constexpr", "tl.dot", "tl.exp", "tl.max",
                     "transaction", "triton.autotune", "view", "warp", "wavefront"):
            found = any(term == word or term.startswith((word + ",", word + "-", word + " ")) for term in terms)
            self.assertTrue(found, f"the glossary lacks {word}")


class Form(unittest.TestCase):
    def test_tables_are_rectangular(self):
        for page, text in PAGES.items():
            for table in tables(text):
                for row in table:
                    self.assertEqual(len(row), len(table[0]), f"{page}: {row}")

    def test_lines_outside_tables_are_short(self):
        for page, text in PAGES.items():
            for line in text.split("\n"):
                self.assertTrue(len(line) <= 120 or line.startswith("|"), f"{page}: {line}")

    def test_nothing_outside_code_is_read_as_a_command(self):
        for page, text in PAGES.items():
            self.assertTrue(text.startswith("# "), page)
            for line in without_code(text).split("\n"):
                self.assertNotRegex(line, r"[@\\]", page)
                self.assertNotRegex(line, r"(?<=\s)#\w", page)
                self.assertNotRegex(line, r"(?<=[\s(])[_*](?=[\s,.)])", page)


class Arithmetic(unittest.TestCase):
    """What the section "Corrections" computes."""

    def says(self, *parts):
        text = section("notes_map.md", "Corrections")
        for part in parts:
            self.assertIn(part, text)

    def test_limits_of_the_exponential(self):
        self.assertEqual(f"{math.log(3.4028234663852886e38):.2f}", "88.72")
        self.assertEqual(f"{math.log(65504):.2f}", "11.09")
        self.says("88.72", "11.09")

    def test_online_softmax_of_the_row_3_2_5_1(self):
        m, l, sums = -math.inf, 0.0, []
        for x in (3, 2, 5, 1):
            m_new = max(m, x)
            l = l * math.exp(m - m_new) + math.exp(x - m_new)
            m = m_new
            sums.append(f"{l:.5g}" if l == 1 else f"{l:.5f}")
        self.assertEqual(sums, ["1", "1.36788", "1.18512", "1.20344"])
        forgotten = (1 + math.exp(2 - 3)) + math.exp(5 - 5)
        self.assertEqual(f"{forgotten:.5f}", "2.36788")
        self.says(", ".join(sums), f"{forgotten:.5f}", f"{math.exp(3 - 5):.5f}")

    @staticmethod
    def two_tiles(factor_of_O):
        """Lesson 09's example, with a factor of its own for O. Returns O before the division, and l."""
        tiles = [([0, math.log(2)], [(8, 0), (16, 5)]), ([math.log(5), math.log(8)], [(0, 10), (1, 2.5)])]
        m, l, O = None, 0.0, [0.0, 0.0]
        for scores, values in tiles:
            m_new = max(scores) if m is None else max(m, *scores)
            factor = 0.0 if m is None else math.exp(m - m_new)
            P = [math.exp(s - m_new) for s in scores]
            l = factor * l + sum(P)
            O = [(0.0 if m is None else factor_of_O(factor) * o) + sum(p * v[d] for p, v in zip(P, values))
                 for d, o in enumerate(O)]
            m = m_new
        return O, l

    def test_the_inverse_factor(self):
        O, l = self.two_tiles(lambda factor: factor)
        self.assertEqual([round(o / l, 12) for o in O], [3, 5])
        O, l = self.two_tiles(lambda factor: 1 / factor)
        self.assertEqual([round(o, 12) for o in O], [81, 28.75])
        self.assertAlmostEqual(l, 2)
        self.says("(81, 28.75) / 2 = (40.5, 14.375) instead of (3, 5)")
        self.assertTrue(math.isnan(math.inf * 0.0))

    def test_a_log_sum_exp_in_the_wrong_base(self):
        scores = [math.log(x) for x in (1, 2, 5, 8)]
        lse = math.log(sum(math.exp(s) for s in scores))
        lse_log2 = math.log2(sum(math.exp(s) for s in scores))
        self.assertAlmostEqual(lse, math.log(16))
        self.assertAlmostEqual(math.log(2) * lse_log2, lse)
        self.assertAlmostEqual(sum(math.exp(s - lse) for s in scores), 1)
        self.says(f"{lse:.4f}", f"it is {lse_log2:.0f}", f"{sum(math.exp(s - lse_log2) for s in scores):.2f}")

    def test_a_large_negative_number_for_hidden_scores(self):
        hidden = -1e9
        l = sum(math.exp(hidden - hidden) for _ in range(64))  # a tile in which a row sees nothing
        self.assertEqual(l, 64)
        self.assertEqual(l * math.exp(hidden - 3.0), 0)        # a later tile with a score of 3
        self.assertGreater(-hidden, 65504)

    def test_a_permuted_tensor_has_no_single_stride(self):
        rows, cols = 4, 3  # shape (2, 4, 3) with its last two axes exchanged
        offsets = [b * rows * cols + r * cols + c for b in range(2) for c in range(cols) for r in range(rows)]
        self.assertEqual(offsets[:5], [0, 3, 6, 9, 1])
        self.assertEqual({b - a for a, b in zip(offsets[:5], offsets[1:5])}, {3, -8})
        self.says("0, 3, 6, 9, 1", "by 3 and by −8")

    def test_peaks_and_blocks(self):
        self.assertEqual([f"{part:.0%}" for part in (225 / 312, 230 / 312, 740 / 989)], ["72%", "74%", "75%"])
        self.assertEqual(2**20 // 1024, 1024)
        self.assertEqual([32 + i for i in range(4)], [32, 33, 34, 35])


class Measurements(unittest.TestCase):
    """What the section "Claims and measurements" reads from docs/results."""

    def says(self, part):
        self.assertIn(part, section("notes_map.md", "Claims and measurements"))

    def setUp(self):
        self.ours = result("09_flash2_forward")
        self.theirs = result("09_naive_torch")

    def test_hardware_and_versions(self):
        dates = {"17_full_backward": "2026-11-25", "17_full_backward_torch": "2026-11-25"}  # others: 2026-11-22
        for name in ("08_flash1_forward", "09_flash2_forward", "10_causal", "11_grouped_query", "12_sliding_window",
                     "17_full_backward"):
            run = result(name)
            self.assertEqual((run["gpu"], run["cuda"], run["driver"], run["date"]),
                             ("NVIDIA H200", "13.0", "580.159.04", dates.get(name, "2026-11-22")))
        for name in ("09_naive_torch", "17_full_backward_torch"):
            run = result(name)
            self.assertEqual((run["gpu"], run["cuda"], run["date"], run["torch"], run["tf32"], run["batches"],
                              run["heads"]), ("NVIDIA H200", "13.0", dates.get(name, "2026-11-22"), "2.11.0+cu130", False, 4, 16))
        for part in ("NVIDIA H200", "CUDA 13.0", "580.159.04", "2026-11-22", "2026-11-25", "2.11.0+cu130"):
            self.says(part)

    def test_forward_against_naive_pytorch(self):
        for D in (64, 128):
            theirs = pick(self.theirs["torch_naive_attention"], D=D)
            ours = [pick(self.ours["flash2_forward"], D=D, Nq=run["N"], B=4, H=16)[0] for run in theirs]
            self.assertEqual([run["N"] for run in theirs], [1024, 2048, 4096, 8192])
            ratio = span([b["milliseconds"] / a["milliseconds"] for a, b in zip(ours, theirs)])
            self.says(f"{ratio} times at D = {D}")
            memory = ", ".join(f"{b['extra_bytes'] / a['result_bytes']:.0f}" for a, b in zip(ours, theirs))
            self.says(f"at D = {D}: {memory}")

    def test_bfloat16_against_naive_pytorch(self):
        ratios = {}
        for case in result("compare_torch_16bit", "h100")["cases"]:
            naive = case["torch"].get("naive", {})  # stores all scores, which 65,536 tokens have no room for
            if (case["lesson"], case["dtype"], case["layout"]) == (22, "bfloat16", "bhnd") and "milliseconds" in naive:
                ratio = naive["milliseconds"] / case["ours"]["milliseconds"]
                ratios.setdefault((case["D"], case["causal"]), []).append(ratio)
        ranges = {key: " to ".join(f"{end:.2g}" for end in (min(found), max(found))) for key, found in ratios.items()}
        self.says(f"{ranges[64, False]} times at D = 64, {ranges[128, False]} at D = 128; with a causal mask "
                  f"{ranges[64, True]} and {ranges[128, True]}.")

    def test_both_passes_against_naive_pytorch(self):
        ours, theirs = result("17_full_backward"), result("17_full_backward_torch")
        together, memory, forward = {}, {}, {}
        for D in (64, 128):
            for causal in (True, False):
                case = {"D": D, "causal": causal, "window": None, "Nq": 4096, "H_kv": 16, "B": 4, "H": 16}
                ahead = pick(ours["attention_forward"], **case)[0]
                back = pick(ours["attention_backward"], **case)[0]
                naive = pick(theirs["torch_naive_attention_with_autograd"], D=D, causal=causal, N=4096)[0]
                ratio = naive["milliseconds"] / (ahead["milliseconds"] + back["milliseconds"])
                together[D, causal] = f"{ratio:.2g}"
                memory[D] = f"{naive['extra_bytes'] / (ahead['result_bytes'] + back['result_bytes']):.0f}"
                forward[D, causal] = f"{naive['forward_milliseconds'] / ahead['milliseconds']:.1f}"
        self.says(f"{forward[64, True]} times at D = 64, {forward[128, True]} at D = 128.")
        self.says(f"{together[64, True]} times as fast at D = 64, {together[128, True]} at D = 128")
        self.says(f"not causal {together[64, False]} and {together[128, False]}")
        self.says(f"Memory: {memory[64]} and {memory[128]} times less")

    def test_growth_with_the_length(self):
        runs = pick(self.ours["flash2_forward"], D=64)
        self.assertEqual([run["Nq"] for run in runs], [1024, 2048, 4096, 8192, 16384])
        for shorter, longer in zip(runs, runs[1:]):
            self.assertEqual(longer["result_bytes"], 2 * shorter["result_bytes"])
        self.says(", ".join(f"{run['result_bytes'] / 1e6:.1f}" for run in runs) + " MB")
        self.says(f"grows {runs[-1]['milliseconds'] / runs[-2]['milliseconds']:.1f} times")

    def test_other_lessons(self):
        for D in (64, 128):
            first = pick(result("08_flash1_forward")["flash1_forward"], D=D)
            second = [pick(self.ours["flash2_forward"], D=D, Nq=run["Nq"])[0] for run in first]
            ratio = span([a["milliseconds"] / b["milliseconds"] for a, b in zip(first, second)])
            self.says(f"{ratio} times at D = 64" if D == 64 else f"{ratio} at D = 128")
        heads = pick(result("08_flash1_forward")["more_heads"], D=64)
        self.assertEqual([run["H"] for run in heads], [16, 33, 66, 132])
        self.says(", ".join(f"{run['teraflops']:.1f}" for run in heads) + " TFLOP/s")
        long = {"D": 64, "Nq": 16384}
        causal = pick(result("10_causal")["causal_attention"], **long)[0]
        ratio = pick(self.ours["flash2_forward"], **long)[0]["milliseconds"] / causal["milliseconds"]
        self.says(f"{ratio:.2f} times as fast")
        window = pick(result("12_sliding_window")["sliding_window_attention"], D=64, window=1024)
        self.assertEqual([run["Nq"] for run in window], [8192, 16384])
        self.says(" and ".join(f"{run['milliseconds']:.2f}" for run in window) + " ms")
        groups = pick(result("11_grouped_query")["one_query"], D=128)
        self.assertEqual([(run["B"], run["H_kv"], run["Nk"]) for run in groups],
                         [(16, heads, 8192) for heads in (32, 8, 4, 1)])
        self.says(", ".join(f"{run['milliseconds']:.2f}" for run in groups) + " ms")


if __name__ == "__main__":
    unittest.main()
