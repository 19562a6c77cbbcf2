#!/usr/bin/env python3
"""Finds tabs, spaces at the end of a line, Windows line ends, a missing last line end, and text that is not UTF-8."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TEXT = {".cpp", ".hpp", ".h", ".cu", ".cuh", ".cmake", ".json", ".md", ".py", ".sh", ".svg", ".txt"}
NAMES = {"course", "run", "LICENSE", ".clang-format", ".clang-tidy", ".gitignore"}
# Build folders, hidden folders other than .ci, and what tests feed to the programs.
SKIPPED = re.compile(r"^(build|\.(?!ci/|clang|gitignore))|/(corpus|__pycache__)/")


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
    print("\n".join(found) or f"{count} files, nothing to mend")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
