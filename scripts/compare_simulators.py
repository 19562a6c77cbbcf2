#!/usr/bin/env python3
"""Compares the course's CUDA simulator with numba's, with Oclgrind and with PoCL: what each finds, how long it takes.

The same kernels, in CUDA C++, OpenCL C and Python, lie in tests/simt/peers. Prints two tables, and merges what it
measured into docs/results/simulators.json: tools that are not run, or not installed, keep what the file says of them.
Debian's packages are oclgrind, pocl-opencl-icd, python3-pyopencl, python3-numba and python3-numpy.

    scripts/compare_simulators.py                                     everything; about ten minutes
    scripts/compare_simulators.py --tools course_check,course_run     this project's simulator alone
    scripts/compare_simulators.py --show                              the tables of the file, nothing measured

Exit status: 0, whoever finds what; 1 if a tool that was asked for could not run; 2 for wrong usage.
"""

import datetime
import json
import os
import pathlib
import platform
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts" / "compare_simulators"))
sys.dont_write_bytecode = True

try:
    import numpy  # noqa: F401  (for the modules below)
except ImportError:
    debian_python = "/usr/bin/python3"  # the one that Debian's packages serve
    if sys.executable != debian_python and os.path.exists(debian_python):
        os.execv(debian_python, [debian_python, *sys.argv])
    sys.exit("Python's numpy is missing (Debian: apt-get install python3-numpy)")

from cases import ALSO_RIGHT, CASES, is_right_class
from options import Parser
from tools import CannotRun, all_tools
from workloads import WORKLOADS

TIMED = ("wall time of one kernel, from the launch until it is known to have ended, the best of the runs; compilation, "
         "allocation and copies are not in it; cpu_seconds is what all threads used in "
         "that run, load the average number of busy processes in the minute before")
MEANING = {
    "line": "a report of the right class names a marked line",
    "class": "a report of the right class, on another line or on none",
    "other": "reports, all of another class",
    "stopped": "no report, but the program crashed or would not end",
    "silent": "nothing",
    "inexpressible": "the language cannot express the bug",
}
CELLS = {"silent": "-", "inexpressible": "n/a"}


def judge(case, tool):
    """What one tool makes of one case, as it stands in the file."""
    if case.source(tool.suffix) is None:
        return {"outcome": "inexpressible"}
    status, reports = tool.try_case(case)
    marked = case.bug_lines(tool.suffix)
    right = [report for report in reports if is_right_class(case, report.finding)]
    if any(report.lines & marked for report in right):
        outcome = "line"
    elif right:
        outcome = "class"
    elif reports:
        outcome = "other"
    else:
        outcome = "stopped" if status is None or status < 0 or status > 1 else "silent"
    classes = sorted({report.finding for report in reports})
    return {"outcome": outcome, "reports": len(reports), "classes": classes, "exit": status}


def cpu_name():
    try:
        text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return platform.processor()
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    return model.group(1) if model else platform.processor()


def describe_machine():
    try:
        system = platform.freedesktop_os_release()["PRETTY_NAME"]
    except OSError:
        system = platform.platform()
    return {"cpu": cpu_name(), "cores": os.cpu_count(), "system": system}


def measure(tool, results, parts):
    version = tool.prepare()
    entry = results["tools"].setdefault(tool.key, {})
    entry.update({"title": tool.title, "version": version, "options": tool.options,
                  "date": datetime.date.today().isoformat()})
    if "speed" in parts:
        for workload in WORKLOADS:
            say(f"{tool.title}: {workload}")
            load = round(os.getloadavg()[0], 1)  # of the last minute, so before this measurement
            results["speed"].setdefault(workload, {})[tool.key] = {**tool.measure(workload), "load": load}
    if "cases" in parts and tool.looks_for_bugs:
        for case in CASES:
            say(f"{tool.title}: {case.name}")
            results["cases"].setdefault(case.name, {})[tool.key] = judge(case, tool)


def say(text):
    if sys.stderr.isatty():
        print(f"\r{text}\033[K", end="", file=sys.stderr, flush=True)


def seconds_text(seconds):
    return f"{seconds:.0f} s" if seconds >= 100 else f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.2f} ms"


def speed_table(results, tools):
    yield f"{'kernel time':40}" + "".join(f"{workload:>14}" for workload in WORKLOADS)
    for tool in tools:
        cells = [results["speed"].get(workload, {}).get(tool.key) for workload in WORKLOADS]
        if any(cells):
            name = tool.title + (", all checks" if tool.key.startswith("oclgrind_O") else "")
            yield f"{name:40}" + "".join(f"{seconds_text(cell['seconds']) if cell else '':>14}" for cell in cells)


def busy(results):
    """Which times were taken while the machine had other work, and cannot be trusted."""
    names = {key for row in results["speed"].values() for key, cell in row.items()
             if cell["load"] > results["machine"]["cores"] / 2}
    if names:
        yield f"measured on a busy machine, and so too slow: {', '.join(sorted(names))}"


def speed_ratios(results):
    """How the course's times compare, as far as both sides were measured."""
    pairs = [("course_check", "oclgrind_O3", "check mode: 1/{:.0f} of Oclgrind's time with all checks"),
             ("course_check", "numba", "check mode: 1/{:.0f} of numba's time"),
             ("pocl", "course_run", "run mode: {:.1f} times PoCL's time")]
    for workload in WORKLOADS:
        row = results["speed"].get(workload, {})
        for one, other, words in pairs:
            if one in row and other in row:
                yield f"{workload}, {words.format(row[other]['seconds'] / row[one]['seconds'])}"


