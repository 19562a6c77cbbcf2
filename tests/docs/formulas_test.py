#!/usr/bin/env python3
"""Tests of scripts/book/formulas.py: the formulas of the notes as TeX."""

import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from book.formulas import FormulaError, originals, to_tex, typeset  # noqa: E402


class Formulas(unittest.TestCase):
    """One line, one formula."""

    def gives(self, line: str, tex: str) -> None:
        with self.subTest(line):
            self.assertEqual(to_tex(line), tex)

    def test_letters_are_variables_and_words_are_text(self):
        self.gives("lse = m + log l", r"\text{lse} = m + \log l")
        self.gives("stride = r · row stride", r"\text{stride} = r \cdot \text{row stride}")
        self.gives("query i sees key j if p − W < j ≤ p",
                   r"\text{query } i \text{ sees key } j \text{ if } p - W < j \le p")
        self.gives("dS = P ∘ dP", r"dS = P \circ dP")

    def test_an_article_is_text_and_the_variable_a_is_not(self):
        self.gives("2 · D with one head a block", r"2 \cdot D \text{ with one head a block}")
        self.gives("the first a + 1 keys", r"\text{the first } a + 1 \text{ keys}")

    def test_names_in_code_keep_their_underscores(self):
        self.gives("kv_head = blockIdx.x + 1", r"\texttt{kv_head} = \texttt{blockIdx.x} + 1")
        self.gives("a = 0xD2511F53 · x₀", r"a = \texttt{0xD2511F53} \cdot x_0")
        self.gives("q_tile · BLOCK_M = x_row_stride", r"\texttt{q_tile} \cdot \texttt{BLOCK_M} = \texttt{x_row_stride}")

    def test_underscores_after_variables_are_subscripts(self):
        self.gives("m_new = H_kv", r"m_{\text{new}} = H_{kv}")
        self.gives("dO_id · V_jd = lse_i − delta_i", r"dO_{id} \cdot V_{jd} = \text{lse}_i - \text{delta}_i")
        self.gives("dsink_h = sink_h · m_old", r"d\text{sink}_h = \text{sink}_h \cdot m_{\text{old}}")
        self.gives("Nq + Nk = N_q", "N_q + N_k = N_q")
        self.gives("x₁ = log₂ p", r"x_1 = \log_2 p")

    def test_sums(self):
        self.gives("Σ P = 1", r"\sum P = 1")
        self.gives("y[i] = Σ_j w[j] · x[i][j]", r"y[i] = \sum_j w[j] \cdot x[i][j]")
        self.gives("l = Σ_{k<j} e^(x_k − m)", r"l = \sum_{k < j} e^{x_k - m}")
        self.gives("b = Σ_j |x_j|", r"b = \sum_j \, \lvert x_j\rvert")

    def test_powers(self):
        self.gives("f = e^(−|x_j − m|)", r"f = e^{- \lvert x_j - m\rvert}")
        self.gives("2^−24 < 2²⁴", "2^{-24} < 2^{24}")
        self.gives("e^s + e^sink = l²", r"e^s + e^{\text{sink}} = l^2")
        self.gives("S = Q·Kᵀ", r"S = Q \cdot K^{\mathsf{T}}")
        self.gives("(P ∘ Z)ᵀ·dO = dV", r"(P \circ Z)^{\mathsf{T}} \cdot dO = dV")
        self.gives("L′(0) = s′", "L'(0) = s'")

    def test_functions(self):
        self.gives("m′ = max(m, x_j)", r"m' = \max(m, x_j)")
        self.gives("softmax(x)_j = low(b)", r"\operatorname{softmax}(x)_j = \operatorname{low}(b)")
        self.gives("max |a − b| · max|c| = 0", r"\max \, \lvert a - b\rvert \cdot \max \, \lvert c\rvert = 0")
        self.gives("y = so it is rowsum(P) · 2", r"y = \text{so it is } \!\operatorname{rowsum}(P) \cdot 2")

    def test_a_slash_divides_what_stands_beside_it(self):
        self.gives("1/2 + 64/N = 0", r"\frac{1}{2} + \frac{64}{N} = 0")
        self.gives("1/(2T) = 2 · 3/4", r"\frac{1}{2T} = 2 \cdot \frac{3}{4}")
        self.gives("∂L/∂x = dk₁/dk", r"\frac{\partial L}{\partial x} = \frac{dk_1}{dk}")
        self.gives("½ + ¼ = 3/4", r"\tfrac{1}{2} + \tfrac{1}{4} = \frac{3}{4}")

    def test_a_slash_between_spaces_divides_products(self):
        self.gives("y = exp(−c) exp(x_j) / Σ_k exp(x_k)",
                   r"y = \frac{\exp(- c) \exp(x_j)}{\sum_k \exp(x_k)}")
        self.gives("dx ≈ (L(x + h) − L(x − h)) / 2h", r"dx \approx \frac{L(x + h) - L(x - h)}{2h}")
        self.gives("(8, 12) / 1.6 = (5, 7.5)", r"\frac{(8, 12)}{1.6} = (5, 7.5)")
        self.gives("N / 64 · 2 + about (W + 1) / 64 tiles",
                   r"\frac{N}{64} \cdot 2 + \text{about } \frac{W + 1}{64} \text{ tiles}")

    def test_a_slash_stays_beside_words_in_exponents_and_where_it_is_rounded(self):
        self.gives("kv_head = head / (H / H_kv), rounded down",
                   r"\texttt{kv_head} = \text{head} \mathbin{/} (H / H_{kv}) \text{, rounded down}")
        self.gives("2 + 2 ⌈N / 128⌉ = ⌊N/T⌋", r"2 + 2 \, \lceil N / 128\rceil = \lfloor N / T\rfloor")
        self.gives("a = e^(b / 2)", "a = e^{b / 2}")

    def test_brackets_are_as_tall_as_what_they_hold(self):
        self.gives("p · (q + 1)", r"p \cdot (q + 1)")
        self.gives("p · (q − Σ_k P_k)", r"p \cdot \Bigl(q - \sum_k P_k \Bigr)")
        self.gives("p · (q − 1/l)", r"p \cdot \left(q - \frac{1}{l} \right)")

    def test_intervals_and_braces(self):
        self.gives("[begin, end) = [f, l + 1)", r"[\text{begin, end}) = [f, l + 1)")
        self.gives("f({a, b}, 2)[k % 4] < 3", r"f(\{a, b\}, 2)[k \mathbin{\%} 4] < 3")

    def test_numbers(self):
        self.gives("4,216 + 239 = 4,455", "4{,}216 + 239 = 4{,}455")
        self.gives("(0.5, −1) = (1, 6.25)", "(0.5, - 1) = (1, 6.25)")
        self.gives("12n bytes = 20 N²", r"12n \text{ bytes} = 20 \, N^2")
        self.gives("a ≈ 3.35 TB/s · 2", r"a \approx 3.35 \text{ TB/s} \cdot 2")
        self.gives("e^(−∞) = 0", r"e^{- \infty} = 0")

    def test_statements_in_a_line_are_set_apart(self):
        self.gives("m = 1, l = 2", r"m = 1, \quad l = 2")
        self.gives("a ← b ⊕ c,&ensp;so&ensp;d = 0", r"a \gets b \oplus c, \quad \text{so} \quad d = 0")
        self.gives("K and V: 8 · D &nbsp;&nbsp;&nbsp; Q: 4 · D",
                   r"K \text{ and } V \colon\; 8 \cdot D \qquad Q \colon\; 4 \cdot D")
        self.gives("h = g, ..., g + 1", r"h = g, \ldots, g + 1")
        self.gives("f = 0; if x > m, then l = f, else l = 1",
                   r"f = 0; \quad \text{if } x > m \text{, then } l = f \text{, else } l = 1")


