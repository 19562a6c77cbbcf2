"""The process that has the GPU: reads cases as lines of JSON, answers each with a line.

What a kernel throws, or a fault of the GPU, ends it; the process that asked starts another one for the next case.
"""

import json
import os
import sys
import time

from . import library
from .cases import Case


def say(stream, message: dict):
    stream.write(json.dumps(message) + "\n")
    stream.flush()


def lacking() -> str:
    """What this machine lacks for the comparison; empty if nothing."""
    try:
        import torch
    except ImportError as error:
        return f"PyTorch cannot be imported by {sys.executable}: {error}. Install it (pip install torch), or start " \
               "the script with the Python that has it."
    version = tuple(int(part) for part in torch.__version__.split(".")[:2])
    if version < (2, 5):
        return f"PyTorch 2.5 or newer is needed, and this is {torch.__version__}."
    if not torch.cuda.is_available():
        return "PyTorch finds no GPU. See that nvidia-smi lists one, and that this PyTorch was built for CUDA " \
               f"(torch.version.cuda is {torch.version.cuda})."
    return ""


def serve(requests, answers):
    """Answers until there are no more requests. The first request names the libraries: {"libraries": {"9": path}}."""
    why = lacking()
    if why:
        say(answers, {"lacks": why})
        return
    from . import baselines, judge, measure

    first = json.loads(requests.readline())
    baselines.strict_float32()
    machine = measure.machine()
    stopwatch = measure.Stopwatch()
    say(answers, {"machine": machine, "ceilings": measure.ceilings(stopwatch) if first["ceilings"] else None})
    monitor = measure.Monitor(machine["device"])
    loaded = {}
    for line in requests:
        request = json.loads(line)
        case = Case(**request["case"])
        start = time.monotonic()
        try:
            if case.lesson not in loaded:
                loaded[case.lesson] = library.Library(first["libraries"][str(case.lesson)])
            ways = {"naive": baselines.naive, "efficient": baselines.sdpa("efficient")} if request["errors"] else None
            found = judge.compare(case, loaded[case.lesson], None if request["errors"] else stopwatch, ways,
                                  first["triton"])
        except library.LibraryError as error:
            found = {**case.as_json(), "ours": {"failed": str(error)}, "torch": {}}
        found["gpu_state"] = monitor.since(start)
        say(answers, found)
    monitor.stop()


def main():
    # Answers go where stdout was; what PyTorch or a kernel prints goes to stderr.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    serve(sys.stdin, answers)
