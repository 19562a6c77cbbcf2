"""Tests common/draw/fragments.py: every element has one place, and pairs lie where the instructions want them."""

import collections
import pathlib
import sys
import unittest
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "common/draw"))

import fragments  # noqa: E402


class Fragments(unittest.TestCase):
    def places(self, where, rows, cols):
        """{(lane, register): [(row, col), ...]}"""
        held = collections.defaultdict(list)
        for row in range(rows):
            for col in range(cols):
                held[where(row, col)].append((row, col))
        return held

    def test_a_lane_has_four_pairs_of_a_each_in_a_row(self):
        held = self.places(fragments.lane_of_a, 16, 16)
        self.assertEqual(len(held), 32 * 4)
        for (lane, register), pair in held.items():
            row, k = lane // 4 + 8 * (register % 2), 2 * (lane % 4) + 8 * (register // 2)
            self.assertEqual(pair, [(row, k), (row, k + 1)])

    def test_a_lane_has_two_pairs_of_b_each_in_a_column(self):
        held = self.places(fragments.lane_of_b, 16, 8)
        self.assertEqual(len(held), 32 * 2)
        for (lane, register), pair in held.items():
            k, col = 2 * (lane % 4) + 8 * register, lane // 4
            self.assertEqual(pair, [(k, col), (k + 1, col)])

    def test_a_lane_has_four_elements_of_c(self):
        held = self.places(fragments.lane_of_c, 16, 8)
        self.assertEqual(len(held), 32 * 4)
        for (lane, number), element in held.items():
            self.assertEqual(element, [(lane // 4 + 8 * (number // 2), 2 * (lane % 4) + number % 2)])

    def test_ldmatrix_gives_each_quarter_of_a_to_the_register_that_holds_it(self):
        for lane in range(32):
            matrix, line = fragments.line_of_matrix(lane)
            row, k = matrix % 2 * 8 + line, matrix // 2 * 8
            self.assertEqual(fragments.lane_of_a(row, k)[1], matrix)

    def test_a_chunk_of_eight_lines_is_in_eight_places(self):
        for chunk in range(8):
            self.assertEqual({fragments.swizzled(line, chunk) for line in range(8)}, set(range(8)))
            for line in range(8):
                self.assertEqual(fragments.swizzled(line, fragments.swizzled(line, chunk)), chunk)

    def test_two_fragments_of_c_are_one_of_a_in_every_lane(self):
        for row in range(16):
            for col in range(16):
                lane, register = fragments.lane_of_a(row, col)
                self.assertEqual(fragments.lane_of_c(row, col % 8)[0], lane)
                self.assertEqual(fragments.operand_register(row, col), register)

    def test_the_picture_of_the_operand_has_a_number_for_each_square(self):
        root = xml.etree.ElementTree.fromstring(fragments.draw_operand())
        numbers = [text.text for group in root.iter("{http://www.w3.org/2000/svg}g") for text in group]
        self.assertEqual(len(numbers), 16 * 16 + 16 * 8)  # elements of S, pairs of A

    def test_the_picture_has_a_number_for_each_square(self):
        root = xml.etree.ElementTree.fromstring(fragments.draw())
        numbers = [text.text for group in root.iter("{http://www.w3.org/2000/svg}g") for text in group]
        self.assertEqual(len(numbers), 16 * 8 + 16 * 8 + 16 * 8 + 32 + 64)  # pairs of A, B, C, lines, chunks


if __name__ == "__main__":
    unittest.main()
