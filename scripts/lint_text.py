#!/usr/bin/env python3
"""Finds tabs, spaces at the end of a line, Windows line ends, a missing last line end, and text that is not UTF-8. In
what students and readers see, also turns that are no English."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".cmake", ".json", ".md", ".py", ".sh", ".svg", ".txt"}
NAMES = {"course", "run", "LICENSE", ".clang-format", ".clang-tidy", ".gitignore"}
# Build folders, hidden folders other than .ci, and what tests feed to the programs.
SKIPPED = re.compile(r"^(build|\.(?!ci/|clang|gitignore))|/(corpus|__pycache__)/")
# What a student or a reader sees, and turns in it that another language has lent, each with what English says.
READ = re.compile(r"^(README\.md|CONTRIBUTING\.md|lessons/|solutions/|common/device/|docs/(?!results/|site/).*\.(md|cu)$)")
TURNS = {re.compile(turn, re.IGNORECASE): instead for turn, instead in {
    r"\bbehind the (last|end|array's end|query's position)\b": "past",
    r"\b(just behind its|behind its own) position\b": "past",
    r"\b(directly|right) behind it\b": "right after it",
    r"\bmend(s|ed|ing)?\b": "fix, correct or repair",
    r"\bin vain\b": "for nothing",
    r"\bcom(e|es|ing) to light\b": "appear",
    r"\bwhich no test minds\b": "no test complains",
    r"\bhanded in to the tests on purpose\b": "the tests know these mistakes",
    r"\banew\b": "again",
    r"\bgood for nothing\b": "of no use",
    r"\b(is|are) good for \d": "serves",
    r"\bof no account\b": "does not matter",
    r"\bat the begin\b": "at the beginning",
    r"\bin whose place comes\b": "whose place ... takes",
    r"\bpasses over NaN\b": "ignores NaN",
    r"\b(takes|keeps) itself for\b": "counts as",
    r"\bbut for less than\b": "except for",
    r"\beverything that is there stays\b": "keep what is there",
}.items()}


def turns(text):
    """Sentences may go over the end of a line, so the search does, too."""
    flat = text.replace("\n", " ")
    for turn, instead in TURNS.items():
        for found in turn.finditer(flat):
            yield text.count("\n", 0, found.start()) + 1, f'"{found.group(0)}": write "{instead}"'


def problems(text):
    for number, line in enumerate(text.split("\n"), 1):
        if "\t" in line:
            yield number, "a tab"
        if line.endswith("\r"):
            yield number, "a Windows line end"
        elif line != line.rstrip():
            yield number, "spaces at the end"
    if text and not text.endswith("\n"):
        yield text.count("\n") + 1, "no line end at the end of the file"
    if text.endswith("\n\n"):
        yield text.count("\n"), "an empty line at the end of the file"


def main():
    count, found = 0, []
    for file in sorted(ROOT.rglob("*")):
        path = file.relative_to(ROOT).as_posix()
        if SKIPPED.search(path) or not (file.suffix in TEXT or file.name in NAMES) or not file.is_file():
            continue
        count += 1
        try:
            text = file.read_bytes().decode("utf-8")
        except UnicodeDecodeError as error:
            found.append(f"{path}: not UTF-8: {error}")
            continue
        found.extend(f"{path}:{number}: {what}" for number, what in problems(text))
        if READ.match(path):
            found.extend(f"{path}:{number}: {what}" for number, what in turns(text))
    print("\n".join(found) or f"{count} files, nothing to fix")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
