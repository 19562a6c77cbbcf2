#!/usr/bin/env python3
"""Runs the simulator's check mode over a folder of small CUDA programs and holds its findings against what they expect.

    corpus_test.py --course PATH --kind planted [--update] [NAME...]
    corpus_test.py --course PATH --kind clean [NAME...]

A planted program begins with a comment that says what is wrong with it, and one line for each finding:

    // expect: race at A, other side B, tile[3]

A and B are the lines that end with `// A` and `// B`; of a finding in a header, the program's line that led there. The other side and the element may be left out where the rules
leave them open; `B|C` allows either line. Which of two unordered accesses comes first is arbitrary, so the two sides
are a pair without an order here. <name>.expected holds the report word for word, order included; --update writes it.

A clean program looks suspicious and is right: nothing may be found.

NAME... runs those programs alone.
"""

import argparse
import concurrent.futures
import dataclasses
import difflib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent
TIMEOUT_SECONDS = 120
EXPECTATION = re.compile(r"// expect: (?P<class>\w+) at (?P<mark>[A-Z])"
                         r"(?:, other side (?P<other>[A-Z](?:\|[A-Z])*))?(?:, (?P<element>\S+))?")
MARK = re.compile(r"\S.*// ([A-Z])$")
FINDING_LINE = re.compile(r"(error|warning|note): \w+: ")


@dataclasses.dataclass(frozen=True)
class Expectation:
    kind: str
    line: int
    others: tuple  # of the lines that the other side may have; empty if it is left open
    element: str   # empty if it is left open

    def fits(self, finding):
        if self.kind != finding["class"] or (self.element and self.element != finding["element"]):
            return False
        line, other = own_line(finding), own_line(finding["other"])
        if not self.others:
            return line == self.line
        return any((line, other) in ((self.line, allowed), (allowed, self.line)) for allowed in self.others)

    def __str__(self):
        other = f", other side line {' or '.join(map(str, self.others))}" if self.others else ""
        return f"{self.kind} at line {self.line}{other}{', ' + self.element if self.element else ''}"


def own_line(side):
    """The innermost line of the program's own that led to a side of a finding; of a side alone, its line."""
    if not side:
        return 0
    return next((call["line"] for call in side["calls"] if call["file"].endswith(".cu")), side["line"])


def describe(finding):
    other = own_line(finding["other"])
    return (f"{finding['class']} at line {own_line(finding)}{f', other side line {other}' if other else ''}"
            f"{', ' + finding['element'] if finding['element'] else ''}")


def read_expectations(source):
    """What the program's head expects, with the marks turned into line numbers."""
    lines = source.read_text(encoding="utf-8").splitlines()
    marks, used, expectations = {}, set(), []
    for number, line in enumerate(lines, 1):
        if (found := MARK.search(line)) and not line.startswith("//"):
            if found[1] in marks:
                raise ValueError(f"the mark {found[1]} is on lines {marks[found[1]]} and {number}")
            marks[found[1]] = number
    for number, line in enumerate(lines, 1):
        if not line.startswith("// expect"):
            continue
        parts = EXPECTATION.fullmatch(line)
        if parts is None:
            raise ValueError(f"line {number} cannot be read: {line}")
        others = parts["other"].split("|") if parts["other"] else []
        for mark in (parts["mark"], *others):
            if mark not in marks:
                raise ValueError(f"no line has the mark {mark}")
            used.add(mark)
        expectations.append(Expectation(parts["class"], marks[parts["mark"]], tuple(marks[m] for m in others),
                                        parts["element"] or ""))
    if unused := set(marks) - used:
        raise ValueError(f"no expectation is about the mark {', '.join(sorted(unused))}")
    if not expectations:
        raise ValueError("a planted program expects at least one finding")
    return expectations


@dataclasses.dataclass
class Outcome:
    status: int
    findings: list
    report: list   # the lines of stderr that are findings, without the folder of the file
    stderr: str


