#!/usr/bin/env python3
"""Grades a small class on a GPU, in which every other file breaks something, and records what became of each.

    scripts/measure_gpu_class.py COURSE OUT.json

Right files stand before, between and behind kernels that touch foreign memory, never end, take all memory or reset the
device, and host code that attacks. The class is graded once with each isolation that works here. Exit status: 1 if a
right file lost a point or one of the others did not.
"""

import csv
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import edits  # noqa: E402  beside this script
from options import check_words  # noqa: E402
from solution_page import page_of  # noqa: E402

ROOT = edits.ROOT
LESSON = "01_vector_add"
SOLUTION = ROOT / "solutions" / LESSON / "vector_add.cu"
BREAKERS = [
    ("mutants", "host_pointers_to_the_kernel"), ("mutants", "endless_loop"), ("hostile", "device_memory_bomb"),
    ("hostile", "reset_device"), ("hostile", "spin_in_kernel"), ("hostile", "spin_in_entry"),
    ("hostile", "fork_by_syscall"), ("hostile", "fork_by_libc"), ("hostile", "socket_by_syscall"),
    ("hostile", "read_parent_memory"), ("hostile", "exit_by_syscall"),
]  # fmt: skip


def text_of(folder, name):
    if folder == "hostile":
        [file] = [file for file in edits.hostile_files() if file.name == name]
        return file.text
    mutant = edits.read_edits(ROOT / "tests/lessons/mutants" / LESSON / f"{name}.mutant")
    return edits.with_edits(mutant, page_of(SOLUTION.read_text(encoding="utf-8")))


def write_class(folder):
    """A right file, then one that breaks something, and so on. Each right file is another one by its last line."""
    right = SOLUTION.read_text(encoding="utf-8")
    files = []
    for i, (kind, name) in enumerate(BREAKERS):
        files += [(f"{2 * i:02} right", f"{right}// {i}\n"), (f"{2 * i + 1:02} {name}", text_of(kind, name))]
    files.append((f"{2 * len(BREAKERS):02} right", right))
    for student, text in files:
        (folder / student).mkdir(parents=True)
        (folder / student / f"{LESSON}.cu").write_text(text, encoding="utf-8")


def nvidia(query):
    words = ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")[0].strip()


def grade(course, submissions, out, isolation):
    command = [course, "grade", submissions, "--out", out, "--backend", "gpu", "--isolation", isolation]
    start = time.monotonic()
    run = subprocess.run(command + (["--as-root"] if os.geteuid() == 0 else []), capture_output=True, text=True,
                         check=False)  # fmt: skip
    if run.returncode != 0:
        return {"isolation": isolation, "exit_status": run.returncode, "said": " ".join((run.stdout + run.stderr).split())}
    with open(out / "timings.csv", encoding="utf-8", newline="") as file:
        seconds = {row["student"]: float(row["seconds"]) for row in csv.DictReader(file)}
    with open(out / "grades.csv", encoding="utf-8", newline="") as file:
        files = [{"file": row["student"], "status": row["status"], "points": float(row["points"] or 0),
                  "max_points": float(row["max_points"]), "seconds": seconds.get(row["student"], 0)}
                 for row in csv.DictReader(file)]  # fmt: skip
    return {"isolation": isolation, "exit_status": 0, "wall_seconds": round(time.monotonic() - start, 1), "files": files}


def main():
    check_words()
    if len(sys.argv) != 3:
        print(__doc__.split("\n\n")[1].strip(), file=sys.stderr)
        return 2
    course, target = sys.argv[1], pathlib.Path(sys.argv[2])
    with tempfile.TemporaryDirectory(prefix="course-gpu-class-") as scratch:
        folder = pathlib.Path(scratch)
        folder.chmod(0o755)  # without namespaces, the user nobody has to get there
        write_class(folder / "class")
        runs = [grade(course, folder / "class", folder / isolation, isolation) for isolation in ("namespaces", "process")]
        left = nvidia("memory.used")
    result = {"gpu": nvidia("name"), "driver": nvidia("driver_version"), "date": datetime.date.today().isoformat(),
              "command": "scripts/measure_gpu_class.py build/bin/course OUT.json", "memory_used_afterwards": left,
              "runs": runs}  # fmt: skip
    target.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    wrong = [f"{run['isolation']}: {file['file']} has {file['points']:g} points" for run in runs
             for file in run.get("files", [])
             if file["file"].endswith(" right") != (file["points"] == file["max_points"])]  # fmt: skip
    for line in wrong:
        print(line)
    print(f"{sum(len(run.get('files', [])) for run in runs)} verdicts, {len(wrong)} wrong")
    return 1 if wrong or any(run["exit_status"] != 0 for run in runs) else 0


if __name__ == "__main__":
    sys.exit(main())
