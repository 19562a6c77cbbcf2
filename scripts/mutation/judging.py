"""Compiles mutants of a lesson's solution for the simulator and has the lesson's tests judge them."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("COURSE_BUILD_DIR", ROOT / "build")).resolve()
COMPILE_SECONDS = 120

class MachineError(Exception):
    pass


def run_limited(command, seconds):
    """(exit status or None if it ran too long, output); what it started ends with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, cwd=ROOT, env={**os.environ, "LC_ALL": "C"},
                                   start_new_session=True)  # fmt: skip
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        output.seek(0)
        return status, output.read().decode(errors="replace")


class Lesson:
    """Compiles kernels for a lesson and runs its tests, as `./course check` does, less all that takes time."""

    def __init__(self, name):
        self.name = name
        self.solution = ROOT / "solutions" / name / f"{name[3:]}.cu"
        status, output = run_limited([ROOT / "course", "build", name[:2], "--solution", "--backend", "cpu"], 1800)
        if status != 0:
            raise MachineError(f"The solution of lesson {name} does not build:\n{output}")
        toolchain = json.loads((BUILD / "toolchain.json").read_text(encoding="utf-8"))
        self.cpu, self.rewriter = toolchain["cpu"], toolchain["rewriter"]
        mine = next(lesson for lesson in toolchain["lessons"] if lesson["folder"] == name)
        self.entries, self.test = mine["entries"], mine["test"]
        self.limit = COMPILE_SECONDS

    def compile(self, source, folder, flavour):
        """The object file; None if the compiler refuses. The object names the solution as its source."""
        file, rewritten, kernel = folder / "mutant.cu", folder / f"{flavour}.cpp", folder / f"{flavour}.o"
        file.write_text(source, encoding="utf-8")
        includes = ["-I", "common", "-I", "lessons", "-I", f"lessons/{self.name}"]
        status, output = run_limited([self.rewriter, file, "-o", rewritten, *includes], COMPILE_SECONDS)
        if status != 0:
            return None
        text = rewritten.read_text(encoding="utf-8")
        rewritten.write_text(text.replace(str(file), str(self.solution.relative_to(ROOT))), encoding="utf-8")
        flags = self.cpu["flags" if flavour == "run" else "check_flags"]
        prelude = self.cpu["prelude" if flavour == "run" else "check_prelude"]
        # The prelude was precompiled with -Werror=vla, and would not be taken without it.
        first = [*(["-I", prelude] if prelude else []), "-Werror=vla", "-include", "simt_prelude.h", "-iquote",
                 self.solution.parent, "-I", "common/simt/shim"]
        status, output = run_limited([self.cpu["compiler"], *flags, *first, *includes, "-w", "-c", rewritten, "-o",
                                      kernel], COMPILE_SECONDS)  # fmt: skip
        if "No space left" in output:
            raise MachineError("The disk is full.")
        return kernel if status == 0 else None

    def link(self, kernel, flavour):
        library = kernel.with_suffix(".so")
        flags = [] if flavour == "run" else self.cpu["check_link_flags"]
        simt = pathlib.Path(self.cpu["library"])
        status, _ = run_limited([self.cpu["compiler"], *self.cpu["link_flags"], *flags, "-shared",
                                 "-Wl,--no-undefined", kernel, self.entries, simt, f"-Wl,-rpath,{simt.parent}", "-o",
                                 library], COMPILE_SECONDS)  # fmt: skip
        return library if status == 0 else None

    def run_tests(self, library, checked=None):
        """(status, output): status 0 if all pass, 1 if a case fails, None if they run too long."""
        command = [self.test, "--kernel", library, "--worker", self.cpu["worker"], "--backend", "cpu", "--abort"]
        return run_limited(command + (["--check-kernel", checked] if checked else []), self.limit)

    def judge(self, source, folder, on_code):
        """(verdict, by). `on_code` is given the hash of the code and says whether to go on."""
        kernel = self.compile(source, folder, "run")
        if kernel is None:
            return "does not compile", ""
        if not on_code(code_hash(kernel)):
            return "same code", ""
        library = self.link(kernel, "run")
        if library is None:
            return "does not compile", ""
        verdict = verdict_of(self.run_tests(library), "run mode")
        if verdict:
            return verdict
        checked = self.compile(source, folder, "check")
        checked = checked and self.link(checked, "check")
        if checked is None:
            return "not judged", "it does not compile for check mode"
        return verdict_of(self.run_tests(library, checked), "check mode") or ("survived", "")


def verdict_of(run, by):
    """(verdict, by) of a run of the tests; None if all cases passed."""
    status, output = run
    if status == 0:
        return None
    if status is None:
        return "killed", "time limit"
    return ("killed", by) if status == 1 else ("not judged", output[-300:])


def code_hash(kernel):
    """Of everything in the object but debug information."""
    stripped = kernel.with_suffix(".code")
    status, output = run_limited(["objcopy", "--strip-debug", kernel, stripped], COMPILE_SECONDS)
    if status != 0:
        raise MachineError(output)
    return hashlib.sha256(stripped.read_bytes()).hexdigest()


def check_solution(lesson, source, folder):
    """Sets the time limit of a mutant by what the solution needs. Returns the hash of the solution's code."""
    codes = []
    start = time.monotonic()
    verdict, why = lesson.judge(source, folder, lambda code: codes.append(code) or True)
    if verdict != "survived":
        raise MachineError(f"The solution of lesson {lesson.name} should pass its own tests, but: {verdict} {why}")
    lesson.limit = 60 + 10 * (time.monotonic() - start)
    return codes[0]


def judge_all(lesson, solution_code, mutants, jobs, scratch):
    """Judges the mutants and yields each as it is done; of those with the same code, the first alone is judged."""
    lock, first_with = threading.Lock(), {solution_code: None}
    stop = threading.Event()

    def judge(number, mutant):
        if stop.is_set():
            return mutant

        def on_code(code):
            mutant.code = code
            with lock:
                return first_with.setdefault(code, mutant) is mutant

        folder = scratch / str(number)
        folder.mkdir()
        try:
            for _ in range(2):  # a second time if the machine was at fault
                mutant.verdict, mutant.by = lesson.judge(mutant.source, folder, on_code)
                if mutant.verdict != "not judged":
                    break
        finally:
            shutil.rmtree(folder)
        return mutant

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        runs = [pool.submit(judge, number, mutant) for number, mutant in enumerate(mutants)]
        try:
            for run in concurrent.futures.as_completed(runs):
                yield run.result()
        finally:
            stop.set()
