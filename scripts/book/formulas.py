"""Turns the formulas of the notes into TeX.

On a code host the notes show a display formula as a quote in Unicode, which needs no renderer:

    > l ← e^(m − m_new) · l + Σ e^(s′ − m_new)

The site shows the same line typeset. `typeset` replaces such quotes in a page by Doxygen's display formulas; `to_tex`
converts one formula, here to

    l \\gets e^{m - m_{\\text{new}}} \\cdot l + \\sum e^{s' - m_{\\text{new}}}

A line goes through three steps. `tokens` cuts it into tokens. `Parser` reads them by recursive descent and gives a flat
list of items: the operators, relations, punctuation and gaps outside of all brackets, and between them the operands.
`layout` joins the items, or breaks them into the rows of an aligned environment if they are too wide for one.

`originals` gives the Unicode text of each display formula, for readers without scripts and for the search.

The notation, as far as it is not plain mathematics:

- A letter is a variable, and so is d before a letter, as in dO. Several letters are a word, or with an underscore or a
  dot a name in code: kv_head, blockIdx.x.
- An underscore begins a subscript if one of SUBSCRIPTED stands before it and a SUBSCRIPT after it: m_new, dP_ij, lse_i.
  All other names with underscores are names in code, also x_row_stride and BLOCK_M.
- e^(...) raises to what is in the brackets. Minus is −, not the hyphen, which may only stand within a word.
- a/b without spaces is a fraction of the operands beside it, a / b one of the products without an operator beside it.
  With words, as in TB/s or row / group, and inside ⌈ ⌉, ⌊ ⌋ and exponents, the slash stays.
- &ensp;, &nbsp; or two spaces separate statements, as does a comma before a word or before the next equation.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby, takewhile

# The unit of widths is half an em, about a character. A row wider than this is broken, so that most fit on a phone.
WIDEST_ROW = 40
# A remark wider than this has a row of its own.
WIDEST_REMARK = 25
# A line with more words than this before its first operator is prose.
MOST_WORDS = 8


class FormulaError(Exception):
    """A formula that cannot be read; the message names the place and the line."""


# ---- Tokens ----------------------------------------------------------------------------------------------------------

RELATIONS = {"=": "=", "≤": r"\le", "≥": r"\ge", "<": "<", ">": ">", "≈": r"\approx", "≠": r"\ne",
             "∈": r"\in", "←": r"\gets", "→": r"\to", "⇒": r"\Rightarrow"}
OPERATORS = {"+": "+", "−": "-", "·": r"\cdot", "×": r"\times", "∘": r"\circ", "⊕": r"\oplus", "±": r"\pm"}
SIGNS = {"∞": r"\infty", "...": r"\ldots", "…": r"\ldots", "½": r"\tfrac{1}{2}", "¼": r"\tfrac{1}{4}",
         "¾": r"\tfrac{3}{4}", "α": r"\alpha", "β": r"\beta", "γ": r"\gamma", "δ": r"\delta", "ε": r"\varepsilon",
         "λ": r"\lambda", "μ": r"\mu", "π": r"\pi", "σ": r"\sigma", "τ": r"\tau"}
CLOSERS = {"(": ")]", "[": "])", "{": "}", "⌈": "⌉", "⌊": "⌋", "|": "|"}  # [begin, end) is an interval
DELIMITERS = {"{": r"\{", "}": r"\}", "⌈": r"\lceil ", "⌉": r"\rceil", "⌊": r"\lfloor ", "⌋": r"\rfloor"}
COLON = r"\colon\;"

FUNCTIONS = {"exp", "log", "ln", "max", "min"}
# TeX itself sets off what begins with one of these.
SET_OFF = (r"\sum", r"\operatorname", *("\\" + name for name in FUNCTIONS))
NAMES = {"Nq": "N_q", "Nk": "N_k", "dsink": r"d\text{sink}"}
SUBSCRIPT_WORDS = {"new", "old", "max", "min"}
# Which names with an underscore are variables with a subscript: regular expressions of what is before it and after it.
SUBSCRIPTED = r"(?:[A-Za-z]|d[A-Z]|d?sink|delta|lse)"
SUBSCRIPT = rf"(?:{'|'.join(sorted(SUBSCRIPT_WORDS))}|[A-Za-z0-9]{{1,2}})(?![A-Za-z0-9_])"
# A part of a line that begins with one of these is a remark on what stands before it.
REMARK_WORDS = {"against", "and", "because", "else", "for", "if", "over", "so", "then", "where", "which", "with"}

DIGITS = "0123456789"
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", DIGITS + "-")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", DIGITS)


def one_of(signs) -> str:
    """A regular expression for any of the signs."""
    return "|".join(map(re.escape, signs))


TOKEN = re.compile(rf"""
    (?P<gap>       \s* (?: (?: &nbsp; | &ensp; ) \s* )+ | \s{{2,}} )
  | (?P<space>     \s )
  | (?P<hex>       0x[0-9A-Fa-f]+ )
  | (?P<number>    \d+ (?: ,\d{{3}} )* (?: \.\d+ )? )
  | (?P<code>      [A-Za-z]+\.[xyz]\b | (?! {SUBSCRIPTED}_{SUBSCRIPT} ) [A-Za-z]+ (?: _[A-Za-z0-9]+ )+ )
  | (?P<word>      [A-Z]{{2,}}/s\b | [A-Za-z]+ (?: ['’-][A-Za-z]+ )* )
  | (?P<sign>      {one_of(SIGNS)} )
  | (?P<relation>  {one_of(RELATIONS)} )
  | (?P<operator>  {one_of([*OPERATORS, "%"])} )
  | (?P<sub>       _ (?: \{{[^}}]*\}} | [A-Za-z0-9]+ ) | [₀-₉]+ )
  | (?P<sup>       ᵀ | [⁰¹²³⁴-⁹⁻]+ )
  | (?P<prime>     ′+ )
  | (?P<power>     \^ )
  | (?P<slash>     / )
  | (?P<sum>       Σ )
  | (?P<prefix>    [∂√] )
  | (?P<punct>     [,;:.] )
  | (?P<opening>   [(\[{{⌈⌊|] )
  | (?P<closing>   [)\]}}⌉⌋] )
""", re.VERBOSE)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    spaced: bool = False  # a space stands before it


def tokens(line: str) -> list[Token]:
    """The tokens of a line. A variable, as against a word, has the kind "name"."""
    found, at, spaced = [], 0, False
    while at < len(line):
        match = TOKEN.match(line, at)
        if not match:
            hint = "; minus is − (U+2212)" if line[at] == "-" else ""
            raise FormulaError(f"{line[at]!r} (U+{ord(line[at]):04X}) has no meaning in a formula{hint}: {line}")
        if match.lastgroup != "space":
            found.append(Token(match.lastgroup, match.group(), spaced))
        spaced, at = match.lastgroup == "space", match.end()
    found.append(Token("end", "the end"))
    for i, (token, after) in enumerate(zip(found, found[1:])):
        article = token.text == "a" and after.kind == "word" and len(after.text) > 1 and after.text not in FUNCTIONS
        letters = 2 if token.text[0] == "d" and token.text != "do" else 1
        if token.kind == "word" and (token.text in NAMES or len(token.text) <= letters) and not article:
            found[i] = Token("name", token.text, token.spaced)
    return found


# ---- Items -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Item:
    """A piece of TeX. Its kind decides what goes between it and its neighbours."""

    kind: str  # operand, word, function, sum, slash, operator, relation, punct or gap
    tex: str
    width: float = 1
    spaced: bool = False
    tall: int = 0  # 1: has a sum, 2: has a fraction
    inner: str | None = None  # of an operand in brackets: what is in them
    within: tuple["Item", ...] = ()  # of an operand in brackets: them and what is in them


def script(mark: str, tex: str) -> str:
    """A subscript or superscript, in braces if it needs them."""
    return mark + (tex if len(tex) == 1 else "{" + tex + "}")


def phrases(items: list[Item]) -> list[Item]:
    """The items, with neighbouring words, and the punctuation before a word, as one."""
    merged = []
    for item, after in zip(items, [*items[1:], None]):
        mark = item.kind == "punct" and after and after.kind == "word"
        if mark or item.kind == "word":
            text = item.tex.replace(COLON, ":")
            if merged and merged[-1].kind == "word":
                text = merged.pop().tex + ("" if mark else " ") + text
            item = Item("word", text)
        merged.append(item)
    return merged


def join(items: list[Item]) -> str:
    """The TeX of items that stand in a row, with the spaces between them."""
    tex, merged = "", phrases(items)
    beside = {"operand", "function", "sum"}  # a word needs a space before and after these
    for before, item, after in zip([None, *merged], merged, [*merged[1:], None]):
        previous, part = before.kind if before else "", item.tex
        if item.kind == "word":
            space = " " if previous in beside and part[0] not in ",;:." else ""
            part = r"\text{" + space + part + (" " if after and after.kind in beside else "") + "}"
        elif part.startswith(SET_OFF):
            part = r"\!" * (previous == "word") + part
        elif item.kind == "operand":
            open_after = {"sum": ("(", r"\lvert"), "function": (r"\lvert",)}.get(previous)
            thin = (previous == "operand" and item.spaced) or (open_after and part.startswith(open_after))
            part = r"\, " * bool(thin) + part
        tex += " " * bool(tex and part not in (",", ";", ".")) + part
    return tex


def width_of(items: list[Item]) -> float:
    """About how wide a row is, in halves of an em."""
    return sum(item.width + (item.kind == "word") for item in items)


# The kinds of tokens that stand between operands.
OUTSIDE = ("relation", "operator", "punct", "gap")


class Parser:
    """Reads the tokens of one line.

        sequence  = { operand | operand "/" operand | operator | relation | punctuation | gap }
        operand   = primary { subscript | superscript | prime | index | arguments }
        primary   = number | name | words | function | "Σ" | "∂" operand | "(" sequence ")" | "|" sequence "|" | ...
    """

    def __init__(self, line: str):
        self.line, self.tokens, self.at = line, tokens(line), 0
        self.inline = 0  # above 0, a slash is no fraction

    @property
    def next(self) -> Token:
        return self.tokens[self.at]

    def take(self) -> Token:
        self.at += 1
        return self.tokens[self.at - 1]

    def line_items(self) -> list[Item]:
        """The items of the whole line."""
        items = self.sequence("")
        if self.next.kind != "end":
            raise FormulaError(f"{self.next.text!r} closes nothing: {self.line}")
        return items

    def sequence(self, closers: str) -> list[Item]:
        """Items up to a closing delimiter, which is left."""
        items = []
        while self.next.kind not in ("end", "closing") and not (self.next.text == "|" and "|" in closers):
            kind, text = self.next.kind, self.next.text
            if kind == "slash":
                self.divide(items)
            elif kind not in OUTSIDE:
                items.append(self.operand())
            else:
                self.take()
                if kind == "relation":
                    items.append(Item(kind, RELATIONS[text], 2.7))
                elif kind == "operator":
                    items.append(Item(kind, OPERATORS.get(text, r"\mathbin{\%}"), 1.5 if text == "·" else 2.4))
                elif kind == "punct":
                    items.append(Item(kind, COLON if text == ":" else text))
                elif closers:
                    items.append(Item(kind, r"\;"))
                else:
                    items.append(Item(kind, r"\qquad", 4) if "&nbsp;" in text else Item(kind, r"\quad", 2))
        return items

    def divide(self, items: list[Item]) -> None:
        """Replaces the numerator at the end of items by the quotient, or adds a slash and the denominator."""
        slash, first = self.take(), len(items)
        while first and items[first - 1].kind in ("operand", "function") and (slash.spaced or first == len(items)):
            first -= 1
        after_word = bool(items) and items[-1].kind == "word"
        if first == len(items) and not after_word:
            raise FormulaError(f"nothing stands before '/': {self.line}")
        self.inline += after_word
        below = [self.operand()]
        while below[0].kind == "sum" and self.next.kind not in ("end", "closing", "slash", *OUTSIDE):
            below.append(self.operand())
        self.inline -= after_word
        if self.inline or after_word or below[0].kind == "word":
            wide = slash.spaced and not self.inline
            items += [Item("slash", r"\mathbin{/}" if wide else "/", 2 if wide else 1), *below]
            return
        above = items[first:]
        top, bottom = (part[0].inner if len(part) == 1 and part[0].inner else join(part) for part in (above, below))
        width = max(width_of(above), width_of(below))
        items[first:] = [Item("operand", rf"\frac{{{top}}}{{{bottom}}}", width, tall=2)]

    def operand(self) -> Item:
        """A primary and all that is attached to it."""
        first, item = self.next, self.primary()
        attached = self.attached(self.at)
        if item.kind == "word" and not attached:
            return item
        if item.kind == "word":
            font = "operatorname" if self.next.text == "(" else "text"
            item = Item("operand", rf"\{font}{{{item.tex}}}", item.width)
        kind, tex, width, tall = item.kind, item.tex, item.width, item.tall
        while self.attached(self.at):
            after = self.next
            if after.kind == "opening":
                if after.text not in "([" or kind == "sum" or first.kind == "number":
                    break
                part = self.group()
                kind, tex, width, tall = "operand", tex + part.tex, width + part.width, max(tall, part.tall)
            elif after.kind == "prime":
                tex, width = tex + "'" * len(self.take().text), width + 0.5
            else:
                part = self.subscript() if after.kind == "sub" else self.superscript()
                tex, width = tex + script("_" if after.kind == "sub" else "^", part.tex), width + 0.7 * part.width
        return item if not attached else Item(kind, tex, width, first.spaced, tall)

    def attached(self, at: int) -> bool:
        """Whether the token there belongs to what stands before it: a script, an index or arguments."""
        token = self.tokens[at]
        return token.kind in ("sub", "sup", "power", "prime", "opening") and token.text != "|" and not token.spaced

    def primary(self) -> Item:
        """What stands alone, without scripts, indices and arguments."""
        if self.next.kind == "opening":
            return self.group()
        token = self.take()
        kind, text = token.kind, token.text
        if kind == "word" and text in FUNCTIONS:
            return Item("function", "\\" + text, len(text) + 0.5)
        if kind == "word":
            while self.next.kind == "word" and self.next.text not in FUNCTIONS and not self.attached(self.at + 1):
                text += " " + self.take().text
            return Item("word", text, len(text))
        if kind in ("hex", "code"):
            return Item("operand", rf"\texttt{{{text}}}", len(text))
        if kind == "number":
            number = Item("operand", text.replace(",", "{,}"), len(text))
            if self.next.kind != "name" or self.next.spaced:
                return number
            factor = self.operand()  # 2h is one operand
            return Item("operand", number.tex + factor.tex, number.width + factor.width)
        if kind == "prefix":
            of = self.operand()
            tex = rf"\partial {of.tex}" if text == "∂" else rf"\sqrt{{{of.inner or of.tex}}}"
            return Item("operand", tex, of.width + 1.2)
        if kind == "name":
            return Item("operand", NAMES.get(text, text), len(text) + 0.2)
        if kind == "sign":
            return Item("operand", SIGNS[text], 1.5)
        if kind == "sum":
            return Item("sum", r"\sum", 3, tall=1)
        raise FormulaError(f"{text!r} stands where an operand should be: {self.line}")

    def group(self) -> Item:
        """An expression in brackets, which are as tall as it is."""
        opening = self.take()
        rounds = opening.text in "⌈⌊"
        self.inline += rounds
        items = self.sequence(CLOSERS[opening.text])
        self.inline -= rounds
        closing = self.take()
        if closing.text not in CLOSERS[opening.text]:
            raise FormulaError(f"{opening.text!r} is closed by {closing.text!r}: {self.line}")
        left, right = (r"\lvert ", r"\rvert") if opening.text == "|" else (
            DELIMITERS.get(delimiter.text, delimiter.text) for delimiter in (opening, closing))
        tall, inner = max([0, *(item.tall for item in items)]), join(items)
        sizes = [("", ""), (r"\Bigl", r"\Bigr"), (r"\left", r"\right")][tall]
        tex = f"{sizes[0]}{left}{inner}{' ' * bool(tall)}{sizes[1]}{right}"
        droppable = opening.text == "(" and all(item.kind != "punct" for item in items)
        within = (Item("opening", left, 0.8), *items, Item("closing", right, 0.8))
        return Item("operand", tex, width_of(items) + 1.6, opening.spaced, tall, inner if droppable else None, within)

    def subscript(self) -> Item:
        """A subscript: letters, a word, digits, or an expression in braces."""
        text = self.take().text.lstrip("_").translate(LOWERED)
        if text.startswith("{"):
            items = Parser(text[1:-1]).line_items()
            return Item("operand", join(items), width_of(items))
        return Item("operand", rf"\text{{{text}}}" if text in SUBSCRIPT_WORDS else text, len(text))

    def superscript(self) -> Item:
        """Raised digits, a transposition, or after ^ one operand, perhaps with a sign."""
        token = self.take()
        if token.text == "ᵀ":
            return Item("operand", r"\mathsf{T}")
        if token.kind == "sup":
            return Item("operand", token.text.translate(RAISED), len(token.text))
        sign = "-" if self.next.text == "−" and self.take() else ""
        if self.next.text != "(" and self.next.kind not in ("word", "name", "number", "hex", "sign"):
            raise FormulaError(f"{self.next.text!r} cannot be an exponent: {self.line}")
        self.inline += 1
        of = self.group() if self.next.text == "(" else self.operand()
        self.inline -= 1
        tex = rf"\text{{{of.tex}}}" if of.kind == "word" else of.inner if of.inner and not sign else of.tex
        return Item("operand", sign + tex, of.width + len(sign))


# ---- Rows ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A part of a line that may get a row of its own."""

    gap: Item | None  # what separates it from the part before it; None if punctuation does
    items: list[Item]
    place: str = ""  # "label" or "labelled" in a line such as "O = A·V:  dV = Aᵀ·dO", where a gap follows the colon

    @property
    def kind(self) -> str:
        """A remark on what stands before it; or a statement, which has a place to align it at; or another phrase; or,
        in a line with a label, its place."""
        first = self.items[0]
        if self.place:
            return self.place
        if not self.gap or (first.kind == "word" and first.tex.split()[0] in REMARK_WORDS):
            return "remark"
        return "phrase" if align_at(self.items) is None else "statement"

    @property
    def long(self) -> bool:
        return self.kind in ("remark", "phrase") and width_of(self.items) > WIDEST_REMARK


@dataclass(frozen=True)
class Row:
    """The items of one row, and the kind of the part that begins it; "rest" goes on with the row before."""

    items: list[Item]
    kind: str = "statement"

    @property
    def fits(self) -> bool:
        set_in = 8 if self.items[0].kind == "relation" else 0 if self.kind in ("statement", "label") else 2
        return set_in + width_of(self.items) <= WIDEST_ROW


def align_at(items: list[Item]) -> int | None:
    """Where a row is aligned: before its first relation, or after the colon of a label such as "K and V:"."""
    for i, item in enumerate(items):
        if item.kind == "relation":
            return i
        if item.tex == COLON and i + 1 < len(items) and items[i + 1].kind != "word":
            return i + 1
    return None


def parts_of(items: list[Item]) -> list[Part]:
    """Cuts a line at its gaps, and at punctuation before a word or a statement."""
    parts = [Part(None, [])]
    for i, item in enumerate(items):
        current = parts[-1].items
        lone = len(current) == 1 and " " not in current[0].tex  # "so" or "→" stays with what follows
        if item.kind == "gap" and not lone:
            parts.append(Part(item, []))
            continue
        current.append(item)
        ahead = [other.kind for other in takewhile(lambda other: other.kind not in ("punct", "gap"), items[i + 1 :])]
        if item.kind == "punct" and ahead:
            listed = "word" in ahead and any(other.kind == "word" for other in current)
            if ahead[0] == "word" and item.tex != ";":
                parts.append(Part(None, []))
            elif item.tex in ",;" and (ahead[0] == "word" or "relation" in ahead or listed):
                parts.append(Part(Item("gap", r"\quad", 2), []))
    parts = [part for part in parts if part.items]
    label = next((i + 1 for i, part in enumerate(parts[:-1]) if part.items[-1].tex == COLON and parts[i + 1].gap), 0)
    places = ["label" if i < label else "labelled" if label else "" for i in range(len(parts))]
    return [replace(part, place=place) for part, place in zip(parts, places)]


def rows_of(parts: list[Part], begins_row) -> list[Row]:
    """Puts parts into rows: a new one where asked for, for a long remark, and for a part that only punctuation sets off
    and that does not fit."""
    rows = [Row(list(parts[0].items), parts[0].place or "statement")]
    for part in parts[1:]:
        overflows = not part.gap and width_of(rows[-1].items + part.items) > WIDEST_ROW
        if begins_row(part) or part.long or overflows:
            rows.append(Row(list(part.items), part.kind))
        else:
            rows[-1].items.extend([part.gap, *part.items] if part.gap else part.items)
    return sum(map(fold, rows), [])


def fold(row: Row) -> list[Row]:
    """Breaks a remark that is too wide before the word that is nearest to its middle."""
    if row.kind not in ("remark", "phrase") or row.fits:
        return [row]
    items = list(row.items[0].within) if len(row.items) == 1 else row.items
    items = [replace(item, tex=word, width=len(word)) if item.kind == "word" else item
             for item in items for word in (item.tex.split() if item.kind == "word" else [""])]
    half = width_of(items) / 2
    cuts = [(abs(width_of(items[:i]) - half) + (0 if before.kind in ("word", "punct") else 5), i)
            for i, (before, item) in enumerate(zip(items, items[1:]), 1)
            if item.kind == "word" and before.kind in ("word", "punct", "operand")]
    if not cuts:
        return [row]
    at = min(cuts)[1]
    return [Row(items[:at], row.kind), Row(items[at:], "remark")]


def chain(row: Row) -> list[Row]:
    """Breaks a statement that is too wide before each of its relations, but before the first only if that is needed."""
    relations = [i for i, item in enumerate(row.items) if item.kind == "relation"]
    if row.kind != "statement" or row.fits or not relations:
        return [row]
    ends = [*relations[1:], len(row.items)]
    wide = width_of(row.items[: relations[0]]) > WIDEST_ROW / 3 and not Row(row.items[: ends[0]]).fits
    cuts = [0, *relations[:1] * wide, *ends]
    return [Row(row.items[start:end], "rest" if start and wide else "statement") for start, end in zip(cuts, cuts[1:])]


def terms(row: Row) -> list[Row]:
    """Breaks a statement that is too wide once, before a plus or minus, or else before the words at
    its end."""
    if row.kind != "statement" or row.fits:
        return [row]
    items = row.items
    signs = [i for i, item in enumerate(items)
             if item.tex in ("+", "-") and i and items[i - 1].kind in ("operand", "word")]
    words = [i for i, item in enumerate(items)
             if item.kind == "word" and not any(other.kind in ("relation", "operator") for other in items[i:])]
    cuts = [i for i in signs or words[:1]
            if Row(items[:i]).fits and min(width_of(items[:i]), width_of(items[i:])) > 10]
    return [Row(items[: cuts[-1]]), Row(items[cuts[-1] :], "rest")] if cuts else [row]


def layout(lines: list[str]) -> str:
    """The TeX of the formulas of one quote, in as few rows as their widths allow.

    Each has one row, if all fit and have no long remarks. Otherwise remarks after a gap get rows of their own, and what
    a label stands before. If that is not enough, all that stands after a gap does, and statements that are still too
    wide are broken before their relations, and then between their terms.
    """
    formulas = [parts_of(Parser(line).line_items()) for line in lines]
    blocks = [rows_of(parts, lambda part: False) for parts in formulas]
    if not all(len(rows) == 1 and rows[0].fits for rows in blocks):
        blocks = [rows_of(parts, lambda part: part.gap and part.kind != "statement") for parts in formulas]
    if not all(row.fits for rows in blocks for row in rows):
        blocks = [rows_of(parts, lambda part: part.gap) for parts in formulas]
        blocks = [[part for row in rows for link in chain(row) for part in terms(link)] for rows in blocks]
    if len(blocks) == len(blocks[0]) == 1:
        return join(blocks[0][0].items)

    aligned = any(row.kind == "statement" and align_at(row.items) is not None for rows in blocks for row in rows)
    texts = (" \\\\\n".join(row_tex(row, aligned and i > 0) for i, row in enumerate(rows)) for rows in blocks)
    return "\\begin{aligned}\n" + " \\\\[0.4em]\n".join(texts) + "\n\\end{aligned}"


def row_tex(row: Row, set_in: bool) -> str:
    """A row of an aligned environment. If it has no place to be aligned at, it may be set in."""
    at = align_at(row.items) if row.kind == "statement" else None
    if at is None:
        sign = "{} " * (row.kind == "rest" and row.items[0].kind == "operator")  # a sign between terms, not a term's
        return (r"& \quad " if set_in or row.kind in ("remark", "labelled", "rest") else "& ") + sign + join(row.items)
    return f"{join(row.items[:at])} & {join(row.items[at:])}".lstrip()


# ---- Pages -----------------------------------------------------------------------------------------------------------

MARKUP = re.compile(r"[`*@#\\!]|\]\(|^[>+-]|^\d+\. ")
QUOTE = re.compile(r" {0,3}> ?(.*)")
FENCE = re.compile(r" {0,3}(```+|~~~+)(.*)")


def is_prose(line: str) -> bool:
    """Whether a quoted line is text rather than a formula.

    It is text if it has code or other markup, or no operator or relation at all, or more than MOST_WORDS words before
    the first of these, or if a sentence ends before its first relation.
    """
    before_maths, before_relation = [
        re.split(one_of(signs), line, maxsplit=1) for signs in ([*RELATIONS, *OPERATORS], RELATIONS)]
    return bool(
        MARKUP.search(line)
        or len(before_maths) == 1
        or len(re.findall("[A-Za-z]{2,}", before_maths[0])) > MOST_WORDS
        or re.search(r"\. +[A-Z]", before_relation[0]))


def to_tex(line: str) -> str | None:
    """The TeX of a formula, without delimiters, or None if the line is prose.

    Raises FormulaError if the line is a formula with a character or a bracket that cannot be read.
    """
    return None if is_prose(line) else layout([line])


def typeset(markdown: str) -> str:
    """The page with every formula that stands in a quote as a display formula of Doxygen. Formulas that follow one
    another in a quote become one, aligned. Prose stays a quote, and code blocks stay as they are."""
    page = []
    for block in blocks_of(markdown):
        page += ["\\f[", *layout(block.formulas).split("\n"), "\\f]"] if block.formulas else block.lines
    return "\n".join(page)


def originals(markdown: str) -> list[str]:
    """For each display formula that `typeset` makes of the page, in order, the Unicode text that it stands for: a line
    for each formula of the quote, with plain spaces."""
    return ["\n".join(re.sub("&nbsp;|&ensp;", " ", formula) for formula in block.formulas)
            for block in blocks_of(markdown) if block.formulas]


@dataclass(frozen=True)
class Block:
    """Lines of a page, as they are, or formulas that become one display formula."""

    lines: list[str]
    formulas: list[str]


def blocks_of(markdown: str) -> Iterator[Block]:
    """The blocks of a page, in order."""
    fence = ""
    for quoted, group in groupby(markdown.split("\n"), lambda line: bool(QUOTE.fullmatch(line))):
        lines = list(group)
        for mark in filter(None, map(FENCE.fullmatch, [] if quoted else lines)):
            if not fence:
                fence = mark.group(1)
            elif mark.group(1).startswith(fence) and not mark.group(2).strip():
                fence = ""
        if quoted and not fence:
            yield from blocks_of_quote(lines)
        else:
            yield Block(lines, [])


def blocks_of_quote(lines: list[str]) -> Iterator[Block]:
    """The blocks of one quote, with an empty line between them."""
    content = [QUOTE.fullmatch(line).group(1).strip() for line in lines]
    if any(FENCE.fullmatch(line) for line in content):
        yield Block(lines, [])
        return
    paragraphs = []  # each with its lines as they were
    for filled, group in groupby(zip(content, lines), lambda pair: bool(pair[0])):
        if filled:
            texts, quoted = zip(*group)
            paragraphs.append((" ".join(texts), list(quoted)))
    for i, (prose, group) in enumerate(groupby(paragraphs, lambda paragraph: is_prose(paragraph[0]))):
        texts, quotes = zip(*group)
        if i:
            yield Block([""], [])
        if prose:
            yield Block([line for quoted in quotes for line in [">", *quoted]][1:], [])
        else:
            yield Block([], list(texts))
