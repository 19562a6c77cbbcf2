"""Tests common/draw/draw_trace.py and what it is made of on small traces, written by hand: counts, sentences, pictures."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
DRAW = ROOT / "common/draw"
sys.path.insert(0, str(DRAW))

import draw_trace  # noqa: E402
import trace_picture  # noqa: E402
import trace_tiles  # noqa: E402
import trace_traffic  # noqa: E402
import trace_words  # noqa: E402
from trace_steps import BadTrace, Groups, read_trace, step_of  # noqa: E402

SVG = "{http://www.w3.org/2000/svg}"


def access(places, kind="load", memory="global", array="x", size=4, cost=1, warp=0, line=7, lanes=None):
    """A step as a trace has it: the places of the lanes in bytes, from 0 on unless told. `cost` as the hardware counts."""
    lanes = range(len(places)) if lanes is None else lanes
    return {"warp": warp, "kind": kind, "memory": memory, "array": array, "bytes": size, "file": "none.cu", "line": line,
            "sectors": cost if memory == "global" else 0, "wavefronts": cost if memory == "shared" else 0,
            "active": sum(1 << lane for lane in lanes),
            "lanes": [{"lane": lane, "thread": [lane, 0, 0], "index": [place // size], "offset": place, "address": place}
                      for lane, place in zip(lanes, places)]}


def barrier(warp=0):
    return dict(access([], kind="barrier", memory="", array="", size=0, cost=0, warp=warp), active=0xFFFFFFFF)


def view(name, shape, strides):
    return {"name": name, "address": 0, "element_bytes": 4, "shape": shape, "strides": strides}


def trace_text(steps, arrays=(), complete=True):
    """The lines that simt::report::trace_json() writes."""
    head = {"version": 1, "request": {"launch": 0, "block": [1, 0, 0], "warp": -1, "most_steps": 10000},
            "kernel": "some_kernel<1>", "grid": [2, 1, 1], "block_shape": [32, 1, 1], "complete": complete}
    lists = [f'"{name}":[' + ",".join("\n" + json.dumps(row) for row in rows) + ("\n]" if rows else "]")
             for name, rows in (("arrays", arrays), ("steps", steps))]
    return ",\n".join([json.dumps(head)[:-1], *lists]) + "}\n"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def trace(self, steps, arrays=(), complete=True):
        path = self.folder / "trace.json"
        path.write_text(trace_text(steps, arrays, complete), encoding="utf-8")
        return path


class Access(unittest.TestCase):
    """Each access: its cost by the rules is what the hardware counts, and the sentence says it."""

    def assert_said(self, row, sentence):
        step = step_of(row, 3)
        counted = trace_traffic.wavefronts_counted if step.memory == "shared" else trace_traffic.sectors_counted
        self.assertEqual(counted(step), max(step.sectors, step.wavefronts))
        self.assertEqual(trace_words.described(step), f"Warp 0, step 3, {sentence}.")

    def test_coalesced(self):
        self.assert_said(access([4 * lane for lane in range(32)], cost=4),
                         "load of x (none.cu:7): 32 lanes touch 32 consecutive elements of 4 bytes, 4 sectors, all bytes "
                         "used")

    def test_strided(self):
        self.assert_said(access([400 * lane for lane in range(32)], cost=32, kind="store"),
                         "store of x (none.cu:7): 32 lanes touch 32 elements of 4 bytes, each 400 bytes after that of the "
                         "lane before, 32 sectors, 128 of 1,024 bytes used")

    def test_broadcast(self):
        self.assert_said(access([64] * 32), "load of x (none.cu:7): 32 lanes touch the same element of 4 bytes, 1 sector, "
                         "4 of 32 bytes used")

    def test_misaligned(self):
        self.assert_said(access([4 * lane + 4 for lane in range(32)], cost=5),
                         "load of x (none.cu:7): 32 lanes touch 32 consecutive elements of 4 bytes, 5 sectors, 128 of 160 "
                         "bytes used")

    def test_reversed_and_shuffled(self):
        self.assert_said(access([4 * (31 - lane) for lane in range(32)], cost=4),
                         "load of x (none.cu:7): 32 lanes touch 32 consecutive elements of 4 bytes, in reverse, 4 "
                         "sectors, all bytes used")
        self.assert_said(access([4 * (lane ^ 1) for lane in range(32)], cost=4),
                         "load of x (none.cu:7): 32 lanes touch 32 consecutive elements of 4 bytes, not in the order of "
                         "the lanes, 4 sectors, all bytes used")

    def test_scattered(self):
        self.assert_said(access([0, 128, 64], cost=3), "load of x (none.cu:7): 3 lanes touch 3 elements of 4 bytes, "
                         "spread over 132 bytes, 3 sectors, 12 of 96 bytes used")

    def test_one_lane(self):
        self.assert_said(access([8], lanes=[5]), "load of x (none.cu:7): 1 lane touches 1 element of 4 bytes, 1 sector, 4 "
                         "of 32 bytes used")

    def test_vectors_that_cross_no_sector(self):
        self.assert_said(access([16 * lane for lane in range(32)], size=16, cost=16),
                         "load of x (none.cu:7): 32 lanes touch 32 consecutive elements of 16 bytes, 16 sectors, all bytes "
                         "used")

    def test_bytes(self):
        self.assert_said(access(list(range(32)), size=1), "load of x (none.cu:7): 32 lanes touch 32 consecutive elements "
                         "of 1 byte, 1 sector, all bytes used")

    def test_atomics_that_meet(self):
        self.assert_said(access([0] * 32, kind="atomic", cost=32),
                         "atomic of x (none.cu:7): 32 lanes touch the same element of 4 bytes, 32 sectors, because lanes "
                         "that meet at one element are served one after the other")
        self.assert_said(access([0] * 8, kind="atomic", memory="shared", cost=8),
                         "atomic of x (none.cu:7): 8 lanes touch the same element of 4 bytes, 8 wavefronts where 1 would "
                         "do: a bank conflict")

    def test_asynchronous_copy_is_a_load_of_global_memory(self):
        self.assert_said(access([16 * lane for lane in range(8)], size=16, cost=4),
                         "load of x (none.cu:7): 8 lanes touch 8 consecutive elements of 16 bytes, 4 sectors, all bytes "
                         "used")

    def test_conflict_of_two(self):
        self.assert_said(access([8 * lane for lane in range(32)], memory="shared", cost=2),
                         "load of x (none.cu:7): 32 lanes touch 32 elements of 4 bytes, each 8 bytes after that of the "
                         "lane before, 2 wavefronts where 1 would do: a bank conflict")

    def test_conflict_of_32_and_its_padding(self):
        self.assert_said(access([128 * lane for lane in range(32)], memory="shared", cost=32),
                         "load of x (none.cu:7): 32 lanes touch 32 elements of 4 bytes, each 128 bytes after that of the "
                         "lane before, 32 wavefronts where 1 would do: a bank conflict")
        self.assert_said(access([132 * lane for lane in range(32)], memory="shared", cost=1),
                         "load of x (none.cu:7): 32 lanes touch 32 elements of 4 bytes, each 132 bytes after that of the "
                         "lane before, 1 wavefront, no bank conflict")

    def test_wide_reads_of_shared_memory_go_in_parts(self):
        self.assert_said(access([16 * lane for lane in range(32)], memory="shared", size=16, cost=4),
                         "load of x (none.cu:7): 32 lanes touch 32 consecutive elements of 16 bytes, 4 wavefronts, no bank "
                         "conflict")

    def test_which_words_conflict(self):
        step = step_of(access([0, 4, 128, 132, 264], memory="shared", cost=2), 0)
        self.assertEqual(trace_traffic.words_in_conflict(step), {0, 1, 32, 33})

    def test_memory_without_a_name(self):
        self.assertIn("load of memory without a name (", trace_words.described(step_of(access([0], array=""), 0)))


class Repetition(Case):
    """What is said of steps that look alike."""

    def notes(self, steps):
        groups = Groups()
        read_trace(self.trace(steps), [groups])
        return [trace_words.more_of(group) for site in groups.sites for group in groups.of_site(site)]

    def row(self, start, warp=0, line=7):
        return access([start + 4 * lane for lane in range(32)], cost=4, warp=warp, line=line)

    def test_of_one_warp(self):
        self.assertEqual(self.notes([self.row(4096 * i) for i in range(16)]),
                         ["And 15 more steps like this, each 4,096 bytes further."])
        self.assertEqual(self.notes([self.row(256), self.row(128)]), ["And 1 more step like this, 128 bytes back."])
        self.assertEqual(self.notes([self.row(0), self.row(0)]), ["And 1 more step like this, at the same place."])
        self.assertEqual(self.notes([self.row(0), self.row(128), self.row(512)]),
                         ["And 2 more steps like this, at other places."])

    def test_of_other_warps(self):
        self.assertEqual(self.notes([self.row(128 * warp, warp) for warp in range(8)]),
                         ["And 7 more steps like this by 7 other warps, each 128 bytes further."])
        self.assertEqual(self.notes([self.row(1024 * i + 128 * warp, warp) for warp in range(3) for i in range(4)]),
                         ["And 3 more steps like this, each 1,024 bytes further, and 8 by 2 other warps."])

    def test_one_step_alone_has_no_note(self):
        self.assertEqual(self.notes([self.row(0)]), [""])

    def test_shifted_within_a_sector_is_another_shape_but_other_banks_are_not(self):
        shifted = access([4 * lane + 4 for lane in range(32)], cost=5)
        self.assertEqual(len(self.notes([self.row(0), shifted])), 2)
        shared = [access([start + 4 * lane for lane in range(32)], memory="shared") for start in (0, 132)]
        self.assertEqual(self.notes(shared), ["And 1 more step like this, 132 bytes further."])


class Picture(Case):
    def draw(self, steps, step=None, **arguments):
        svg, words = draw_trace.picture_of(self.trace(steps, **arguments), step)
        return svg, words, xml.etree.ElementTree.fromstring(svg)

    def drawn_squares(self, root, kind="l"):
        """How many squares lanes have, by the shades of the picture without its key."""
        return sum(path.get("d").count("z") for path in root.iter(f"{SVG}path")
                   if re.fullmatch(kind + r"\d?", path.get("class", "")))

    def test_says_in_words_what_it_shows(self):
        svg, words, root = self.draw([access([4 * lane for lane in range(32)], cost=4)])
        self.assertEqual(root.get("role"), "img")
        self.assertEqual(root.get("aria-labelledby"), "title details")
        by_id = {element.get("id"): element.text for element in root.iter() if element.get("id")}
        self.assertEqual(by_id["title"], "What block (1,0,0) of some_kernel<1> touches")
        self.assertEqual(by_id["details"], "\n".join(words))
        self.assertIn("4 sectors, all bytes used.", words[1])
        self.assertEqual(self.drawn_squares(root), 32)

    def test_hatched_are_as_many_sectors_as_were_counted(self):
        _, _, root = self.draw([access([64 * lane for lane in range(32)], cost=32)])
        hatched = [path for path in root.iter(f"{SVG}path") if path.get("fill") == "url(#unused)"]
        self.assertEqual(hatched[0].get("d").count("z"), 32)

    def test_conflicts_are_outlined(self):
        _, _, root = self.draw([access([128 * lane for lane in range(32)], memory="shared", cost=32)])
        self.assertEqual(self.drawn_squares(root, "conflict"), 32)
        _, _, root = self.draw([access([132 * lane for lane in range(32)], memory="shared", cost=1)])
        self.assertEqual(self.drawn_squares(root, "conflict"), 0)

    def test_one_word_of_many_lanes_is_one_square(self):
        svg, _, root = self.draw([access([64] * 32)])
        self.assertEqual(self.drawn_squares(root), 1)
        self.assertIn(">0+</text>", svg)

    def test_one_step(self):
        steps = [access([0]), barrier(), access([128 * lane for lane in range(32)], memory="shared", cost=32, array="t")]
        svg, words, _ = self.draw(steps, step=2)
        self.assertEqual(len(words), 2)
        self.assertTrue(words[1].startswith("Warp 0, step 2, load of t (none.cu:7)"))
        self.assertNotIn("step 0", svg)

    def test_nothing_to_draw(self):
        for steps, step, message in (([], None, "it has no access to memory"),
                                     ([barrier()], None, "it has no access to memory"),
                                     ([access([])], None, "it has no access to memory"),
                                     ([access([0])], 1, "it has no step 1; its steps are 0 to 0"),
                                     ([barrier()], 0, "step 0 is a barrier, which touches no memory")):
            with self.subTest(message), self.assertRaisesRegex(BadTrace, message):
                self.draw(steps, step)

    def test_what_is_no_trace(self):
        for text in ("", "{}", "hello", '{"version":1}\n', trace_text([access([0])]).replace('"steps"', '"stops"')):
            path = self.folder / "other.json"
            path.write_text(text, encoding="utf-8")
            with self.subTest(text), self.assertRaises(BadTrace):
                draw_trace.picture_of(path)

    def test_steps_without_lanes_are_left_out(self):
        _, words, _ = self.draw([access([]), access([0])])
        self.assertEqual(len(words), 2)

    def test_many_lines_are_named_and_not_drawn(self):
        steps = [access([256 * lane for lane in range(32)], cost=32, line=line) for line in range(40)]
        svg, words, _ = self.draw(steps)
        self.assertLess(len(svg), 60 * 1024)
        drawn = sum(word.startswith("Warp") for word in words)
        self.assertLess(drawn, 40)
        self.assertRegex(words[-1], rf"^Not drawn, and to be had with --step: step {drawn}, .*; and {36 - drawn} more\.$")

    def test_the_most_wasteful_other_shape_is_the_second(self):
        steps = [access([4 * lane for lane in range(32)], cost=4), access([4 * lane + 4 for lane in range(32)], cost=5),
                 access([64 * lane for lane in range(32)], cost=32)]
        _, words, _ = self.draw(steps)
        self.assertIn("step 2", words[2])
        self.assertTrue(words[2].endswith("And 1 step of this line with other shapes."), words[2])

    def test_a_trace_that_was_cut_says_so(self):
        _, words, _ = self.draw([access([0])], complete=False)
        self.assertIn("The trace ends after 10,000 steps", words[-1])

    def test_a_million_accesses(self):
        rows = [json.dumps(access([4 * lane + 128 * i for lane in range(32)], cost=4, line=i % 8)) for i in range(512)]
        path = self.folder / "large.json"
        head, _ = trace_text([]).split('"steps":[')
        path.write_text(head + '"steps":[\n' + ",\n".join(rows * 62) + "\n]}\n", encoding="utf-8")
        began = time.process_time()
        svg, words = draw_trace.picture_of(path)
        self.assertLess(time.process_time() - began, 20)  # some 4 s where nothing else runs
        self.assertLess(len(svg), 60 * 1024)
        self.assertEqual(len(words), 9)

    def test_the_source_line_stands_beside_it(self):
        row = dict(access([0]), file="docs/examples/first_kernel.cu", line=1)
        first = (ROOT / row["file"]).read_text(encoding="utf-8").splitlines()[0].strip()
        _, _, root = self.draw([row])
        self.assertIn(trace_picture.shortened(first, 82),
                      [text.text for text in root.iter(f"{SVG}text") if text.get("class") == "code"])

    def test_everything_lies_within_its_width(self):
        steps = [access([16 * lane for lane in range(32)], size=16, cost=16),
                 access([132 * lane for lane in range(32)], memory="shared", array="a_rather_long_name")]
        _, _, root = self.draw(steps)
        width, height = (float(root.get(name)) for name in ("width", "height"))
        for path in root.iter(f"{SVG}path"):
            for x, y in re.findall(r"M([\d.]+) ([\d.]+)", path.get("d")):
                self.assertLess(float(x), width)
                self.assertLess(float(y), height)
        for text in root.iter(f"{SVG}text"):
            self.assertLess(float(text.get("y")), height)


class Colours(unittest.TestCase):
    def luminance(self, colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055)**2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    def contrast(self, one, other):
        low, high = sorted((self.luminance(one), self.luminance(other)))
        return (high + 0.05) / (low + 0.05)

    def test_numbers_can_be_read_in_light_and_dark(self):
        for light, on_light, dark, on_dark in trace_picture.SHADES:
            self.assertGreaterEqual(self.contrast(light, on_light), 4.5, light)
            self.assertGreaterEqual(self.contrast(dark, on_dark), 4.5, dark)

    def test_the_order_shows_without_colours(self):
        light = [self.luminance(shade[0]) for shade in trace_picture.SHADES]
        dark = [self.luminance(shade[2]) for shade in trace_picture.SHADES]
        self.assertEqual(light, sorted(light, reverse=True))
        self.assertEqual(dark, sorted(dark))

    def test_dark_has_a_colour_for_everything_that_light_has(self):
        light, dark = trace_picture.STYLE.rsplit("@media (prefers-color-scheme: dark)", 1)
        for name in ("label", "paper", "hatch", "box", "grid", "conflict", "bad", *(f"l{i}" for i in range(8))):
            self.assertIn(f".{name} ", light)
            self.assertIn(f".{name} ", dark)


class Tiles(Case):
    ROWS, D = 8, 4

    def load(self, array, rows, **more):
        """All of some rows of a (1, 1, 8, 4) array."""
        places = [4 * (row * self.D + column) for row in rows for column in range(self.D)]
        return access(places, array=f"{array}.data", cost=len(places) * 4 // 32 or 1, **more)

    def visits(self, steps, arrays=None):
        contiguous = [1, 1, self.ROWS, self.D], [32, 32, 4, 1]
        visits = trace_tiles.Visits()
        read_trace(self.trace(steps, arrays or [view(f"{name}.data", *contiguous) for name in "QKVO"]), [visits])
        return visits

    def tiles(self, steps, arrays=None):
        visits = self.visits(steps, arrays)
        return [(tile.queries, tile.keys)
                for tile in trace_tiles.tiles_of(visits.of("Q", "read"), visits.of("K", "read"))]

    def test_keys_pass_by_a_tile_of_queries(self):
        steps = [self.load("Q", range(4)), barrier(), self.load("K", range(4)), barrier(), self.load("K", range(4, 8))]
        self.assertEqual(self.tiles(steps), [((0, 1, 2, 3), (0, 1, 2, 3)), ((0, 1, 2, 3), (4, 5, 6, 7))])

    def test_queries_pass_by_tiles_of_keys(self):
        steps = []
        for keys in (range(4), range(4, 8)):
            steps += [self.load("K", keys), barrier()]
            for queries in (range(2), range(2, 4), range(4, 6)):
                steps += [self.load("Q", queries), barrier()]
        self.assertEqual(self.tiles(steps), [((query, query + 1), tuple(range(key, key + 4)))
                                             for key in (0, 4) for query in (0, 2, 4)])

    def test_queries_that_come_after_the_keys(self):
        self.assertEqual(self.tiles([self.load("K", [0]), barrier(), self.load("Q", [1])]), [((1,), (0,))])

    def test_a_tile_that_is_read_in_slices_is_one(self):
        steps = [self.load("Q", [0]), barrier(), self.load("K", [0, 1]), barrier(), self.load("K", [0, 1]), barrier(),
                 self.load("K", [2])]
        self.assertEqual(self.tiles(steps), [((0,), (0, 1)), ((0,), (2,))])

    def test_warps_between_two_barriers_make_one_visit(self):
        steps = [self.load("Q", [0]), barrier(0), self.load("Q", [1], warp=1), barrier(1),
                 self.load("K", [0]), self.load("K", [1], warp=1)]
        self.assertEqual(self.tiles(steps), [((0, 1), (0, 1))])

    def test_rows_are_found_by_strides(self):
        # (2, 3, 4, 2) as [batch, seq, head, dim] with rows of 8 elements: element (1, 2, 3, 1)
        strides = [4 * 3 * 8, 8, 3 * 8, 1]
        one = trace_tiles.View(view("Q.data", [2, 3, 4, 2], strides))
        self.assertEqual(one.row_at(4 * (96 + 2 * 8 + 3 * 24 + 1)), ((1, 2), 3))
        self.assertIsNone(one.row_at(4 * 5), "between the rows")
        self.assertIsNone(one.row_at(-4))
        self.assertIsNone(one.row_at(4 * 192), "behind the end")
        self.assertIsNone(trace_tiles.View(view("Q.data", [2, 1, 4, 2], [0, 8, 2, 1])).row_at(0), "strides overlap")

    def test_rows_by_name(self):
        for rows, words in (([5], "row 5"), (range(4), "rows 0 to 3"), ([0, 1, 4], "rows 0 to 1 and 4"),
                            (range(0, 16, 2), "8 rows between 0 and 14")):
            self.assertEqual(trace_tiles.named("row", "rows", list(rows)), words)

    def test_plain_pointers_are_not_guessed(self):
        plain = [view(name, [], []) for name in "QK"]
        _, words = draw_trace.picture_of(self.trace([access([0], array="Q")], plain))
        self.assertIn("not known: the kernel has them as plain pointers", words[1])

    def test_words_and_picture(self):
        steps = [self.load("Q", range(4)), barrier(), self.load("K", range(4)), self.load("V", range(4)), barrier(),
                 self.load("K", range(4, 8)), dict(self.load("O", [0, 1]), kind="store")]
        contiguous = [1, 1, self.ROWS, self.D], [32, 32, 4, 1]
        svg, words = draw_trace.picture_of(self.trace(steps, [view(f"{name}.data", *contiguous) for name in "QKVO"]))
        xml.etree.ElementTree.fromstring(svg)
        self.assertEqual(words[1:6], [
            "Q is read in 1 visit: rows 0 to 3.", "K is read in 2 visits: rows 0 to 3; rows 4 to 7.",
            "V is read in 1 visit: rows 0 to 3.", "O is written in 1 visit: rows 0 to 1.",
            "Tiles of S, batch 0, head 0, in order: queries 0 to 3 by keys 0 to 3; queries 0 to 3 by keys 4 to 7."])

    def test_many_tiles_stay_small(self):
        arrays = [view(f"{name}.data", [1, 1, 512, 4], [2048, 2048, 4, 1]) for name in "QK"]
        steps = [self.load("Q", range(8))]
        for key in range(512):
            steps += [barrier(), self.load("K", [key])]
        svg, words = draw_trace.picture_of(self.trace(steps, arrays))
        self.assertLess(len(svg), 60 * 1024)
        self.assertIn("; and 506 more.", words[2])


class Program(Case):
    def run_it(self, *arguments):
        return subprocess.run([sys.executable, "-B", DRAW / "draw_trace.py", *arguments], capture_output=True, text=True)

    def test_writes_a_picture_and_prints_its_words(self):
        out = self.folder / "picture.svg"
        result = self.run_it(self.trace([access([0])]), "--out", out)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.splitlines()[0], "What block (1,0,0) of some_kernel<1> touches.")
        xml.etree.ElementTree.parse(out)

    def test_says_in_one_sentence_what_is_wrong(self):
        result = self.run_it(self.trace([access([0])]), "--out", self.folder / "x.svg", "--step", "9")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "There is nothing to draw in the trace: it has no step 9; its steps are 0 to 0.\n")


if __name__ == "__main__":
    unittest.main()
