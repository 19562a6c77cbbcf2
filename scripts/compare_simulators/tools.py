"""The tools that are compared: how each is run, and how what it prints is read."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
from typing import NamedTuple

import numpy as np

import workloads
from cases import KERNELS

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CASE_SECONDS = 60
SPEED_SECONDS = 3600


class Report(NamedTuple):
    finding: str  # in the course's words
    lines: frozenset  # of the kernel's file that it names


class CannotRun(Exception):
    """Says in one sentence what is missing."""


def run(command, seconds):
    """Exit status (None: it took too long), stdout, stderr."""
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", timeout=seconds)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr


def python_with(module, package):
    """A Python that can import the module: this one, or Debian's, which Debian's packages serve."""
    for python in (sys.executable, "/usr/bin/python3"):
        if pathlib.Path(python).exists() and run([python, "-c", f"import {module}"], 60)[0] == 0:
            return python
    raise CannotRun(f"Python's {module} is missing (Debian: apt-get install {package})")


def first_line(command):
    _, out, err = run(command, CASE_SECONDS)
    return next(iter((out or err).strip().splitlines()), "unknown")


class Tool:
    key = title = suffix = options = ""
    repetitions = 1
    looks_for_bugs = True

    def prepare(self):
        """Raises CannotRun, or returns the version."""
        raise NotImplementedError

    def speed_command(self, workload, result_file):
        raise NotImplementedError

    def case_command(self, case):
        raise NotImplementedError

    def reports(self, case, out, err):
        raise NotImplementedError

    def measure(self, workload):
        """{seconds, cpu_seconds, runs, largest_error} of one workload."""
        with tempfile.TemporaryDirectory() as folder:
            result_file = pathlib.Path(folder) / "result"
            status, out, err = run(self.speed_command(workload, result_file), SPEED_SECONDS)
            line = re.search(r"^kernel: ([\d.]+) s, ([\d.]+) s of CPU time, best of (\d+)$", out, re.MULTILINE)
            if status != 0 or not line:
                said = (err or out).strip().splitlines() or ["nothing"]
                raise CannotRun(f"{workload} ended with {status} and said: {said[-1]}")
            result = np.fromfile(result_file, np.float32)
        if not workloads.is_right(workload, result):
            raise CannotRun(f"{workload} computed wrong values")
        return {
            "seconds": float(line.group(1)),
            "cpu_seconds": float(line.group(2)),
            "runs": int(line.group(3)),
            "largest_error": float(f"{workloads.largest_error(workload, result):.2g}"),
        }

    def try_case(self, case):
        """(exit status, reports) of one case; the status is None for a kernel that would not end."""
        status, out, err = run(self.case_command(case), CASE_SECONDS)
        return status, self.reports(case, out, err)


class Course(Tool):
    """This project's simulator."""

    suffix = ".cu"
    # What run mode says of a kernel that crashed -> class.
    FAULTS = {
        "a null pointer": "null_pointer",
        "no memory of the device": "illegal_address",
        "host memory": "host_pointer_in_kernel",
        "divided an integer": "division_by_zero",
        "rule of warp operations": "illegal_mask",
        "waits for ever": "deadlock",
        "outside of an allocation": "out_of_bounds",
        "was refused": "unchecked_error",
    }

    def __init__(self, command, check):
        self.command = command
        self.check = check
        self.key, self.title = ("course_check", "course check") if check else ("course_run", "course run")
        self.options = "--check" if check else ""
        self.repetitions = 3 if check else 20

    def simulate(self, file, *arguments):
        return [self.command, "simulate", *self.options.split(), str(file), *(("--", *arguments) if arguments else ())]

    def prepare(self):
        status, out, err = run([self.command, "simulate", "--help"], SPEED_SECONDS)
        if status != 0:
            raise CannotRun((err or out or f"{self.command} does not run").strip().split("\n")[0])
        if self.check and "--check" not in out:
            raise CannotRun("./course simulate has no --check yet")
        revision = first_line(["git", "describe", "--always", "--dirty"])
        return f"revision {revision}, {first_line(['c++', '--version'])}"

    def speed_command(self, workload, result_file):
        return self.simulate(KERNELS / "speed" / f"{workload}.cu", str(self.repetitions), str(result_file))

    def case_command(self, case):
        return self.simulate(case.source(".cu"))

    def try_case(self, case):
        status, out, err = run(self.case_command(case), CASE_SECONDS)
        if status in (2, 3):  # of ./course itself; the kernels' programs return 0 or 1
            raise CannotRun((err or out or f"{self.command} does not run").strip().split("\n")[0])
        return status, self.reports(case, out, err)

    def reports(self, case, out, err):
        name = re.escape(case.name + ".cu")
        found = []
        for line in err.splitlines():
            lines = frozenset(int(number) for number in re.findall(name + r":(\d+)", line))
            if finding := re.match(r"\S+:\d+: (?:error|warning|note): (\w+):", line):
                found.append(Report(finding.group(1), lines))
            elif line.startswith("simulator: "):
                kinds = [kind for words, kind in self.FAULTS.items() if words in line]
                found.append(Report(kinds[0] if kinds else "leak" if "never freed" in line else "other", lines))
        return found


