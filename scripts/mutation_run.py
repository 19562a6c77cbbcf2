#!/usr/bin/env python3
"""Measures how much the tests of a lesson notice: changes its solution in one place at a time and runs the tests.

Each such mutant is compiled for the simulator. One that does not compile, or that compiles to the same code as the
solution or as an earlier mutant, is not counted. The others are judged by the lesson's tests, first in run mode and,
if all cases pass, once more with check mode. A mutant is killed if a case fails or the tests run far longer than they
should; otherwise it survives.

A survivor shows a hole in the tests, unless it is equivalent: unless it does all that the contract asks. Why it does
is said in docs/results/mutation_equivalent.json, which names the line by its text and lives as long as that line. Two
shares are reported: of all judged mutants, and of those that are not equivalent. The second must be 95 % or more.

    scripts/mutation_run.py 03                      all mutants; the result goes to docs/results/03_mutation.json
    scripts/mutation_run.py 03 --only 'sum_warp'    those whose operator, function or line matches; nothing is kept
    scripts/mutation_run.py 03 --survivors          those that survived the last run, when tests have become stricter
    scripts/mutation_run.py 03 --sample 160         160 of them, spread evenly; the result says of how many
    scripts/mutation_run.py 03 --list               names the mutants and runs nothing
    scripts/mutation_run.py 03 --reasons            reads the reasons anew for the last result, and runs nothing

What is changed: the code of functions and the values of constants. Comments, texts, the words of an exception,
static_assert, includes and declarations stay as they are. Ctrl-C ends a run early and keeps what was done, with
"complete": false. The build folder is `build`, or COURSE_BUILD_DIR.

Exit status: 0 if enough is killed, 1 if not, 2 for wrong usage, 3 if the machine or the solution itself fails.
"""

import argparse
import collections
import concurrent.futures
import dataclasses
import datetime
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
REASONS = RESULTS / "mutation_equivalent.json"
BUILD = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")).resolve()
ENOUGH_PERCENT = 95
COMPILE_SECONDS = 120
VERDICTS = ("killed", "survived", "same code", "does not compile", "not judged")

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


# ---- builds and tests ----


class MachineError(Exception):
    pass


