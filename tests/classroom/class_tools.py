"""Looks at a results folder of `./course grade` with nothing but what anybody can read there."""

import csv
import json
import pathlib
import re
import time

SLOWEST = re.compile(rb'<section id="slowest".*?</section>\n', re.DOTALL)
STUDENT_FILES = {"results.json", "junit.xml", "feedback.md"}
CLASS_FILES = {"grades.csv", "canvas.csv", "index.html", "run.json", "timings.csv"}


def shown(name):
    """A name as results have it, in one line."""
    return name.replace("\n", "\\n")


def in_a_cell(text):
    """A name as it stands in a table, where a spreadsheet must not compute it."""
    return "'" + shown(text) if text[0] in "=+-@" else shown(text)


def read_expected(submissions):
    """What scripts/make_class.py wrote beside the class."""
    return json.loads(pathlib.Path(f"{submissions}.expected.json").read_text(encoding="utf-8"))


def read_results(out):
    """results.json of each student, by the name that is shown."""
    students = {}
    for folder in sorted(path for path in out.iterdir() if path.is_dir() and not path.name.startswith(".")):
        results = json.loads((folder / "results.json").read_text(encoding="utf-8"))
        students[results["extra_data"]["student"]] = {**results, "folder": folder}
    return students


def read_grades(out):
    """The rows of grades.csv, by student and lesson."""
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        return {(row["student"], row["lesson"]): row for row in csv.DictReader(file, strict=True)}


def words_about(results, lesson):
    """All that the student is told about a lesson."""
    return "\n".join(test.get("output", "") for test in results["tests"] if lesson in test["tags"])


def wrong_points(row, expected, late_share):
    """Why the points are not as expected; nothing if they are."""
    points, most = float(row["points"]), float(row["max_points"])
    if row["late"] == "yes":
        most *= late_share
    fits = {"all points": abs(points - most) < 0.005, "some points lost": points < most - 0.005, "none": points == 0}
    return "" if fits[expected["points"]] else f"{points:g} of {most:g} points, expected: {expected['points']}"


def wrong_verdicts(out, expected, lessons=None, late_share=1):
    """A sentence for each verdict that is not as make_class.py says; `lessons` are the folders of those graded."""
    results, grades = read_results(out), read_grades(out)
    names = [shown(student["name"]) for student in expected["students"]]
    problems = [f"{name}: is in the results, and not in the class" for name in sorted(set(results) - set(names))]
    for student, name in zip(expected["students"], names, strict=True):
        if name not in results:
            problems.append(f"{name}: has no results")
            continue
        if results[name]["extra_data"]["id"] != student["id"]:
            problems.append(f"{name}: the id is {results[name]['extra_data']['id']}, expected: {student['id']}")
        for lesson in lessons or expected["lessons"]:
            want, row = student["lessons"][lesson], grades[in_a_cell(student["name"]), lesson]
            about = f"{name} {lesson} ({want['kind']} {want['source']})"
            if row["status"] != want["standing"]:
                problems.append(f"{about}: is {row['status']}, expected: {want['standing']}")
            elif why := wrong_points(row, want, late_share):
                problems.append(f"{about}: {why}")
            if row["late"] != ("yes" if want["late"] else "no"):
                problems.append(f"{about}: late is {row['late']}")
            words = words_about(results[name], lesson)
            problems += [f'{about}: nothing says "{says}"' for says in want["says"] if says not in words]
    return problems


def results_tree(out):
    """Bytes of all results by path, but for what tells how long something took, and for the grader's own folder."""
    tree = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if name.startswith(".grading") or path.is_dir() or name == "timings.csv":
            continue
        content = path.read_bytes()
        tree[name] = SLOWEST.sub(b"", content) if name == "index.html" else content
    return tree


def differences(tree, other):
    """Names of what two trees do not have alike."""
    return sorted(name for name in set(tree) | set(other) if tree.get(name) != other.get(name))


def verdicts(out):
    """The verdicts that are kept: by the name of the file, what it says, the file judged, and which version it is."""
    found = {}
    for path in (out / ".grading/verdicts").glob("*.json"):
        status = path.stat()
        judged = path.with_suffix(".cu").read_bytes()
        found[path.stem] = {"says": json.loads(path.read_text(encoding="utf-8")), "judged": judged,
                            "version": (status.st_ino, status.st_mtime_ns)}  # fmt: skip
    return found


# ---- processes ----


def read_process(pid):
    """(parent, when it was started), or nothing if it has ended."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text.rsplit(")", 1)[1].split()
    return None if fields[0] in "ZX" else (int(fields[1]), fields[19])


def processes():
    found = {int(path.name): read_process(path.name) for path in pathlib.Path("/proc").glob("[0-9]*")}
    return {pid: known for pid, known in found.items() if known}


def descendants(pid):
    """Those of a process, as (pid, when it was started), so that no later process is taken for one."""
    everybody, found, waiting = processes(), set(), [pid]
    while waiting:
        parent = waiting.pop()
        for child, (its_parent, started) in everybody.items():
            if its_parent == parent and (child, started) not in found:
                found.add((child, started))
                waiting.append(child)
    return found


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def left_over(known, folder, seconds):
    """Processes that are among `known` or name the folder, once so much time has passed: begin and end of each."""
    time.sleep(seconds)
    lines = [command_line(pid) for pid, (_, started) in processes().items()
             if (pid, started) in known or f"{folder}/" in command_line(pid)]  # fmt: skip
    return [line if len(line) < 200 else f"{line[:100]} ... {line[-100:]}" for line in lines]