def cell_text(cell):
    if cell is None:
        return ""
    count = f" {cell['reports']}" if cell.get("reports", 0) > 1 else ""
    return CELLS.get(cell["outcome"], cell["outcome"]) + count


def case_table(results, tools):
    tools = [tool for tool in tools if any(tool.key in row for row in results["cases"].values())]
    if not tools:
        return
    titles = [(tool.title.split() + [""])[:2] for tool in tools]
    for line in range(2):
        yield f"{'' if line else 'planted bug':26}" + "".join(f"{title[line]:>9}" for title in titles)
    previous = True
    for case in CASES:
        if previous and not case.finding:
            yield "nothing to find in"
        previous = bool(case.finding)
        row = results["cases"].get(case.name, {})
        yield f"{case.name:26}" + "".join(f"{cell_text(row.get(tool.key)):>9}" for tool in tools)
    yield ""
    for title, value in totals():
        cells = [{case.name: results["cases"].get(case.name, {}).get(tool.key) for case in CASES} for tool in tools]
        yield f"{title:26}" + "".join(f"{value({k: v for k, v in column.items() if v}):>9}" for column in cells)


def missed(results):
    """The bugs that a peer finds and check mode does not."""
    def found(row, keys):
        return any(row[key]["outcome"] in ("line", "class") for key in keys)

    rows = {name: row for name, row in results["cases"].items() if "course_check" in row and row["class"] != "none"}
    names = [name for name, row in rows.items()
             if found(row, row.keys() - {"class", "course_check", "course_run"}) and not found(row, ["course_check"])]
    if rows:
        yield "found by a peer, but not by check mode: " + (", ".join(names) or "none")


def totals():
    """Rows below the table: (title, function of {case: cell})."""
    bugs = {case.name for case in CASES if case.finding}

    def count(condition, among_bugs=True):
        return lambda column: sum(condition(cell) for name, cell in column.items() if (name in bugs) == among_bugs)

    def found(cell):
        return cell["outcome"] in ("line", "class")

    return [
        ("bugs it could be given", count(lambda cell: cell["outcome"] != "inexpressible")),
        ("found", count(found)),
        ("found, at the right line", count(lambda cell: cell["outcome"] == "line")),
        ("found, yet exit status 0", count(lambda cell: found(cell) and cell["exit"] == 0)),
        ("most reports of one bug",
         lambda column: max((cell.get("reports", 0) for name, cell in column.items() if name in bugs), default=0)),
        ("false alarms", count(lambda cell: cell["outcome"] not in ("silent", "inexpressible"), among_bugs=False)),
    ]


def to_json(value, indent=0):
    """JSON whose short objects take one line each, so that a row of a table is a few lines."""
    line = json.dumps(value)
    if not isinstance(value, dict) or not value or (indent > 2 and len(line) + indent <= 118):
        return line
    pad = " " * (indent + 2)
    items = [f"{pad}{json.dumps(key)}: {to_json(item, indent + 2)}" for key, item in value.items()]
    return "{\n" + ",\n".join(items) + "\n" + " " * indent + "}"


def in_order(results, tools):
    """The same results, in the order of the tables."""
    keys = [tool.key for tool in tools]

    def row(cells):
        return {key: cells[key] for key in keys if key in cells}

    results["tools"] = row(results["tools"])
    results["speed"] = {name: row(results["speed"].get(name, {})) for name in WORKLOADS}
    classes = {case.name: case.finding for case in CASES}
    results["cases"] = {name: {"class": finding or "none", **row(results["cases"].get(name, {}))}
                        for name, finding in classes.items()}
    return results


def load(file):
    empty = {"command": "scripts/compare_simulators.py", "machine": {}, "timed": "", "workloads": {}, "outcomes": {},
             "also_right": {}, "tools": {}, "speed": {}, "cases": {}}
    return {**empty, **json.loads(file.read_text(encoding="utf-8"))} if file.exists() else empty


def main():
    parser = Parser(description=__doc__.split("\n")[0])
    parser.add_argument("--tools", help="keys as in the file, between commas; all if not given")
    parser.add_argument("--only", choices=("speed", "cases"), help="measure this alone")
    parser.add_argument("--course", default=str(ROOT / "course"), help="the course's command")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "docs" / "results" / "simulators.json")
    parser.add_argument("--show", action="store_true", help="print the tables of the file and measure nothing")
    arguments = parser.parse_args()

    tools = all_tools(arguments.course)
    wanted = arguments.tools.split(",") if arguments.tools else [tool.key for tool in tools]
    if unknown := set(wanted) - {tool.key for tool in tools}:
        parser.error(f"no tool {', '.join(sorted(unknown))}; there are {', '.join(tool.key for tool in tools)}")
    results = load(arguments.json)
    missing = False
    if not arguments.show:
        results.update({
            "machine": describe_machine(), "timed": TIMED, "outcomes": MEANING,
            "workloads": {name: workload[0] for name, workload in WORKLOADS.items()},
            "also_right": {finding: sorted(others) for finding, others in ALSO_RIGHT.items()}})
        for tool in tools:
            if tool.key not in wanted:
                continue
            try:
                measure(tool, results, (arguments.only,) if arguments.only else ("speed", "cases"))
            except CannotRun as reason:
                say("")
                print(f"{tool.title}: not available: {reason}", file=sys.stderr)
                missing = True
            arguments.json.write_text(to_json(in_order(results, tools)) + "\n", encoding="utf-8")
        say("")
    print("\n".join([*speed_table(results, tools), *busy(results), *speed_ratios(results), "", *case_table(results, tools),
                     *missed(results)]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