def simulate(course, source):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        result = subprocess.run([course, "simulate", "--check", source.name], cwd=source.parent,
                                env={**os.environ, "SIMT_REPORT": str(report)}, stdin=subprocess.DEVNULL,
                                capture_output=True, encoding="utf-8", errors="replace", timeout=TIMEOUT_SECONDS,
                                check=False)
        if not report.exists():
            raise RuntimeError("it left no JSON report; its stderr was:\n" + result.stderr)
        findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    bare = re.compile(r"[^\s'\"(]*/" + re.escape(source.name))
    lines = [bare.sub(source.name, line) for line in result.stderr.splitlines() if FINDING_LINE.search(line)]
    return Outcome(result.returncode, findings, lines, result.stderr)


def compare_findings(expectations, findings):
    """Each expectation with one finding and the other way round. What is left over on either side, as lines."""
    left = list(findings)
    missing = []
    # Those that leave more open choose last.
    for expectation in sorted(expectations, key=lambda e: (not e.others, len(e.others), not e.element)):
        found = next((finding for finding in left if expectation.fits(finding)), None)
        if found is None:
            missing.append(f"not found: {expectation}")
        else:
            left.remove(found)
    return missing + [f"not expected: {describe(finding)}: {finding.get('message', '')}" for finding in left]


def compare_status(outcome):
    errors = any(finding["severity"] == "error" for finding in outcome.findings)
    if errors == (outcome.status != 0):
        return []
    return [f"exit status {outcome.status} with {'an' if errors else 'no'} error among the findings"]


def compare_text(expected_file, report):
    if not expected_file.exists():
        return [f"{expected_file.name} is missing; --update writes it"]
    expected = expected_file.read_text(encoding="utf-8").splitlines()
    return list(difflib.unified_diff(expected, report, expected_file.name, "stderr", n=0, lineterm=""))


def run_planted(course, source, update):
    expectations = read_expectations(source)
    outcome = simulate(course, source)
    problems = compare_findings(expectations, outcome.findings) + compare_status(outcome)
    if len(outcome.report) != len(outcome.findings):
        problems.append(f"{len(outcome.findings)} findings in JSON, {len(outcome.report)} on stderr:\n{outcome.stderr}")
    expected_file = source.with_suffix(".expected")
    if update:
        expected_file.write_text("".join(line + "\n" for line in outcome.report), encoding="utf-8")
    else:
        problems += compare_text(expected_file, outcome.report)
    return problems


def run_clean(course, source, _update):
    outcome = simulate(course, source)
    problems = compare_findings([], outcome.findings)
    if outcome.report and not outcome.findings:
        problems += outcome.report
    if outcome.status != 0:
        problems.append(f"exit status {outcome.status}; stderr was:\n{outcome.stderr}")
    return problems


def attempt(run, course, source, update):
    try:
        return run(course, source, update)
    except subprocess.TimeoutExpired:
        return [f"still running after {TIMEOUT_SECONDS} s"]
    except (KeyError, OSError, RuntimeError, ValueError) as error:
        return [f"{type(error).__name__}: {error}"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--course", required=True, type=pathlib.Path, help="the program `course`, or the script")
    parser.add_argument("--kind", required=True, choices=("planted", "clean"))
    parser.add_argument("--update", action="store_true", help="write the .expected files of planted programs")
    parser.add_argument("names", nargs="*", metavar="NAME", help="programs, with or without .cu; all if none is given")
    arguments = parser.parse_args()

    folder = ROOT / arguments.kind
    sources = sorted(folder.glob("*.cu"))
    if arguments.names:
        wanted = {name.removesuffix(".cu") for name in arguments.names}
        if unknown := wanted - {source.stem for source in sources}:
            parser.error(f"no such program in {folder}: {', '.join(sorted(unknown))}")
        sources = [source for source in sources if source.stem in wanted]
    if not sources:
        parser.error(f"there are no programs in {folder}")

    run = run_planted if arguments.kind == "planted" else run_clean
    course = arguments.course.resolve()
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        outcomes = pool.map(lambda source: attempt(run, course, source, arguments.update), sources)
        for source, problems in zip(sources, outcomes):
            failed += bool(problems)
            for problem in problems:
                print(f"{source.stem}: " + problem.rstrip().replace("\n", "\n    "), flush=True)
    print(f"{len(sources) - failed} of {len(sources)} {arguments.kind} programs as expected")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