class Rows(unittest.TestCase):
    """Formulas with more than one row."""

    def gives(self, line: str, *rows: str) -> None:
        with self.subTest(line):
            self.assertEqual(to_tex(line), "\n".join([r"\begin{aligned}", *rows, r"\end{aligned}"]))

    def test_a_chain_of_equations_that_is_too_wide_is_broken_before_its_relations(self):
        self.gives("Σ_j P_ij = Σ_j P_ij · Z_ij · Σ_d dO_id · V_jd = Σ_d dO_id · Σ_j P_ij · Z_ij · V_jd = Σ_d O_id",
                   r"\sum_j P_{ij} & = \sum_j P_{ij} \cdot Z_{ij} \cdot \sum_d dO_{id} \cdot V_{jd} \\",
                   r"& = \sum_d dO_{id} \cdot \sum_j P_{ij} \cdot Z_{ij} \cdot V_{jd} \\",
                   r"& = \sum_d O_{id}")

    def test_statements_that_do_not_fit_beside_each_other_are_aligned(self):
        self.gives("row = query · group + member,  query = row / group,  head = first head of the group + row % group",
                   r"\text{row} & = \text{query} \cdot \text{group} + \text{member}, \\",
                   r"\text{query} & = \text{row} \mathbin{/} \text{group}, \\",
                   r"\text{head} & = \text{first head of the group} \\",
                   r"& \quad {} + \text{row} \mathbin{\%} \text{group}")
        self.gives("S = Q·Kᵀ·scale,  P = softmax(S),  O = P·V",
                   r"S & = Q \cdot K^{\mathsf{T}} \cdot \text{scale}, \\",
                   r"P & = \operatorname{softmax}(S), \\",
                   r"O & = P \cdot V")

    def test_labels_are_aligned_at_their_colons(self):
        self.gives("K and V: 8 · H_kv · N_k · D &nbsp; Q and dO: 16 · H · N_q · D · T &nbsp; "
                   "dK and dV: 8 · H_kv · N_k · D",
                   r"K \text{ and } V \colon\; & 8 \cdot H_{kv} \cdot N_k \cdot D \\",
                   r"Q \text{ and } dO \colon\; & 16 \cdot H \cdot N_q \cdot D \cdot T \\",
                   r"dK \text{ and } dV \colon\; & 8 \cdot H_{kv} \cdot N_k \cdot D")

    def test_a_statement_with_a_wide_left_side_is_broken_before_its_relations(self):
        self.gives("l · e^(m − m′) + e^(x_j − m′) = Σ_{k<j} e^(x_k − m) · e^(m − m′) + e^(x_j − m′) "
                   "= Σ_{k≤j} e^(x_k − m′)",
                   r"& l \cdot e^{m - m'} + e^{x_j - m'} \\",
                   r"& \quad = \sum_{k < j} e^{x_k - m} \cdot e^{m - m'} + e^{x_j - m'} \\",
                   r"& \quad = \sum_{k \le j} e^{x_k - m'}")

    def test_a_sum_that_is_too_wide_is_broken_between_its_terms(self):
        self.gives("index = blockIdx.x · blockDim.x + threadIdx.x",
                   r"\text{index} & = \texttt{blockIdx.x} \cdot \texttt{blockDim.x} \\",
                   r"& \quad {} + \texttt{threadIdx.x}")

    def test_a_product_that_is_too_wide_is_broken_before_the_words_at_its_end(self):
        self.gives("about 4 · 2 · D · (W + 128) · ⌈N / 128⌉ bytes of K and V",
                   r"& \text{about } 4 \cdot 2 \cdot D \cdot (W + 128) \cdot \lceil N / 128\rceil \\",
                   r"& \quad \text{bytes of } K \text{ and } V")

    def test_what_follows_from_a_labelled_statement_is_set_in_below_it(self):
        self.gives("P = softmax(S):&ensp;dS = P ∘ (dP − rowsum(P ∘ dP)),&ensp;dQ = dS·K·scale",
                   r"& P = \operatorname{softmax}(S) \colon\; \\",
                   r"& \quad dS = P \circ (dP - \operatorname{rowsum}(P \circ dP)), \\",
                   r"& \quad dQ = dS \cdot K \cdot \text{scale}")

    def test_a_long_remark_has_rows_of_its_own(self):
        self.gives("T = 2 · N / 64,&ensp;and that many tiles more for sinks",
                   r"T & = 2 \cdot \frac{N}{64}, \\",
                   r"& \quad \text{and that many tiles more for sinks}")
        self.gives("O = P·V   (N_q × D: for each query the mean of the values, weighted by its row of P)",
                   r"O & = P \cdot V \\",
                   r"& \quad ( N_q \times D \text{: for each query the mean of} \\",
                   r"& \quad \text{the values, weighted by its row of } P )")

    def test_a_remark_that_does_not_fit_is_set_in_below(self):
        self.gives("4 · rows · cols · (2 + 1) bytes, where safe softmax moves 4 · rows · cols · (3 + 1)",
                   r"& 4 \cdot \text{rows} \cdot \text{cols} \cdot (2 + 1) \text{ bytes}, \\",
                   r"& \quad \text{where safe softmax} \\",
                   r"& \quad \text{moves } 4 \cdot \text{rows} \cdot \text{cols} \cdot (3 + 1)")
        self.gives("dsink = −Σ_i P_i · delta_i,&ensp;because all rows of all batches have the same number there.",
                   r"d\text{sink} & = - \sum_i P_i \cdot \text{delta}_i, \\",
                   r"& \quad \text{because all rows of all batches} \\",
                   r"& \quad \text{have the same number there}.")


