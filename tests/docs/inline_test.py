#!/usr/bin/env python3
"""Tests of scripts/book/inline.py: mathematics within the notes' sentences as HTML."""

import html
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from book.formulas import typeset  # noqa: E402
from book.inline import JOINED, typeset_inline, width  # noqa: E402
from book.markdown import CODE_SPAN, HEADING, outside_fences  # noqa: E402

PAGES = sorted([*ROOT.glob("lessons/*/*.md"), *ROOT.glob("docs/**/*.md"), ROOT / "CONTRIBUTING.md"])


class Inline(unittest.TestCase):
    """One piece of a sentence. In what is expected, ~ stands for a no-break space."""

    def gives(self, text: str, expected: str) -> None:
        with self.subTest(text):
            self.assertEqual(typeset_inline(text).replace("\u00a0", "~"), expected)

    def stays(self, text: str) -> None:
        self.gives(text, text)

    def test_subscripts(self):
        self.gives("m_new and H_kv, N_k", "m<sub>new</sub> and H<sub>kv</sub>, N<sub>k</sub>")
        self.gives("dP_ij, lse_i, sink_h", "dP<sub>ij</sub>, lse<sub>i</sub>, sink<sub>h</sub>")
        self.gives("(x_j, 1), −|x_j|", "(x<sub>j</sub>, 1), −|x<sub>j</sub>|")
        self.gives("Q_i·K_jᵀ or ∂P_j", "Q<sub>i</sub>·K<sub>j</sub>ᵀ or ∂P<sub>j</sub>")
        self.gives("δ_jk before −Σ_i", "δ<sub>jk</sub> before −Σ<sub>i</sub>")
        self.gives("Σ_{k<j}", "Σ<sub>k&lt;j</sub>")

    def test_names_in_code_stay(self):
        self.stays("kv_head, all_begin, num_stages, BLOCK_M, block_size, q_row_stride, q_head, l_rmem[i]")
        self.stays("out_of_bounds, 09_flash2_forward, 10_causal, flash_forward.hpp, std::int64_t, a_b.hpp")

    def test_exponents(self):
        self.gives("10^−7, 2^28 and e^100", "10<sup>−7</sup>, 2<sup>28</sup> and e<sup>100</sup>")
        self.gives("e^sink.", "e<sup>sink</sup>.")
        self.gives("e^(m − m_new),", "e<sup>m~−~m<sub>new</sub></sup>,")
        self.gives("e^(−∞ − (−∞))?", "e<sup>−∞~−~(−∞)</sup>?")
        self.gives("e^(2^(n + 1))", "e<sup>2<sup>n~+~1</sup></sup>")
        self.gives("e^(m −\nm_new)", "e<sup>m~−~m<sub>new</sub></sup>")
        self.gives("e^(old maximum − new maximum)", "e<sup>old maximum − new maximum</sup>")
        self.stays("lane L ^ bit, [y][x ^ y] and e^(m")

    def test_short_operands_stay_on_one_line(self):
        self.gives("of 32 × 32 words", "of 32~×~32 words")
        self.gives("4 · rows · cols bytes", "4~·~rows~·~cols bytes")
        self.gives("for D =\n64, N / 128", "for D~=~64, N~/~128")
        self.gives("l = Σ e^(s − m)", "l~=~Σ~e<sup>s~−~m</sup>")
        self.gives("ln 8 + ln 2", "ln~8~+~ln~2")
        self.gives("so 1/4 · (4, 0) + 3/4 · (2, 6) of (M, N)", "so 1/4~·~(4,~0)~+~3/4 · (2,~6) of (M,~N)")

    def test_what_is_long_can_wrap(self):
        self.gives("8,388,608 × 32", "8,388,608 × 32")
        self.gives("14 · B · H · N_q · N_k · D", "14~·~B~·~H~·~N<sub>q</sub> · N<sub>k</sub>~·~D")
        self.gives("| 14 · Nq · Nk · D |", "| 14~·~Nq~·~Nk · D |")

    def test_emphasis_with_a_subscript_is_html(self):
        self.gives("*x*, *m_new.* Then **H_kv**, *y*", "*x*, <em>m<sub>new</sub>.</em> Then <b>H<sub>kv</sub></b>, *y*")
        self.gives("- **e^0** and\n  *P · V*", "- <b>e<sup>0</sup></b> and\n  *P~·~V*")

    def test_what_is_not_prose_stays(self):
        self.stays("\0" "1\0 = 2, [x](a_b/m_new.md#x_j), https://a.b/x_j")
        self.stays('<img src="x.svg" alt="m_new = 2, a = b"> <!-- m_new = 2 -->')
        self.stays("\\f[\nm_new = e^(x_j) · 2\n\\f]")
        self.stays("so\n\n    m_new = e^(x_j);\n    a = 2;\n\nand")
        self.gives("[m_new](m_new.md)", "[m<sub>new</sub>](m_new.md)")


class Pages(unittest.TestCase):
    def test_all_pages(self):
        found = set()
        for path in PAGES:
            prose = self.prose_of(path.read_text(encoding="utf-8"))
            shown = typeset_inline(prose)
            with self.subTest(path.relative_to(ROOT)):
                self.assertEqual(self.bare(shown), self.bare(prose))
                self.check_tags(shown)
                self.check_widths(shown)
            found.update(re.findall(r"\w+<sub>[^<]*</sub>", shown))
        self.assertLessEqual({"m<sub>new</sub>", "x<sub>j</sub>", "H<sub>kv</sub>", "dO<sub>i</sub>"}, found)

    def prose_of(self, text: str) -> str:
        """A page without headings, fenced code and code spans."""
        lines = [line for line, code in outside_fences(typeset(text)) if not code and not HEADING.match(line)]
        return CODE_SPAN.sub("\0" "0\0", "\n".join(lines))

    def bare(self, text: str) -> str:
        """The text without what may change."""
        return re.sub(r"[\s\u00a0^_(){}*]", "", html.unescape(re.sub(r"</?(sub|sup|b|em)>", "", text)))

    def check_tags(self, text: str) -> None:
        unclosed = []
        for slash, tag in re.findall(r"<(/?)(sub|sup|b|em)>", text):
            if not slash:
                unclosed.append(tag)
            else:
                self.assertTrue(unclosed and unclosed.pop() == tag, tag)
        self.assertEqual(unclosed, [])

    def check_widths(self, text: str) -> None:
        """All that is joined to one word fits on a phone's line."""
        for word in re.findall(r"[^ \n]*\u00a0[^ \n]*", re.sub(r"\]\([^()\s]+\)", "]", text)):
            self.assertLessEqual(width(word), 2 * JOINED, word)


if __name__ == "__main__":
    unittest.main()