class Numba(Tool):
    key, title, suffix = "numba", "numba", ".py"
    EXCEPTIONS = {"IndexError": "out_of_bounds", "ZeroDivisionError": "division_by_zero", "TypeError": "null_pointer"}

    def prepare(self):
        self.python = python_with("numba", "python3-numba")
        return first_line([self.python, str(HERE / "numba_host.py"), "version"])

    def host(self, *arguments):
        return [self.python, "-B", str(HERE / "numba_host.py"), *map(str, arguments)]

    def speed_command(self, workload, result_file):
        return self.host("speed", KERNELS / "speed" / f"{workload}.py", workload, self.repetitions, result_file)

    def case_command(self, case):
        return self.host("case", case.source(".py"), case.blocks, case.threads, case.n, *case.options)

    def reports(self, case, out, err):
        """An exception in a thread ends the run: one report at most."""
        error = re.findall(r"^(\w+): ", err, re.MULTILINE)
        if "Traceback" not in err or not error:
            return []
        lines = re.findall(re.escape(case.name) + r'\.py", line (\d+)', err)
        return [Report(self.EXCEPTIONS.get(error[-1], error[-1]), frozenset(map(int, lines[-1:])))]


class Pocl(Tool):
    """Compiles kernels for the CPU. It checks nothing; what it shows is how a bug passes by, or crashes."""

    key, title, suffix = "pocl", "PoCL", ".cl"
    repetitions = 20
    wrapper = ()

    def prepare(self):
        self.python = python_with("pyopencl", "python3-pyopencl")
        status, out, err = run(self.host("version"), CASE_SECONDS)
        if status != 0:
            raise CannotRun("PoCL is missing (Debian: apt-get install pocl-opencl-icd)")
        return out.strip()

    def host(self, *arguments):
        return [*self.wrapper, self.python, "-B", str(HERE / "opencl_host.py"), *map(str, arguments)]

    def speed_command(self, workload, result_file):
        return self.host("speed", KERNELS / "speed" / f"{workload}.cl", workload, self.repetitions, result_file)

    def case_command(self, case):
        return self.host("case", case.source(".cl"), case.blocks, case.threads, case.n, *case.options)

    def reports(self, case, out, err):
        return []


class Oclgrind(Pocl):
    HEADS = [
        (r"(Read-write|Write-write) data race", "race"),
        (r"Uninitialized ", "uninitialised_read"),
        (r"Invalid (read|write) ", "out_of_bounds"),
        (r"Index \(\d+\) exceeds static array size", "out_of_bounds"),
        (r"Invalid memory (load|store)", "misaligned"),
        (r"Work-group divergence", "divergent_barrier"),
        (r"Oclgrind - OpenCL runtime error", "unchecked_error"),
        (r"OCLGRIND FATAL ERROR", "oclgrind_failed"),
    ]
    repetitions = 3

    def __init__(self, key, title, options, looks_for_bugs=True):
        self.key, self.title, self.options, self.looks_for_bugs = key, title, options, looks_for_bugs

    def prepare(self):
        if not shutil.which("oclgrind"):
            raise CannotRun("oclgrind is missing (Debian: apt-get install oclgrind)")
        self.wrapper = ("oclgrind", *self.options.split())
        self.python = python_with("pyopencl", "python3-pyopencl")
        return first_line(["oclgrind", "--version"])

    def reports(self, case, out, err):
        found = []
        for block in re.split(r"\n(?=[A-Z])", "\n" + out + "\n" + err):
            lines = frozenset(map(int, re.findall(r"At line (\d+)", block)))
            found += [Report(finding, lines) for head, finding in self.HEADS if re.match(head, block)]
        return found


def all_tools(course):
    """In the order of the table's columns."""
    return [
        Course(course, check=True),
        Course(course, check=False),
        Oclgrind("oclgrind_O3", "Oclgrind -O3",
                 "--build-options -O3 --num-threads 2 --data-races --uninitialized --check-api"),
        Oclgrind("oclgrind_O0", "Oclgrind -O0",
                 "--build-options -O0 --num-threads 2 --data-races --uninitialized --check-api --uniform-writes"),
        Oclgrind("oclgrind_plain", "Oclgrind, no checks", "--build-options -O3 --num-threads 2",
                 looks_for_bugs=False),
        Numba(),
        Pocl(),
    ]
