#!/usr/bin/env python3
"""Checks a kernel that is right but for promises of its lesson's contract that it gives up for something else.

    tests/lessons/check_tradeoff.py COURSE NUMBER KERNEL.cu

COURSE is the course program. The kernel's first lines name the cases that it fails, one or more:

    // gives up: gives the same bits in every order of blocks and threads

It must fail these in the simulator, and pass all others. Where the lesson's notes have a table between
<!-- tradeoff: KERNEL --> and <!-- /tradeoff -->, its numbers must be what the simulator counts for both kernels.
"""

import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TABLE = {"matrix_float16": "multiply-adds on tensor cores", "special_instructions": "powers of 2, by warp",
         "global_load.bytes": "bytes loaded", "global_store.bytes": "bytes stored", "global_atomic.bytes": "bytes added to"}


def cases_of(course, number, *kernel):
    """The results of all cases, by name."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([course, "check", number, *kernel, "--backend", "cpu", "--json", report],
                              cwd=ROOT, capture_output=True, text=True, check=False)
        if not report.is_file():
            sys.exit(done.stdout + done.stderr)
        lesson = json.loads(report.read_text(encoding="utf-8"))["lessons"][0]
    if not lesson["cases"]:
        sys.exit(done.stdout + done.stderr)
    return {case["name"]: case for case in lesson["cases"]}


def table_of(solution, kernel, case):
    """What the simulator counts in one case, for both."""
    counts = [results[case]["counters"] for results in (solution, kernel)]
    return ["| counted | the solution | float32 adds |", "|---|---:|---:|",
            *(f"| {words} | {counts[0][name]:,} | {counts[1][name]:,} |" for name, words in TABLE.items())]


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    course, number, file = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    given_up = re.findall(r"^// gives up: (.*)$", file.read_text(encoding="utf-8"), re.MULTILINE)
    results = cases_of(course, number, "--file", file)
    wrong = [f"there is no case: {name}" for name in given_up if name not in results]
    wrong += [f"passes, though the file gives it up: {name}" for name in given_up
              if name in results and results[name]["status"] == "pass"]
    wrong += [f"fails: {name}: {case['message']}" for name, case in results.items()
              if case["status"] != "pass" and name not in given_up]
    if not given_up:
        wrong.append("the file gives up nothing: it is an alternative")
    for notes in ROOT.glob(f"lessons/{number}_*/README.md"):
        text = notes.read_text(encoding="utf-8")
        for case, table in re.findall(rf"<!-- tradeoff: {file.stem}, (.*?) -->\n(.*?)\n<!-- /tradeoff -->", text, re.DOTALL):
            counted = "\n".join(table_of(cases_of(course, number, "--solution", "--case", case), results, case))
            if table != counted:
                wrong.append(f"the table of the notes should be\n{counted}")
    print("\n".join(wrong) or f"{file.stem} gives up what it says, and nothing else")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