def run_limited(command, seconds):
    """(exit status or None if it ran too long, output); what it started ends with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, cwd=ROOT, env={**os.environ, "LC_ALL": "C"},
                                   start_new_session=True)  # fmt: skip
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


class Lesson:
    """Compiles kernels for a lesson and runs its tests, as `./course check` does, less all that takes time."""

    def __init__(self, name):
        self.name = name
        self.solution = ROOT / "solutions" / name / f"{name[3:]}.cu"
        status, output = run_limited([ROOT / "course", "build", name[:2], "--solution", "--backend", "cpu"], 1800)
        if status != 0:
            raise MachineError(f"The solution of lesson {name} does not build:\n{output}")
        toolchain = json.loads((BUILD / "toolchain.json").read_text(encoding="utf-8"))
        self.cpu = toolchain["cpu"]
        mine = next(lesson for lesson in toolchain["lessons"] if lesson["folder"] == name)
        self.entries, self.test = mine["entries"], mine["test"]
        self.limit = COMPILE_SECONDS

    def compile(self, source, folder, flavour):
        """The object file; None if the compiler refuses. The object names the solution as its source."""
        file, rewritten, kernel = folder / "mutant.cu", folder / f"{flavour}.cpp", folder / f"{flavour}.o"
        file.write_text(source, encoding="utf-8")
        includes = ["-I", "common", "-I", "lessons", "-I", f"lessons/{self.name}"]
        status, output = run_limited([self.cpu["rewriter"], file, "-o", rewritten, *includes], COMPILE_SECONDS)
        if status != 0:
            return None
        text = rewritten.read_text(encoding="utf-8")
        rewritten.write_text(text.replace(str(file), str(self.solution.relative_to(ROOT))), encoding="utf-8")
        flags = self.cpu["flags" if flavour == "run" else "check_flags"]
        prelude = self.cpu["prelude" if flavour == "run" else "check_prelude"]
        first = [*(["-I", prelude] if prelude else []), "-include", "simt_prelude.h", "-iquote",
                 self.solution.parent, "-I", "common/simt/shim"]
        status, output = run_limited([self.cpu["compiler"], *flags, *first, *includes, "-w", "-c", rewritten, "-o",
                                      kernel], COMPILE_SECONDS)  # fmt: skip
        if "No space left" in output:
            raise MachineError("The disk is full.")
        return kernel if status == 0 else None

    def link(self, kernel, flavour):
        library = kernel.with_suffix(".so")
        flags = [] if flavour == "run" else self.cpu["check_link_flags"]
        simt = pathlib.Path(self.cpu["library"])
        status, _ = run_limited([self.cpu["compiler"], *self.cpu["link_flags"], *flags, "-shared",
                                 "-Wl,--no-undefined", kernel, self.entries, simt, f"-Wl,-rpath,{simt.parent}", "-o",
                                 library], COMPILE_SECONDS)  # fmt: skip
        return library if status == 0 else None

    def run_tests(self, library, checked=None):
        """(status, output): status 0 if all pass, 1 if a case fails, None if they run too long."""
        command = [self.test, "--kernel", library, "--worker", self.cpu["worker"], "--backend", "cpu", "--abort"]
        return run_limited(command + (["--check-kernel", checked] if checked else []), self.limit)

    def judge(self, source, folder, on_code):
        """(verdict, by). `on_code` is given the hash of the code and says whether to go on."""
        kernel = self.compile(source, folder, "run")
        if kernel is None:
            return "does not compile", ""
        if not on_code(code_hash(kernel)):
            return "same code", ""
        library = self.link(kernel, "run")
        if library is None:
            return "does not compile", ""
        verdict = verdict_of(self.run_tests(library), "run mode")
        if verdict:
            return verdict
        checked = self.compile(source, folder, "check")
        checked = checked and self.link(checked, "check")
        if checked is None:
            return "not judged", "it does not compile for check mode"
        return verdict_of(self.run_tests(library, checked), "check mode") or ("survived", "")


def verdict_of(run, by):
    """(verdict, by) of a run of the tests; None if all cases passed."""
    status, output = run
    if status == 0:
        return None
    if status is None:
        return "killed", "time limit"
    return ("killed", by) if status == 1 else ("not judged", output[-300:])


def code_hash(kernel):
    """Of everything in the object but debug information."""
    stripped = kernel.with_suffix(".code")
    status, output = run_limited(["objcopy", "--strip-debug", kernel, stripped], COMPILE_SECONDS)
    if status != 0:
        raise MachineError(output)
    return hashlib.sha256(stripped.read_bytes()).hexdigest()


def check_solution(lesson, source, folder):
    """Sets the time limit of a mutant by what the solution needs. Returns the hash of the solution's code."""
    codes = []
    start = time.monotonic()
    verdict, why = lesson.judge(source, folder, lambda code: codes.append(code) or True)
    if verdict != "survived":
        raise MachineError(f"The solution of lesson {lesson.name} should pass its own tests, but: {verdict} {why}")
    lesson.limit = 60 + 10 * (time.monotonic() - start)
    return codes[0]


def judge_all(lesson, solution_code, mutants, jobs, scratch):
    """Judges the mutants and yields each as it is done; of those with the same code, the first alone is judged."""
    lock, first_with = threading.Lock(), {solution_code: None}
    stop = threading.Event()

    def judge(number, mutant):
        if stop.is_set():
            return mutant

        def on_code(code):
            mutant.code = code
            with lock:
                return first_with.setdefault(code, mutant) is mutant

        folder = scratch / str(number)
        folder.mkdir()
        try:
            for _ in range(2):  # a second time if the machine was at fault
                mutant.verdict, mutant.by = lesson.judge(mutant.source, folder, on_code)
                if mutant.verdict != "not judged":
                    break
        finally:
            shutil.rmtree(folder)
        return mutant

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(judge, number, mutant) for number, mutant in enumerate(mutants)]
        try:
            for run in concurrent.futures.as_completed(runs):
                yield run.result()
        finally:
            stop.set()


# ---- reasons and reports ----


def result_file(lesson):
    return RESULTS / f"{lesson[:2]}_mutation.json"


def read_reasons(lesson):
    """{(where, line, becomes): why}"""
    if not REASONS.exists():
        return {}
    entries = json.loads(REASONS.read_text(encoding="utf-8")).get(lesson, [])
    return {(entry["where"], entry["line"], becomes): entry["why"] for entry in entries for becomes in entry["becomes"]}


def percent(part, whole):
    return round(100 * part / whole, 1) if whole else 100.0


def row_of(mutant):
    return {"line_number": mutant.line_number, "operator": mutant.operator, "change": mutant.change,
            "where": mutant.where, "line": mutant.line, "becomes": mutant.becomes}  # fmt: skip


def key_of(row):
    return row["where"], row["line"], row["becomes"]


