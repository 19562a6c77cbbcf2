#!/usr/bin/env python3
"""Counts the hostile submissions that the naive grader lets pass.

    naive_grader_test.py TOOLCHAIN [--list]

TOOLCHAIN is the build's toolchain.json. Each submission of tests/grading/hostile that deserves no full points is linked
with docs/examples/naive_grader and run, without any sandbox; those marked `naive: no` are too dangerous for that.
--list also names the submissions that pass. If docs/grading.md states the count, it must be this one.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import resource
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

import edits  # noqa: E402

PROGRAM = ROOT / "docs/examples/naive_grader/naive_grader.cpp"
SOLUTION = ROOT / "solutions/01_vector_add/vector_add.cu"
PAGE = ROOT / "docs/grading.md"
COUNT = re.compile(r"fooled (\d+) of (\d+) \((\d+) not run\)")

JOBS = 2
COMPILE_SECONDS, RUN_SECONDS = 60, 20
FOLDERS = ["-I", "common/simt/shim", "-I", "common", "-I", "lessons", "-I", "lessons/01_vector_add"]


class Naive:
    """The naive grader, compiled once; submissions are compiled as cheaply as possible."""

    def __init__(self, toolchain, scratch):
        tools = json.loads(pathlib.Path(toolchain).read_text(encoding="utf-8"))
        cpu, self.rewriter = tools["cpu"], tools["rewriter"]
        self.compiler, self.library = cpu["compiler"], pathlib.Path(cpu["library"])
        self.scratch = scratch
        self.flags = ["-std=c++20", "-O0", "-fPIC", "-w", *(f for f in cpu["flags"] if f.startswith("-march"))]
        prelude = scratch / "simt_prelude.h.gch"
        self.call([self.compiler, *self.flags, "-x", "c++-header", *FOLDERS, "common/simt/shim/simt_prelude.h", "-o",
                   prelude])  # fmt: skip
        self.call([self.compiler, *self.flags, *FOLDERS, "-c", PROGRAM, "-o", scratch / "grader.o"])

    def call(self, words, check=True):
        done = subprocess.run([str(word) for word in words], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=COMPILE_SECONDS, check=False)  # fmt: skip
        if check and done.returncode != 0:
            sys.exit(f"{words[0]} failed:\n{done.stderr.decode(errors='replace')}")
        return done.returncode == 0

    def build(self, file, program):
        """False if the submission does not compile."""
        rewritten = program.with_suffix(".cpp")
        quoted = ["-iquote", file.parent]
        return (self.call([self.rewriter, file, "-o", rewritten, *FOLDERS[2:]], check=False)
                and self.call([self.compiler, *self.flags, "-I", self.scratch, "-include", "simt_prelude.h", *quoted,
                               *FOLDERS, "-Wl,-rpath," + str(self.library.parent), rewritten, self.scratch / "grader.o",
                               self.library, "-o", program], check=False))  # fmt: skip

    def judge(self, file):
        """Whether the submission passes: (by the exit status, by the last line printed)."""
        folder = self.scratch / file.name
        folder.mkdir()
        source = folder / f"{file.name}.cu"
        source.write_text(file.text, encoding="utf-8")
        program = folder / "grader"
        if not self.build(source, program):
            return False, False
        with open(folder / "printed", "w+b") as printed:
            process = subprocess.Popen([str(program)], cwd=folder, stdin=subprocess.DEVNULL, stdout=printed,
                                       stderr=subprocess.DEVNULL, start_new_session=True, env={"PATH": os.defpath},
                                       preexec_fn=limit)  # fmt: skip
            try:
                status = process.wait(RUN_SECONDS)
            except subprocess.TimeoutExpired:
                status = -1
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            printed.seek(0)
            lines = printed.read().decode(errors="replace").split()
        program.unlink()
        return status == 0, bool(lines) and lines[-1] == "PASS"


def limit():
    """What a submission may use even here."""
    for what, most in ((resource.RLIMIT_CORE, 0), (resource.RLIMIT_CPU, RUN_SECONDS)):
        resource.setrlimit(what, (most, most))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("toolchain")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse_args()

    unearned = [file for file in edits.hostile_files() if file.one("verdict") in ("fail", "refused")]
    run = [file for file in unearned if file.one("naive") != "no"]
    with tempfile.TemporaryDirectory(prefix="course-naive-") as scratch:
        naive = Naive(arguments.toolchain, pathlib.Path(scratch))
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            honest, *verdicts = pool.map(naive.judge, [edits.read_hostile(SOLUTION), *run])

    by_status = [file.name for file, verdict in zip(run, verdicts) if verdict[0]]
    by_line = [file.name for file, verdict in zip(run, verdicts) if verdict[1]]
    left_out = len(unearned) - len(run)
    print(f"by the exit status: fooled {len(by_status)} of {len(unearned)} ({left_out} not run)")
    print(f"by the last line: fooled {len(by_line)} of {len(unearned)} ({left_out} not run)")
    if arguments.list:
        print("exit status:", *by_status, "\nlast line:", *by_line)

    problems = []
    if honest != (True, True):
        problems.append("the worked solution does not pass, so that the counts say nothing")
    if "nothing" in by_status:
        problems.append("even a submission that computes nothing passes, so that the counts say nothing")
    for said in COUNT.findall(PAGE.read_text(encoding="utf-8")):
        if tuple(map(int, said)) != (len(by_status), len(unearned), left_out):
            problems.append("docs/grading.md states another count for the exit status")
    print("\n".join(problems), end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
