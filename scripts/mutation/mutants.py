"""The mutants of a kernel: the same source with one place changed.

Changed is the code of functions and the values of constants. Comments, texts, the words of an exception,
static_assert, includes and declarations stay as they are.
"""

import collections
import dataclasses
import re

# ---- tokens ----

TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*|/\*.*?\*/)
      | (?P<directive>\#(?:[^\n\\]|\\.)*)
      | (?P<text>(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)')
      | (?P<number>\.?\d(?:[eEpP][+-]|'?[\w.])*)
      | (?P<name>[A-Za-z_]\w*)
      | (?P<sign><<<|>>>|<=>|->\*|<<=|>>=|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|.)""",
    re.VERBOSE | re.DOTALL,
)
OPENING, CLOSING = {"(": ")", "[": "]", "{": "}", "<<<": ">>>"}, {")", "]", "}", ">>>"}


@dataclasses.dataclass
class Token:
    kind: str
    text: str
    start: int
    end: int
    partner: int = -1  # index of the bracket that closes or opens this one
    where: str = ""  # the function or constant that it is part of; "" if it stays as it is


def tokens_of(source):
    tokens = [Token(m.lastgroup, m[0], m.start(), m.end()) for m in TOKEN.finditer(source)]
    tokens = [token for token in tokens if token.kind not in ("space", "directive")]
    stack = []
    for i, token in enumerate(tokens):
        if token.text in OPENING:
            stack.append(i)
        elif token.text in CLOSING and stack and OPENING[tokens[stack[-1]].text] == token.text:
            token.partner = stack.pop()
            tokens[token.partner].partner = i
    return tokens


def mark_code(tokens):
    """Sets Token.where between the braces of functions and in the values of constants."""
    i, header = 0, 0
    while i < len(tokens):
        text = tokens[i].text
        words = [token.text for token in tokens[header:i]]
        if text in ";}":
            header = i + 1
        elif text in ("(", "["):
            i = tokens[i].partner
        elif text == "=" and "operator" not in words and "using" not in words:
            end = next(j for j in range(i, len(tokens)) if tokens[j].text == ";")
            name = next((t.text for t in reversed(tokens[header:i]) if t.kind == "name"), "")
            if tokens[i + 1].text not in ("delete", "default") and "(" not in words:
                mark(tokens[i + 1 : end], name)
            i, header = end, end + 1
        elif text == "{":
            if "(" in words and "enum" not in words:
                mark(tokens[i + 1 : tokens[i].partner], function_name(tokens[header:i]))
                i = tokens[i].partner
            header = i + 1
        i += 1
    for i, token in enumerate(tokens):  # what stays as it is
        if token.text in ("static_assert", "throw"):
            end = next(j for j in range(i, len(tokens)) if tokens[j].text == ";")
            mark(tokens[i + 1 : end], "")


def mark(tokens, where):
    for token in tokens:
        token.where = where


def function_name(header):
    for token, following in zip(header, header[1:]):
        attributes = ("__launch_bounds__", "alignas", "__align__", "decltype", "noexcept")
        if following.text == "(" and token.kind == "name" and token.text not in attributes:
            return token.text
    return "function"


# ---- mutants ----


@dataclasses.dataclass
class Mutant:
    operator: str
    where: str
    line_number: int
    line: str  # the lines that change, without comments
    becomes: str
    change: str  # "`<` -> `<=`"
    source: str
    verdict: str = ""
    by: str = ""  # for "killed": "run mode", "check mode" or "time limit"; else why
    code: str = ""  # hash of the object file

    @property
    def key(self):
        return self.where, self.line, self.becomes

    def __str__(self):
        return f"L{self.line_number} {self.change}  {self.line}"


RELATIONS = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",)}
ARITHMETIC = {"+": ("-",), "-": ("+",), "*": ("/", "+"), "/": ("*",), "%": ("/", "*"), "<<": (">>",), ">>": ("<<",),
              "&": ("|",), "|": ("&",), "^": ("|",)}  # fmt: skip
ASSIGNMENTS = {"+=": ("=", "-="), "-=": ("=", "+="), "*=": ("=", "/="), "/=": ("*=",), "%=": ("=",), "<<=": (">>=",),
               ">>=": ("<<=",), "|=": ("=",), "&=": ("=",), "^=": ("=",)}  # fmt: skip
FUNCTIONS = [("fmaxf", "fminf"), ("fmax", "fmin"), ("max", "min"), ("expf", "exp2f"), ("__expf", "exp2f"),
             ("logf", "log2f"), ("__shfl_down_sync", "__shfl_up_sync"), ("__shfl_xor_sync", "__shfl_down_sync"),
             ("__any_sync", "__all_sync"), ("sqrtf", "rsqrtf"), ("ceilf", "floorf"),
             ("cudaMemcpyHostToDevice", "cudaMemcpyDeviceToHost")]  # fmt: skip
INDICES = ("threadIdx", "blockIdx", "blockDim", "gridDim")
# Parts of names that are exchanged if the function has a variable of the other name.
COUNTERPARTS = [("row", "col"), ("rows", "cols"), ("x", "y"), ("src", "dst"), ("lane", "warp"), ("first", "last"),
                ("in", "out"), ("a", "b"), ("q", "k"), ("Q", "K"), ("K", "V"), ("m", "n"), ("old", "new"),
                ("max", "sum")]  # fmt: skip
ASSIGNING = {"=", *ASSIGNMENTS}
WIDE = ("std", "::", "int64_t")


class Generator:
    def __init__(self, source):
        self.source = source
        self.tokens = tokens_of(source)
        mark_code(self.tokens)
        self.names = collections.defaultdict(set)
        for token in self.tokens:
            if token.kind == "name":
                self.names[token.where].add(token.text)
        self.mutants = []
        self.seen = {source}

    def run(self):
        for i, token in enumerate(self.tokens):
            if token.where:
                for change in (self.signs, self.constants, self.exchanges, self.conditions, self.bounds,
                               self.statements, self.calls):  # fmt: skip
                    change(i)
        self.mutants.sort(key=lambda mutant: mutant.line_number)
        return self.mutants

    def text(self, i, count=1):
        return tuple(token.text for token in self.tokens[i : i + count])

    def is_binary(self, i):
        """clang-format puts a space on both sides of an operator between two values, and of nothing else."""
        token = self.tokens[i]
        return self.source[token.start - 1].isspace() and self.source[token.end].isspace()

    def add(self, operator, first, last, replacement, change=None):
        """Tokens first to last, both included, become `replacement`."""
        start, end = self.tokens[first].start, self.tokens[last].end
        before = self.source[start:end]
        # The lines after it keep their numbers.
        replacement += "\n" * (before.count("\n") - replacement.count("\n"))
        source = self.source[:start] + replacement + self.source[end:]
        if source in self.seen:
            return
        self.seen.add(source)
        from_line = self.source.rfind("\n", 0, start) + 1
        to_line = self.source.find("\n", end)
        new_end = to_line + len(source) - len(self.source)
        short = " ".join(before.split())
        short = short if len(short) <= 40 else short[:37] + "..."
        line, becomes = without_comments(self.source[from_line:to_line]), without_comments(source[from_line:new_end])
        where = self.tokens[first].where
        self.mutants.append(Mutant(operator, where, self.source.count("\n", 0, start) + 1, line, becomes,
                                   f"`{short}` -> `{change or ' '.join(replacement.split())}`", source))  # fmt: skip

    def signs(self, i):
        token = self.tokens[i]
        if token.kind != "sign":
            return
        text = token.text
        if text in RELATIONS and self.is_binary(i):
            for other in RELATIONS[text]:
                self.add("relation", i, i, other)
        elif text in ARITHMETIC and self.is_binary(i):
            for other in ARITHMETIC[text]:
                self.add("arithmetic", i, i, other)
        elif text in ASSIGNMENTS:
            for other in ASSIGNMENTS[text]:
                self.add("assignment", i, i, other)
        elif text in ("&&", "||") and self.is_binary(i):
            self.add("logic", i, i, "||" if text == "&&" else "&&")
            neutral = "true" if text == "&&" else "false"
            self.add("logic", self.operand(i, -1), i - 1, neutral)
            self.add("logic", i + 1, self.operand(i, +1), neutral)
        elif text in ("++", "--"):
            self.add("assignment", i, i, "--" if text == "++" else "++")
        elif text == "-":
            self.add("sign", i, i, "", "nothing")
        elif text == "!":
            self.add("logic", i, i, "", "nothing")

    def operand(self, i, step):
        """The last token, going that way, of the operand of the && or || at i."""
        j = i + step
        while True:
            token = self.tokens[j]
            if token.partner >= 0 and (token.partner - j) * step > 0:
                j = token.partner
            following = self.tokens[j + step]
            ends = {"&&", "||", ";", ",", "?", ":", "=", "return"}
            if following.text in ends or (following.partner >= 0 and (following.partner - j - step) * step < 0):
                return j
            j += step

    def constants(self, i):
        token = self.tokens[i]
        if token.kind == "name" and re.fullmatch(r"k[A-Z]\w*", token.text):
            self.add("constant", i, i, f"({token.text} / 2)")
        elif token.text in ("true", "false"):
            self.add("constant", i, i, "false" if token.text == "true" else "true")
        if token.kind != "number":
            return
        if (token.text[-1] in "fF" and not token.text.startswith("0x")) or re.search(r"[.pP]", token.text):
            is_zero = float(re.match(r"[\d.]*", token.text)[0] or 0) == 0 and not token.text.startswith("0x")
            self.add("float constant", i, i, "1.0f" if is_zero else f"(2 * {token.text})")
            if not is_zero:
                self.add("float constant", i, i, "0.0f")
            return
        suffix = re.search(r"[uUlLzZ]*$", token.text)[0]
        value = int(token.text.removesuffix(suffix).replace("'", ""), 0)
        if token.text.startswith("0x"):
            others = [value >> 1, value & (value - 1), 0]  # masks: without the highest or the lowest bit
            self.add_all("constant", i, [hex(other) + suffix for other in others])
        else:
            others = {0: [1], 1: [0, 2], 2: [1, 4]}.get(value, [value - 1, value + 1, 2 * value])
            self.add_all("constant", i, [f"{other}{suffix}" for other in others])

    def add_all(self, operator, i, replacements):
        for replacement in replacements:
            self.add(operator, i, i, replacement)

    def exchanges(self, i):
        token = self.tokens[i]
        if token.kind != "name":
            return
        before = self.tokens[i - 1]
        is_declared = before.kind == "name" and before.text != "return" and self.tokens[i + 1].text in "=("
        if token.text in INDICES:
            axis = self.tokens[i + 2].text
            self.add("index", i, i + 2, f"{token.text}.{'y' if axis == 'x' else 'x'}")
            other = dict(zip(INDICES, ("blockIdx", "threadIdx", "gridDim", "blockDim")))[token.text]
            self.add("index", i, i, other)
        elif before.text not in (".", "->", "::") and not is_declared:
            for one, other in COUNTERPARTS + [pair[::-1] for pair in COUNTERPARTS]:
                words = token.text.split("_")
                if one in words:
                    renamed = "_".join(other if word == one else word for word in words)
                    if renamed in self.names[token.where]:
                        self.add("index", i, i, renamed)
        for one, other in FUNCTIONS + [pair[::-1] for pair in FUNCTIONS]:
            if token.text == one and (self.tokens[i + 1].text in ("(", "<") or one.startswith("cuda")):
                self.add("function", i, i, other)

    def conditions(self, i):
        text = self.tokens[i].text
        if text in ("if", "while") and self.tokens[i + 1].text in ("(", "constexpr"):
            opening = i + 1 + (self.tokens[i + 1].text == "constexpr")
            closing = self.tokens[opening].partner
            if any(token.text in (";", "=") for token in self.tokens[opening:closing]):
                return
            condition = self.source[self.tokens[opening].end : self.tokens[closing].start]
            self.add("condition", opening, closing, f"(!({condition}))", "!(...)")
            self.add("condition", opening, closing, "(true)")
            self.add("condition", opening, closing, "(false)")
        elif text == "?":
            first = self.operand(i, -1)
            self.add("condition", first, i - 1, "true")
            self.add("condition", first, i - 1, "false")
        elif text == "for" and (parts := self.for_parts(i)) and parts[1]:
            self.add("condition", *parts[1], "false")

    def for_parts(self, i):
        """[(first, last) or None] of the three parts of a for; [] if it runs over a range."""
        closing = self.tokens[i + 1].partner
        ends, j = [i + 1], i + 2
        while j < closing:
            if self.tokens[j].text == ";":
                ends.append(j)
            j = self.tokens[j].partner + 1 if self.tokens[j].partner > j else j + 1
        ends.append(closing)
        return [(a + 1, b - 1) if b > a + 1 else None for a, b in zip(ends, ends[1:])] if len(ends) == 4 else []

    def bounds(self, i):
        """One more and one less: where a loop begins and ends, in an index, in the number of blocks."""
        text = self.tokens[i].text
        places = []  # (first, last) token of an expression
        if text == "for" and (parts := self.for_parts(i)):
            start, condition, _ = parts
            assigned = [j for j in range(*start) if self.tokens[j].text == "="] if start else []
            places += [(j + 1, start[1]) for j in assigned[-1:]]
            for j in range(condition[0], condition[1] + 1) if condition else ():
                if self.tokens[j].text in RELATIONS and self.is_binary(j):
                    places.append((j + 1, self.operand(j, +1)))
        elif text == "[" and self.tokens[i - 1].kind in ("name", "sign") and self.tokens[i - 1].text not in "(=,":
            places.append((i + 1, self.tokens[i].partner - 1))
        elif text == "<<<":
            j = i + 1
            while self.tokens[j + 1].text not in (",", ">>>"):
                j = self.tokens[j + 1].partner if self.tokens[j + 1].partner > j else j + 1
            places.append((i + 1, j))
        is_array = text == "[" and self.is_declaration(i)
        for first, last in places:
            if first == last and self.tokens[last].kind == "number" and text != "<<<":
                continue  # the same as another constant
            expression = self.source[self.tokens[first].start : self.tokens[last].end]
            for step in ("- 1",) if is_array else ("+ 1", "- 1"):
                self.add("bound", first, last, f"{expression} {step}")

    def start_of_statement(self, i):
        while self.tokens[i - 1].text not in (";", "{", "}"):
            i -= 1
        return i

    def is_declaration(self, i):
        return self.tokens[self.start_of_statement(i)].text in ("__shared__", "extern", "float", "int", "unsigned")

    def statements(self, i):
        token, before = self.tokens[i], self.tokens[i - 1]
        after_head = before.text == ")" and self.tokens[before.partner - 1].text in ("if", "for", "while")
        if not (before.text in (";", "{", "}", "else") or after_head) or token.text in ("}", ";", "{"):
            return
        if before.text in ("{", "}") and not self.is_block(i - 1):
            return
        if any(self.in_head_of_for(i)):
            return
        end = i
        while self.tokens[end].text != ";":
            end = self.tokens[end].partner if self.tokens[end].partner > end else end
            end += 1
            if end >= len(self.tokens) or not self.tokens[end].where:
                return
        text = token.text
        if text == "throw":
            self.add("statement", i, end, ";")
        elif text in ("continue", "break"):
            self.add("statement", i, end, ";")
        elif text in ("return", "if", "for", "while", "else", "do", "switch", "case", "using", "goto"):
            return
        elif self.is_expression(i, end):
            kind = "barrier" if re.match(r"__sync|__barrier|cp_async|__threadfence", text) else "statement"
            self.add(kind, i, end, ";", "nothing")

    def is_block(self, i):
        """Whether a brace is one of a block, not of a value as in int64_t{n}."""
        opening = i if self.tokens[i].text == "{" else self.tokens[i].partner
        return self.tokens[opening - 1].text in (")", ";", "{", "}", "else", "do", "const", "noexcept", "override")

    def in_head_of_for(self, i):
        """Not empty if token i lies between the parentheses of a for."""
        depth = 0
        for j in range(i - 1, -1, -1):
            if self.tokens[j].text == ")":
                depth += 1
            elif self.tokens[j].text == "(":
                depth -= 1
                if depth < 0:
                    yield self.tokens[j - 1].text == "for"
                    return
            elif self.tokens[j].text in ("{", "}") and depth == 0:
                return

    def is_expression(self, i, end):
        """An assignment or a call, not a declaration."""
        text = self.tokens[i].text
        if text in ("const", "constexpr", "auto", "static", "__shared__", "extern", "typename"):
            return False
        if text in ("++", "--", "*", "("):
            return True
        j = i
        while j < end:  # over the name with its qualifiers, members and indices
            if self.tokens[j].text in ("::", ".", "->"):
                j += 1
            elif self.tokens[j].text == "[":
                j = self.tokens[j].partner + 1
            elif self.tokens[j].kind == "name" and (j == i or self.tokens[j - 1].text in ("::", ".", "->")):
                j += 1
            else:
                break
        return self.tokens[j].text in {"(", "<<<", "<", "++", "--"} | ASSIGNING

    def calls(self, i):
        token = self.tokens[i]
        if token.text == "CUDA_CHECK":
            closing = self.tokens[i + 1].partner
            inside = self.source[self.tokens[i + 1].end : self.tokens[closing].start]
            self.add("check", i, closing, inside, "... without CUDA_CHECK")
        elif self.text(i, 4) == (*WIDE, "{"):
            closing = self.tokens[i + 3].partner
            inside = self.source[self.tokens[i + 3].end : self.tokens[closing].start]
            self.add("width", i, closing, f"static_cast<int>({inside})")
        elif self.text(i, 3) == ("static_cast", "<", "std"):
            for j in range(i + 3, i + 6):
                if self.tokens[j].text in ("int64_t", "size_t"):
                    self.add("width", i + 2, j, "int")


def without_comments(text):
    kept = "".join(" " if m.lastgroup == "space" else m[0] for m in TOKEN.finditer(text))
    return " ".join(kept.split())


def mutants_of(source):
    mutants = Generator(source).run()
    times = collections.Counter()
    for mutant in mutants:  # two lines of a function may read the same
        times[mutant.key] += 1
        if times[mutant.key] > 1:
            mutant.line += f"  [{times[mutant.key]}]"
    return mutants
