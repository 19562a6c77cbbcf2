"""Turns the mathematics within the notes' sentences into HTML.

On a code host a sentence has its mathematics in Unicode, with ^ and _ where Unicode has no letter:

    the old sum counts e^(m − m_new) as much, with Σ_{k<j} before 32 × 32

The site shows raised exponents, lowered subscripts, and short products that stay on one line:

    the old sum counts e<sup>m − m<sub>new</sub></sup> as much, with Σ<sub>k&lt;j</sub> before 32 × 32

What an underscore means is decided as in display formulas (see formulas.py). In m_new, x_j, dP_ij, lse_i and H_kv a
subscript follows it: before it stands a letter or one of few names, after it one or two letters or digits, or a word
such as "new". Any other name with an underscore is code and stays: kv_head, q_head, BLOCK_M, x_row_stride,
out_of_bounds, 09_flash2_forward. Code spans, display formulas, HTML tags, comments and addresses are never touched.
"""

import html
import re

from .formulas import SUBSCRIPT, SUBSCRIPTED

PROTECTED = re.compile(r"""
    \0\d+\0                                             # a code span, which the caller has hidden
  | \\f\[ .*? \\f\]                                     # a display formula
  | <!-- .*? -->
  | </? [A-Za-z]\w* (?: \s+ [\w-]+="[^"]*" )* \s* /?>
  | \]\( [^()\s]+ \)                                    # where a link leads
  | https?://[^\s<>]+
  | (?: \A\n* | (?<=\n\n) ) (?: \ {4}[^\n]+ (?:\n+|\Z) )+   # an indented block of code
""", re.VERBOSE | re.DOTALL)
SUB = re.compile(rf"(?<![\w.:/-])({SUBSCRIPTED}|[Σα-ω])_(?:\{{([^{{}}\n]*)\}}|({SUBSCRIPT})(?!\.[A-Za-z]))")
POWER = re.compile(r"(?<=[\w)\]])\^(?:(?=\()|(−?(?:\d+(?:\.\d+)?|[A-Za-z]+)))")
EMPHASIS = re.compile(r"(?<![*\w])(\*\*?)(?![*\s])((?:[^*\n]|\n(?!\s*\n))+)(?<!\s)\1(?![*\w])")
TABLE_ROW = re.compile(r"^(\|.*)$", re.MULTILINE)
OPERATORS = set("=≈≤≥+−·×∘/")
PREFIX = re.compile(r"(?<![\w/])(Σ(?:<sub>[^<]*</sub>)?|log₂?|ln)[ \n](?=\S)")  # belongs to what follows
PAIR = re.compile(r"([(\[][^\s,()\[\]]{1,6},)[ \n](?=[^\s,()\[\]]{1,6}[)\]])")
# A line does not break beside an operator between operands that are at most that wide, as long as all that is joined so
# is at most as wide as JOINED; nor within an exponent of that width. The unit is about a character.
OPERAND = 6
JOINED = 18
JOINED_IN_CELL = 12
NO_BREAK = "\u00a0"


def typeset_inline(text: str) -> str:
    """The text, which is Markdown without code blocks and headings and with its code spans hidden as "\\0n\\0"."""
    hidden = []

    def hide(match: re.Match) -> str:
        hidden.append(match.group())
        return f"\1{len(hidden) - 1}\1"

    shown = EMPHASIS.sub(emphasise, lower(raise_exponents(PROTECTED.sub(hide, text))))
    stretches = TABLE_ROW.split(shown)  # every second one is a row of a table
    shown = "".join(join_operands(part, JOINED_IN_CELL if i % 2 else JOINED) for i, part in enumerate(stretches))
    return re.sub("\1(\\d+)\1", lambda match: hidden[int(match.group(1))], shown)


def lower(text: str) -> str:
    """The text with its subscripts as HTML."""
    return SUB.sub(lambda match: f"{match[1]}<sub>{html.escape(match[2] or match[3])}</sub>", text)


def raise_exponents(text: str) -> str:
    """The text with its exponents as HTML, and without the brackets around them."""
    done, at = "", 0
    for match in POWER.finditer(text):
        if match.start() < at:
            continue  # within an exponent
        end = match.end() if match[1] else closing(text, match.end()) + 1
        if not end:
            continue
        exponent = match[1] or " ".join(raise_exponents(text[match.end() + 1 : end - 1]).split())
        if width(exponent) <= JOINED:
            exponent = exponent.replace(" ", NO_BREAK)
        done += f"{text[at:match.start()]}<sup>{exponent}</sup>"
        at = end
    return done + text[at:]


def closing(text: str, opening: int) -> int:
    """Where the bracket that opens there is closed, in the same paragraph; -1 if it is not."""
    depth = 0
    for match in re.compile(r"[()]|\n\s*\n").finditer(text, opening):
        depth += {"(": 1, ")": -1}.get(match.group(), 0)
        if match.group().isspace():
            return -1
        if depth == 0:
            return match.start()
    return -1


def emphasise(match: re.Match) -> str:
    """Emphasis with a subscript or exponent in it as HTML: for Doxygen, the end of any tag would end it."""
    tag = "b" if match[1] == "**" else "em"
    return f"<{tag}>{match[2]}</{tag}>" if "</su" in match[2] else match[0]


def width(text: str) -> float:
    """About how wide the text is, in characters. Small letters count half."""
    def length(part: str) -> int:
        return len(html.unescape(re.sub(r"</?\w+>", "", part)))

    return length(text) - sum(length(small.group()) for small in re.finditer(r"<(su[bp])>.*?</\1>", text)) / 2


def join_operands(text: str, widest: int) -> str:
    """The text with no-break spaces around operators between short operands and in short pairs."""
    pieces = re.split(r"([ \n]+)", PAIR.sub(rf"\1{NO_BREAK}", PREFIX.sub(rf"\1{NO_BREAK}", text)))
    words, gaps = pieces[::2], pieces[1::2]
    joined = [width(word) for word in words]  # how wide all is that a line cannot break, up to the end of each word

    def short(i: int) -> bool:
        return bool(re.search(r"[\w∞½¼¾]", words[i])) and "\1" not in words[i] and "\0" not in words[i] and (
            width(words[i].strip("()[]*.,;:")) <= OPERAND)

    for i in range(1, len(words) - 1):
        binary = words[i] in OPERATORS and short(i - 1) and short(i + 1) and words[i - 1][-1] not in ",;:."
        one_paragraph = all(gap.count("\n") < 2 for gap in gaps[i - 1 : i + 1])
        if binary and one_paragraph and joined[i - 1] + 3 + joined[i + 1] <= widest:
            gaps[i - 1] = gaps[i] = NO_BREAK
            joined[i + 1] += joined[i - 1] + 3
    return "".join(word + gap for word, gap in zip(words, [*gaps, ""]))