class Prose(unittest.TestCase):
    def is_prose(self, line: str) -> None:
        with self.subTest(line):
            self.assertIsNone(to_tex(line))

    def test_code_and_other_markup(self):
        self.is_prose("`__shfl_xor_sync(mask, value, bit)`: in lane L, what lane L + bit passes")
        self.is_prose("**Note**: x = 1")
        self.is_prose("see [the lesson](README.md), x = 1")

    def test_no_operator(self):
        self.is_prose("a race is two accesses of which one writes")

    def test_a_sentence_ends_before_the_first_relation(self):
        self.is_prose("S: written once, read twice. Together 5 · 4 · N² = 20 N² bytes.")
        self.is_prose("K and V: read once. Together 4 · 2 · N_k · D bytes.")

    def test_many_words_before_the_first_operator(self):
        self.is_prose("every thread of the block reads the same row, and then i = 0")

    def test_words_after_the_first_relation_do_not_make_prose(self):
        self.assertIsNotNone(to_tex("S = 0, where S is the row sum of P. The column adds nothing at all to that sum."))


class Errors(unittest.TestCase):
    def fails(self, line: str, words: str) -> None:
        with self.subTest(line), self.assertRaises(FormulaError) as error:
            to_tex(line)
        self.assertIn(words, str(error.exception))
        self.assertIn(line, str(error.exception))

    def test_a_character_without_meaning_is_named(self):
        self.fails("a = b § c", "'§' (U+00A7) has no meaning in a formula")
        self.fails("a = b - c", "minus is − (U+2212)")

    def test_brackets_match(self):
        self.fails("a = (b + c", "'(' is closed by 'the end'")
        self.fails("a = b + c)", "')' closes nothing")
        self.fails("a = ⌈b + c⌋", "'⌈' is closed by '⌋'")

    def test_operands_are_there(self):
        self.fails("a = / b", "nothing stands before '/'")
        self.fails("a = b / = c", "'=' stands where an operand should be")
        self.fails("a = e^+", "'+' cannot be an exponent")
        self.fails("a = ′", "'′' stands where an operand should be")


