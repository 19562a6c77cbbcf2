#!/usr/bin/env python3
"""Measures how long `./course grade` takes for a made-up class in the simulator, and checks every verdict on the way.

    scripts/measure_class.py [--students 200] [--lessons 1-18] [--jobs N] [--hostile FRACTION] [--seed N]
                             [--course PROGRAM] [--work FOLDER] [--output FILE]

First the whole class in one go; then how the time grows: a quarter, a half and all of the students with the second and
third lesson, and a quarter of them with one job and with two. Each is a run of its own, which knows nothing of the
others. (For the first lesson most hostile files are written, and those that never end would be most of the time.)

A run that is ended goes on where it was when the same command is given again; its seconds are added up, and "starts"
says how often it was begun. FOLDER, `class` in the program's build folder if not named, holds what is needed for that;
remove it to measure anew. Best on a machine that has nothing else to do.

Exit status: 0; 1 if a verdict is not as scripts/make_class.py says, which are then listed; 2 for wrong usage; 3 if the
grader fails.
"""

import collections
import ctypes
import datetime
import hashlib
import json
import os
import pathlib
import platform
import re
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/classroom"))
import class_tools  # noqa: E402
import make_class  # noqa: E402
from options import Parser  # noqa: E402

COMMAND = "scripts/measure_class.py"
HEARTBEAT = 2  # seconds between notes of the time that has passed
LATE_PERCENT = 50
PR_SET_PDEATHSIG = 1


def describe_machine():
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return {"cpu": model[1] if model else platform.machine(), "cores": os.cpu_count(),
            "memory_gib": round(memory / 2**30)}  # fmt: skip


def end_with_parent():
    """Runs in the child: a measurement that is killed leaves no grader behind."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def write_json(path, value):
    """Appears whole or not at all."""
    temporary = path.with_suffix(".new")
    temporary.write_text(json.dumps(value, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    temporary.replace(path)


def fail(status, sentence):
    print(f"measure_class: {sentence}", file=sys.stderr)
    sys.exit(status)


class Run:
    """One class, graded in a folder of its own, and what is known of it so far."""

    def __init__(self, arguments, students, lessons, jobs):
        self.arguments, self.jobs = arguments, jobs
        self.settings = {"students": students, "lessons": lessons}
        name = f"{students}_students_{lessons.replace(',', '_')}_jobs_{jobs}"
        self.folder = arguments.work / name
        self.submissions, self.results = self.folder / "class", self.folder / "results"
        self.state_file = self.folder / "state.json"
        self.state = {"seconds": 0.0, "starts": 0, "done": False}

    def prepare(self):
        """Makes the class, unless that has been done."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.state_file.exists():
            self.state = json.loads(self.state_file.read_text(encoding="utf-8"))
            return
        for left in (self.submissions, pathlib.Path(f"{self.submissions}.expected.json")):
            if left.exists():  # of a measurement that was ended here
                subprocess.run(["rm", "-rf", "--", str(left)], check=True)
        words = [self.submissions, "--students", self.settings["students"], "--lessons", self.settings["lessons"],
                 "--seed", self.arguments.seed, "--hostile", self.arguments.hostile]  # fmt: skip
        if make_class.main([str(word) for word in words]) != 0:
            sys.exit(3)
        write_json(self.state_file, self.state)

    def grade(self):
        """Grades what is left, and counts the seconds."""
        if self.state["done"]:
            return
        expected = class_tools.read_expected(self.submissions)
        words = [self.arguments.course, "grade", self.submissions, "--out", self.results, "--backend", "cpu", "--jobs",
                 self.jobs, "--deadline", expected["deadline"], "--late", LATE_PERCENT]  # fmt: skip
        words += ["--as-root"] if os.geteuid() == 0 else []
        before, begin = self.state["seconds"], time.monotonic()
        self.state["starts"] += 1
        self.state.setdefault("load", round(os.getloadavg()[0], 1))  # of the minute before
        with open(self.folder / "output.txt", "ab") as output:
            process = subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL, stdout=output,
                                       stderr=subprocess.STDOUT, preexec_fn=end_with_parent)  # fmt: skip
            while True:
                try:
                    status = process.wait(timeout=HEARTBEAT)
                    break
                except subprocess.TimeoutExpired:
                    self.note(before + time.monotonic() - begin)
        self.note(before + time.monotonic() - begin)
        if status != 0:
            fail(3, f"the grader ended with status {status}; what it said is in {self.folder / 'output.txt'}")
        self.state["done"] = True
        self.note(self.state["seconds"])

    def note(self, seconds):
        self.state["seconds"] = seconds
        write_json(self.state_file, self.state)

    def wrong_verdicts(self):
        expected = class_tools.read_expected(self.submissions)
        return class_tools.wrong_verdicts(self.results, expected, late_share=LATE_PERCENT / 100)

    def measured(self):
        """What the file of results says about the run. A worked solution that nobody hands in is judged, too."""
        expected = class_tools.read_expected(self.submissions)
        seconds = self.state["seconds"]
        return {**self.settings, "jobs": self.jobs, "files": expected["files"],
                "different_files": expected["different_files"], "seconds": round(seconds, 1),
                "seconds_per_file": round(seconds / expected["files"], 3),
                "seconds_per_different_file": round(seconds / expected["different_files"], 3),
                "starts": self.state["starts"], "load_before": self.state["load"]}  # fmt: skip

    def standings(self):
        rows = class_tools.read_grades(self.results).values()
        return dict(sorted(collections.Counter(row["status"] for row in rows).items()))