def summarise(lesson, mutants, complete, seconds):
    counts = collections.Counter(mutant.verdict for mutant in mutants)
    operators = collections.defaultdict(collections.Counter)
    for mutant in mutants:
        operators[mutant.operator][mutant.verdict] += 1
    return {
        "lesson": lesson,
        "command": f"scripts/mutation_run.py {lesson[:2]}",
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "complete": complete,
        "seconds": round(seconds),
        "mutants": sum(counts[verdict] for verdict in VERDICTS),
        "not_counted": {verdict: counts[verdict] for verdict in ("does not compile", "same code")},
        "judged": counts["killed"] + counts["survived"],
        "killed": counts["killed"],
        "killed_by": dict(collections.Counter(mutant.by for mutant in mutants if mutant.verdict == "killed")),
        "operators": {
            name: {"killed": row["killed"], "survived": row["survived"]}
            for name, row in sorted(operators.items()) if row["killed"] + row["survived"]
        },
        "survivors": [row_of(mutant) for mutant in mutants if mutant.verdict == "survived"],
        "not_judged": [row_of(mutant) | {"why": mutant.by} for mutant in mutants if mutant.verdict == "not judged"],
    }  # fmt: skip


def merged(last, again):
    """The last result, with what its survivors did this time."""
    result = last | {key: again[key] for key in ("survivors", "not_judged")}
    result["killed"] += again["killed"]
    result["judged"] = result["killed"] + len(again["survivors"])
    result["survivors_judged_again"] = again["date"]
    for by, count in again["killed_by"].items():
        result["killed_by"][by] = result["killed_by"].get(by, 0) + count
    for name, row in again["operators"].items():
        known = result["operators"].setdefault(name, {"killed": 0, "survived": 0})
        known["killed"] += row["killed"]
        known["survived"] = row["survived"]
    return result


def explain_survivors(result, reasons):
    """Fills in which survivors are equivalent, and the shares that follow from it."""
    for row in result["survivors"]:
        row["equivalent"] = reasons.get(key_of(row))
    judged, killed = result["judged"], result["killed"]
    result["equivalent"] = sum(row["equivalent"] is not None for row in result["survivors"])
    result["killed_percent_of_judged"] = percent(killed, judged)
    result["killed_percent_of_not_equivalent"] = percent(killed, judged - result["equivalent"])


def written(result):
    """JSON with one line for each operator and survivor."""
    lists = ("operators", "survivors", "not_judged")
    head = {key: value for key, value in result.items() if key not in lists}
    text = json.dumps(head, indent=2)[:-2]
    operators = [f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in result["operators"].items()]
    text += ',\n  "operators": {\n' + ",\n".join(operators) + "\n  }"
    for name in lists[1:]:
        rows = ",\n".join(f"    {json.dumps(row, ensure_ascii=False)}" for row in result[name])
        text += f',\n  "{name}": [' + (f"\n{rows}\n  " if rows else "") + "]"
    return text + "\n}\n"


def print_report(result, reasons):
    part = f" of {result['drawn_from']}" if "drawn_from" in result else ""
    print(f"\n{result['lesson']}: {result['mutants']}{part} mutants in {result['seconds']} s, {result['date']}")
    for verdict, count in result["not_counted"].items():
        print(f"{count:5}  {'same code as the solution or an earlier mutant' if verdict == 'same code' else verdict}")
    print(f"\n{'operator':16} killed  survived")
    for name, row in result["operators"].items():
        print(f"{name:16} {row['killed']:6}  {row['survived']:8}")
    print(f"{'all':16} {result['killed']:6}  {result['judged'] - result['killed']:8}")
    holes = [row for row in result["survivors"] if row["equivalent"] is None]
    if holes:
        print("\nNo test notices, and no reason says why none should:")
    for row in holes:
        print(f"  L{row['line_number']} {row['change']}, in {row['where']}:")
        print(f"    - {row['line']}\n    + {row['becomes']}")
    for row in result["not_judged"]:
        print(f"  not judged: L{row['line_number']} {row['change']}: {row['why']}")
    survived = {key_of(row) for row in result["survivors"]}
    for where, line, becomes in reasons if result["complete"] and not part else ():
        if (where, line, becomes) not in survived:
            print(f"  a reason that no survivor needs: {where}: {line} => {becomes}")
    print(f"\nkilled: {result['killed']} of {result['judged']} ({result['killed_percent_of_judged']} %); "
          f"{result['equivalent']} survivors are equivalent: "
          f"{result['killed_percent_of_not_equivalent']} % of the others")  # fmt: skip


def is_enough(result):
    return result["killed_percent_of_not_equivalent"] >= ENOUGH_PERCENT and not result["not_judged"]


