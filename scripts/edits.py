"""Files of code that are written down as edits of another: mutants, and submissions that attack the grader.

    A sentence that says what is wrong.

    key: value

    replace:
    whole lines that the other file has exactly once
    with:
    what stands there instead

common/grading/judging/mutant.cpp reads the same.
"""

import collections
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent
HOSTILE = ROOT / "tests/grading/hostile"
RIGHT = ROOT / "tests/grading/right"


class Unfit(Exception):
    """A file that cannot be used, in a sentence."""


@dataclasses.dataclass
class Edited:
    path: pathlib.Path
    what: str
    keys: list  # (line, key, value), in their order
    edits: list  # (line, before, after)


def without_last_gap(lines):
    """An empty line before the next "replace:" is for the eye."""
    while lines and lines[-1] == "":
        lines = lines[:-1]
    return "".join(line + "\n" for line in lines)


def read_edits(path):
    """Raises Unfit if the file is not written as it should be."""
    edited, half = Edited(path, "", [], []), None
    for number, line in enumerate(path.read_text(encoding="utf-8").removesuffix("\n").split("\n"), 1):
        if line == "replace:":
            edited.edits.append((number, [], []))
            half = 1
        elif line == "with:":
            if half != 1:
                raise Unfit(f'{path}:{number}: "with:" needs a "replace:" before it.')
            half = 2
        elif half:
            edited.edits[-1][half].append(line)
        elif not edited.what:
            edited.what = line
        elif line:
            key, colon, value = line.partition(": ")
            if not colon:
                raise Unfit(f'{path}:{number}: a line here is "key: value", or it is "replace:".')
            edited.keys.append((number, key, value))
    if not (edited.what and edited.edits) or half == 1:
        raise Unfit(f'{path}: a sentence, "replace:" and "with:" should be there.')
    edited.edits = [(n, without_last_gap(before), without_last_gap(after)) for n, before, after in edited.edits]
    return edited


def find_lines(code, lines, start):
    """Where the text stands as whole lines; -1 if nowhere."""
    at = code.find(lines, start)
    while at > 0 and code[at - 1] != "\n":
        at = code.find(lines, at + 1)
    return at


def with_edits(edited, code):
    """The code with the edits made. Raises Unfit if an edit does not fit in exactly one place."""
    for number, before, after in edited.edits:
        at = find_lines(code, before, 0) if before else -1
        if at < 0:
            raise Unfit(f"{edited.path}:{number}: the file that is edited has no such lines.")
        if find_lines(code, before, at + 1) >= 0:
            raise Unfit(f"{edited.path}:{number}: the file that is edited has these lines more than once.")
        code = code[:at] + after + code[at + len(before) :]
    return code


@dataclasses.dataclass
class HostileFile:
    """A submission of tests/grading/hostile, as its README.md describes them."""

    name: str
    path: pathlib.Path
    fields: dict  # of lists
    text: str  # what is handed in

    def one(self, field):
        return self.fields.get(field, [""])[0]


def take_fields(text):
    """What the comment at the beginning of a submission says; and the submission, whose comment says nothing."""
    fields = collections.defaultdict(list)
    lines = text.split("\n")
    for i, line in enumerate(lines):
        field = re.fullmatch(r"// (\w+): (.*)", line)
        if not field:
            break
        fields[field[1]].append(field[2].strip())
        lines[i] = "//"
    return dict(fields), "\n".join(lines)


def read_hostile(path):
    """A whole file, or one written as edits of another, behind its first lines. Raises Unfit."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".cu":
        edited = read_edits(path)
        bases = [value for _, key, value in edited.keys if key == "base"]
        lessons = [value for _, key, value in edited.keys if key == "lesson"]
        of_solution = bases == ["solution"] and len(lessons) == 1
        found = list((ROOT / "solutions").glob(f"{lessons[0]}_*/*.cu") if of_solution else
                     (HOSTILE / "base").glob(f"{bases[0]}.cu") if bases else [])  # fmt: skip
        if len(bases) != 1 or len(found) != 1:
            raise Unfit(f'{path}: one line "base: name", of a file in {HOSTILE.name}/base, or "base: solution" '
                        "should be there.")  # fmt: skip
        [base] = found
        said = [("hostile", edited.what)] + [(key, value) for _, key, value in edited.keys if key != "base"]
        text = "".join(f"// {key}: {value}\n" for key, value in said)
        text += "\n" + with_edits(edited, base.read_text(encoding="utf-8"))
    return HostileFile(path.stem, path, *take_fields(text))


def hostile_files():
    """All of them, by name."""
    paths = [*HOSTILE.glob("*.cu"), *HOSTILE.glob("*.hostile")]
    return [read_hostile(path) for path in sorted(paths, key=lambda path: path.stem)]


def right_files():
    """The submissions of tests/grading/right, which deserve all points, by name."""
    files = [read_hostile(path) for path in sorted(RIGHT.glob("*.right"))]
    for file in files:
        file.fields["verdict"] = ["pass"]
    return files