def few_lessons(selection):
    """The second and third lesson of "1-3,7", in the same form; all if there are no more than two."""
    numbers = sorted({number for part in selection.split(",") for number in
                      range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)})  # fmt: skip
    return ",".join(map(str, numbers[1:3] if len(numbers) > 2 else numbers))


def same_measurement(arguments):
    """Refuses a work folder that is of another measurement or another program."""
    words = {name: str(value) for name, value in sorted(vars(arguments).items()) if name not in ("output", "work")}
    words["program"] = hashlib.sha256(arguments.course.read_bytes()).hexdigest()
    file = arguments.work / "measurement.json"
    if not file.exists():
        arguments.work.mkdir(parents=True, exist_ok=True)
        write_json(file, words)
    elif json.loads(file.read_text(encoding="utf-8")) != words:
        fail(2, f"{arguments.work} is of another measurement; remove it, or name another folder with --work")


def measure(arguments):
    """All runs, each but once. Returns the results and the wrong verdicts."""
    runs = {}

    def run(students, lessons, jobs):
        key = (students, lessons, jobs)
        if key not in runs:
            runs[key] = Run(arguments, *key)
            runs[key].prepare()
            print(f"students: {students}, lessons: {lessons}, jobs: {jobs}", flush=True)
            runs[key].grade()
            print(f"  {runs[key].state['seconds']:.0f} s", flush=True)
        return runs[key]

    few = few_lessons(arguments.lessons)
    quarter, half = max(1, arguments.students // 4), max(1, arguments.students // 2)
    whole = run(arguments.students, arguments.lessons, arguments.jobs)
    growth = [run(students, few, arguments.jobs) for students in (quarter, half, arguments.students)]
    jobs = [run(quarter, few, count) for count in (1, 2)]
    wrong = [sentence for one in runs.values() for sentence in one.wrong_verdicts()]
    results = {
        "command": COMMAND,
        "date": f"{datetime.date.today():%Y-%m-%d}",
        "machine": describe_machine(),
        "isolation": "namespaces",
        "verdicts": sum(sum(one.standings().values()) for one in runs.values()),
        "wrong_verdicts": len(wrong),
        "class": {**whole.measured(), "standings": whole.standings()},
        "growth": [one.measured() for one in growth],
        "jobs": [one.measured() for one in jobs],
    }
    return results, wrong


def parse():
    build = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build"))
    parser = Parser(description=__doc__.split("\n")[0])
    parser.add_argument("--students", type=int, default=200)
    parser.add_argument("--lessons", default="1-18", help="as in 1-3,7")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--hostile", type=float, default=0.1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--course", type=pathlib.Path, default=build / "bin/course", help="the built program")
    parser.add_argument("--work", type=pathlib.Path, help="where the classes and their results are")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs/results/class_cpu.json")
    arguments = parser.parse_args()
    if arguments.students < 4 or arguments.jobs < 1:
        parser.error("--students is at least 4, --jobs at least 1")
    if not re.fullmatch(r"\d+(-\d+)?(,\d+(-\d+)?)*", arguments.lessons):
        parser.error(f"--lessons {arguments.lessons}: write numbers and ranges, as in 1-3,7")
    if not arguments.course.is_file():
        parser.error(f"there is no program {arguments.course}; build it, or name it with --course")
    arguments.course = arguments.course.resolve()
    arguments.work = (arguments.work or arguments.course.parent.parent / "class").absolute()
    return arguments


def main():
    arguments = parse()
    same_measurement(arguments)
    results, wrong = measure(arguments)
    if wrong:
        print("\n".join(wrong))
        return 1
    write_json(arguments.output, results)
    print(f"{arguments.output} is written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
