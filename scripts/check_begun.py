#!/usr/bin/env python3
"""Checks the lessons that a student has begun, whose files differ from their stubs, and writes a report in Markdown.

    scripts/check_begun.py [--summary FILE] [--course PROGRAM]

The report is added to FILE, or goes to standard output. Exit status: that of ./course check; 0 if no lesson is begun.
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent


def fenced(text):
    longest = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}text\n{text.rstrip()}\n{fence}\n"


def result_of(lesson):
    failed = sum(case["status"] != "pass" for case in lesson["cases"])
    if any(case["name"] == "compiles" for case in lesson["cases"]):
        return "does not compile"
    if lesson["status"] == "fail" and failed:
        return f"{failed} of {len(lesson['cases'])} cases fail"
    return {"pass": "passed", "fail": "failed"}.get(lesson["status"], "could not be checked")


def report(lessons, output):
    rows = [f"| {one['number']:02} {one['name']} | {one['points']} | {one['max_points']} | {result_of(one)} |\n"
            for one in lessons]  # fmt: skip
    return ("# Lessons begun\n\n| lesson | points | of | result |\n|---|---|---|---|\n" + "".join(rows) + "\n"
            + fenced(output))  # fmt: skip


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--summary", type=pathlib.Path)
    parser.add_argument("--course", default=ROOT / "course", type=pathlib.Path)
    arguments = parser.parse_args()
    listed = subprocess.run([arguments.course, "list", "--json"], stdout=subprocess.PIPE, encoding="utf-8", check=False)
    if listed.returncode != 0:
        return listed.returncode
    begun = [str(one["number"]) for one in json.loads(listed.stdout)["lessons"] if one["status"] != "new"]
    status, text = 0, "No lesson is begun: all files are as they were handed out.\n"
    if begun:
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "report.json"
            checked = subprocess.run([arguments.course, "check", *begun, "--json", file], stdout=subprocess.PIPE,
                                     encoding="utf-8", check=False)  # fmt: skip
            status = checked.returncode
            if not file.exists():
                print(checked.stdout, end="")
                return status
            text = report(json.loads(file.read_text(encoding="utf-8"))["lessons"], checked.stdout)
    if arguments.summary:
        with open(arguments.summary, "a", encoding="utf-8") as summary:
            summary.write(text)
    print(text, end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