class Pages(unittest.TestCase):
    def gives(self, page: list[str], expected: list[str]) -> None:
        self.assertEqual(typeset("\n".join(page)), "\n".join(expected))

    def test_a_formula_becomes_a_display_formula(self):
        self.gives(["So", "", "> m ← m_new", "", "and on."],
                   ["So", "", r"\f[", r"m \gets m_{\text{new}}", r"\f]", "", "and on."])

    def test_formulas_of_one_quote_are_aligned(self):
        self.gives(["> m = max s", ">", "> l = 1", ">", "> = 2"],
                   [r"\f[", r"\begin{aligned}", r"m & = \max s \\[0.4em]", r"l & = 1 \\[0.4em]", "& = 2",
                    r"\end{aligned}", r"\f]"])

    def test_lines_without_an_empty_one_between_them_are_one_formula(self):
        self.gives(["> a = b +", "> c"], [r"\f[", "a = b + c", r"\f]"])

    def test_prose_stays_a_quote(self):
        page = ["> `f(x)`: x + 1,", "> in lane 2", ">", "> Read once. Written once, so 1 + 1 = 2."]
        self.gives(page, page)

    def test_a_quote_may_have_both(self):
        self.gives(["> `x`: a word", ">", "> x = 1", ">", "> `y`: another"],
                   ["> `x`: a word", "", r"\f[", "x = 1", r"\f]", "", "> `y`: another"])

    def test_code_blocks_stay(self):
        page = ["```", "> a = b", "```", "", "~~~~", "~~~", "> a - b", "~~~~"]
        self.gives(page + ["> a = b"], page + [r"\f[", "a = b", r"\f]"])

    def test_originals_are_the_text_of_each_display_formula(self):
        page = ["> a = b +", "> c", ">", "> x = 1,&ensp;so&ensp;y = 2 &nbsp; z = 3", "",
                "> `x`: a word", ">", "> d = e", "```", "> f = g", "```"]
        self.assertEqual(originals("\n".join(page)), ["a = b + c\nx = 1, so y = 2   z = 3", "d = e"])

    def test_all_pages(self):
        formulas = 0
        for path in sorted([*ROOT.glob("lessons/*/README.md"), *ROOT.glob("docs/*.md")]):
            text = path.read_text(encoding="utf-8")
            page = typeset(text)
            self.assertEqual(len(originals(text)), page.count("\\f["), path)
            for tex in re.findall(r"^\\f\[\n(.*?)\n\\f\]$", page, re.DOTALL | re.MULTILINE):
                formulas += 1
                with self.subTest(f"{path.relative_to(ROOT)}: {tex}"):
                    self.assertTrue(tex.isascii(), set(filter(lambda sign: not sign.isascii(), tex)))
                    self.check_balance(tex)
                    for line in tex.split("\n"):  # what Doxygen would read as a list, a heading or a quote
                        self.assertNotRegex(line, r"^(\s*$|[-+*#>|]|=+$|-+$|\d+\. )")
        self.assertGreater(formulas, 0)

    def check_balance(self, tex: str) -> None:
        depth = 0
        for brace in re.findall(r"(?<!\\)[{}]", tex):
            depth += 1 if brace == "{" else -1
            self.assertGreaterEqual(depth, 0)
        self.assertEqual(depth, 0)
        pairs = [(r"\left", r"\right"), (r"\Bigl", r"\Bigr"), (r"\lceil", r"\rceil"), (r"\lfloor", r"\rfloor"),
                 (r"\lvert", r"\rvert"), (r"\begin{aligned}", r"\end{aligned}"), (r"\{", r"\}")]
        for opening, closing in pairs:
            ends = r"(?![A-Za-z])"
            self.assertEqual(*(len(re.findall(re.escape(name) + ends, tex)) for name in (opening, closing)), opening)


if __name__ == "__main__":
    unittest.main()
