#!/usr/bin/env python3
"""What the kernels of blocks.cu compute, as a profile counts it, against what their loops say.

    blocks_test.py COURSE
"""

import json
import pathlib
import platform
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(__file__).resolve().parent / "blocks.cu"
# By kernel: instructions in float, and those of the special-function units.
EXPECTED = {
    "read_first": (10, 0),
    "no_access": (10, 0),
    "long_block": (10000, 0),
    "own_memory": (10, 0),
    "checked_index<kThreads>": (10, 0),
    "apart": (10, 0),
    "either": (0, 10),
    "by_ptx": (5 + 5 + 2 * 5 + 1, 0),
}


def main():
    if platform.machine() != "x86_64":
        print("skipped: arithmetic is counted on x86-64 alone")
        return 0
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([sys.argv[1], "simulate", "--profile", "--report", report, PROGRAM],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(done.stderr)
            return 1
        launches = json.loads(report.read_text(encoding="utf-8"))["launches"]
    counted = {launch["kernel"]: (launch["total"]["float_instructions"], launch["total"]["special_instructions"])
               for launch in launches}
    for kernel in sorted(EXPECTED.keys() | counted.keys()):
        if counted.get(kernel) != EXPECTED.get(kernel):
            print(f"{kernel}: counted {counted.get(kernel)}, expected {EXPECTED.get(kernel)}")
    return 0 if counted == EXPECTED else 1


if __name__ == "__main__":
    sys.exit(main())