def run_lesson(name, arguments):
    """Returns whether enough is killed, and whether the run came to its end."""
    source = (ROOT / "solutions" / name / f"{name[3:]}.cu").read_text(encoding="utf-8")
    mutants = mutants_of(source)
    last = json.loads((arguments.out or result_file(name)).read_text("utf-8")) if arguments.survivors else None
    if last:
        survived = {key_of(row) for row in last["survivors"] + last["not_judged"]}
        mutants = [mutant for mutant in mutants if mutant.key in survived]
        if len(mutants) < len(survived):
            raise MachineError("The solution has changed since the last run: run all mutants.")
    if arguments.only:
        wanted = re.compile(arguments.only)
        mutants = [m for m in mutants if any(map(wanted.search, (m.operator, m.where, m.line, m.change)))]
    mutants = mutants[: arguments.limit]
    drawn_from = len(mutants)
    if arguments.sample is not None and arguments.sample < drawn_from:
        mutants = [mutants[at * drawn_from // arguments.sample] for at in range(arguments.sample)]
    if arguments.list:
        print("\n".join(f"{mutant.operator:14} {mutant}" for mutant in mutants))
        return True, True
    reasons = read_reasons(name)
    start = time.monotonic()
    lesson = Lesson(name)
    complete, done = True, 0
    with tempfile.TemporaryDirectory(prefix="mutation_") as folder:
        scratch = pathlib.Path(folder)
        solution_code = check_solution(lesson, source, scratch)
        try:
            for mutant in judge_all(lesson, solution_code, mutants, arguments.jobs, scratch):
                done += 1
                is_hole = mutant.verdict == "survived" and mutant.key not in reasons
                if is_hole or mutant.verdict == "not judged" or arguments.verbose:
                    print(f"{name[:2]} {done}/{len(mutants)} {mutant.verdict} {mutant}", flush=True)
                elif done % 25 == 0:
                    print(f"{name[:2]} {done}/{len(mutants)}", file=sys.stderr, flush=True)
        except KeyboardInterrupt:
            complete = False
            print("interrupted: what was done is kept", file=sys.stderr)
    is_part = arguments.only or arguments.limit is not None or (last and not complete)
    result = summarise(name, mutants, complete and not is_part, time.monotonic() - start)
    if len(mutants) < drawn_from:
        result |= {"command": f"{result['command']} --sample {arguments.sample}", "drawn_from": drawn_from}
    if last and not is_part:
        result = merged(last, result)
    explain_survivors(result, reasons)
    print_report(result, reasons)
    if out := arguments.out or (None if is_part else result_file(name)):
        out.write_text(written(result), encoding="utf-8")
    return is_enough(result), complete


def explain_again(name, arguments):
    """The same as run_lesson(), with the results of the last run."""
    file = arguments.out or result_file(name)
    result, reasons = json.loads(file.read_text(encoding="utf-8")), read_reasons(name)
    explain_survivors(result, reasons)
    print_report(result, reasons)
    file.write_text(written(result), encoding="utf-8")
    return is_enough(result), True


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lessons", nargs="+", metavar="LESSON", help="number of a lesson, for example 03")
    parser.add_argument("--only", metavar="REGEX", help="mutants whose operator, function, line or change matches")
    parser.add_argument("--limit", type=int, metavar="N", help="the first N mutants")
    parser.add_argument("--sample", type=int, metavar="N", help="N of the mutants, spread evenly over the solution")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="mutants side by side")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="in place of docs/results/NN_mutation.json")
    parser.add_argument("--list", action="store_true", help="names the mutants and runs nothing")
    parser.add_argument("--survivors", action="store_true", help="those that survived the last run")
    parser.add_argument("--reasons", action="store_true", help="reads the reasons anew, and runs nothing")
    parser.add_argument("--verbose", action="store_true", help="names each mutant as it is judged")
    arguments = parser.parse_args()

    names = []
    for number in arguments.lessons:
        found = list((ROOT / "solutions").glob(f"{int(number):02}_*")) if number.isdigit() else []
        if not found:
            parser.error(f"there is no lesson {number}")
        names.append(found[0].name)
    if arguments.out and len(names) > 1:
        parser.error("--out needs exactly one lesson")
    enough = True
    try:
        for name in names:
            if arguments.reasons:
                lesson_enough, complete = explain_again(name, arguments)
            else:
                lesson_enough, complete = run_lesson(name, arguments)
            enough = enough and lesson_enough
            if not complete:
                break
    except MachineError as problem:
        print(problem, file=sys.stderr)
        return 3
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
