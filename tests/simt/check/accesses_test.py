#!/usr/bin/env python3
"""What the kernels of accesses.cu touch, as a profile counts it, against what their loops say; and that check mode
launches no kernel whose accesses it could not tell from others, and ends one that prints what it cannot follow: see
far_code.cu and broken_conversion.cu.

    accesses_test.py COURSE
"""

import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent
# By kernel: requests to memory.
EXPECTED = {
    "bits_by_active_masks": {"global_store": 1},
    "copies_by_types": {"global_load": 4 + 1 + 2, "shared_store": 2, "shared_load": 1 + 2, "global_store": 1},
    "flags": {"global_store": 3},
    "four_floats": {"global_atomic": 1},
    "heap": {"global_load": 1 + 10, "global_store": 1 + 10 + 1},
    "heap_of_earlier_launch": {"global_load": 1 + 10, "global_store": 1},
    "builtins_behind_atomic": {"shared_atomic": 1, "shared_load": 10, "shared_store": 10, "global_store": 1},
    "builtins_behind_comparison": {"shared_store": 1, "shared_atomic": 10, "shared_load": 10, "global_store": 1},
    "expected_in_shared_memory": {"shared_store": 1 + 10 + 10, "shared_atomic": 10, "shared_load": 10 + 1, "global_store": 1},
    "builtins_behind_loads": {"shared_store": 1, "shared_load": 20, "global_store": 1},
    "no_lines": {"global_load": 10, "global_store": 1},
    "own_stack": {"global_atomic": 2},
}
# By kernel and path in its counts.
NUMBERS = {
    ("bits_by_active_masks", "votes"): 2 * 10,  # two groups of lanes, ten times
    ("flags", "signals"): 2,
    ("four_floats", "global_atomic", "bytes_asked"): 32 * 16,
    ("four_floats", "global_atomic", "sectors"): 16,
}


def ends(course, program, words):
    done = subprocess.run([course, "simulate", "--check", FOLDER / program], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode == 1 and words in " ".join(done.stdout.split()):
        return True
    print(f"{program}: exit status {done.returncode}\n{done.stdout}")
    return False


def main():
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([sys.argv[1], "simulate", "--profile", "--report", report, FOLDER / "accesses.cu"],
                              stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode != 0:
            print(done.stderr)
            return 1
        launches = json.loads(report.read_text(encoding="utf-8"))["launches"]
    counted = {launch["kernel"]: {kind: counts["requests"] for kind, counts in launch["total"].items()
                                  if isinstance(counts, dict) and counts["requests"] > 0}
               for launch in launches}
    wrong = False
    for (kernel, *path), expected in NUMBERS.items():
        number = next(launch["total"] for launch in launches if launch["kernel"] == kernel)
        for name in path:
            number = number[name]
        if number != expected:
            print(f"{kernel}: {' '.join(path)} counted {number}, expected {expected}")
            wrong = True
    for kernel in sorted(EXPECTED.keys() | counted.keys()):
        if counted.get(kernel) != EXPECTED.get(kernel):
            print(f"{kernel}: counted {counted.get(kernel)}, expected {EXPECTED.get(kernel)}")
    right = counted == EXPECTED and not wrong
    right = ends(sys.argv[1], "far_code.cu", "of which check mode can watch") and right
    right = ends(sys.argv[1], "broken_conversion.cu", "broken_conversion.cu:10: error: illegal_instruction") and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
