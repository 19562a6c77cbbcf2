#!/usr/bin/env python3
"""Holds the reports that docs/steps.md prints against what `course check` says of these kernels.

Usage: steps_reports_test.py COURSE [--update]

A block `<!-- mutant: NN NAME -->` of the page has what the report of the mutant tests/lessons/mutants/NN_*/NAME.mutant
says of its first failing case, on the simulator. --update writes it there. Exit status: 0 if all are as they should be.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "steps.md"
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "scripts"))
import edits  # noqa: E402
from solution_page import page_of  # noqa: E402

BLOCK = re.compile(r"(<!-- mutant: (\d\d) (\w+) -->\n```\n)(.*?)(```\n<!-- /mutant -->)", re.DOTALL)


def report_of(course, lesson, name, folder):
    """What the report says of the first failing case, without what all of it is indented by."""
    mutant, = (ROOT / "tests" / "lessons" / "mutants").glob(f"{lesson}_*/{name}.mutant")
    short = mutant.parent.name[3:]
    solution = (ROOT / "solutions" / mutant.parent.name / f"{short}.cu").read_text(encoding="utf-8")
    file = pathlib.Path(folder) / name / f"{short}.cu"
    file.parent.mkdir()
    file.write_text(edits.with_edits(edits.read_edits(mutant), page_of(solution)), encoding="utf-8")
    environment = os.environ | {"COURSE_PROGRESS": str(file.parent / "progress.json"), "NO_COLOR": "1"}
    done = subprocess.run([course, "check", lesson, "--file", str(file), "--backend", "cpu"], capture_output=True, text=True,
                          env=environment, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 1 or not done.stdout.startswith("FAIL"):
        sys.exit(f"{name} was to fail, but the course said:\n{done.stdout}{done.stderr}")
    first = re.match(r"FAIL.*\n((?:  .*\n)+?)  and \d+ more cases fail in the same way\n", done.stdout)
    if not first:
        sys.exit(f"not all cases of {name} fail in the same way:\n{done.stdout}")
    return "".join(line.removeprefix("  ") + "\n" for line in first[1].splitlines())


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--update"]):
        sys.exit("usage: steps_reports_test.py COURSE [--update]")
    text = PAGE.read_text(encoding="utf-8")
    names = [name for _, _, name, _, _ in BLOCK.findall(text)]
    if sorted(names) != ["base_2", "output_not_rescaled", "tail_not_hidden"]:
        sys.exit(f"{PAGE} has reports of {', '.join(names) or 'no mutant'}")
    with tempfile.TemporaryDirectory() as folder:
        new = BLOCK.sub(lambda m: m[1] + report_of(sys.argv[1], m[2], m[3], folder) + m[5], text)
    if sys.argv[2:]:
        PAGE.write_text(new, encoding="utf-8")
    elif new != text:
        wrong = [m[0][3] for m in zip(BLOCK.finditer(text), BLOCK.finditer(new)) if m[0][4] != m[1][4]]
        print(f"docs/steps.md prints other reports than the course: {', '.join(wrong)}; run this with --update")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
