#!/usr/bin/env python3
"""What check mode costs for each access that it traces: a tiled matmul and a thread-per-row attention kernel.

    scripts/benchmark_check.py [--course ./course] [--json docs/results/check_cost.json]

Runs tests/simt/peers/speed in check mode, with all checks and counters on. A kernel's time is the best of its runs, from
the launch until it has ended; its accesses are those that the counters saw, 4 bytes each. Best on an idle machine.
"""

import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys
import tempfile

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
KERNELS = {"matmul": 5, "attention": 40}  # and how often each runs
KINDS = [f"{memory}_{kind}" for memory in ("global", "shared") for kind in ("load", "store", "atomic")]


def processor():
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def measure(course, kernel, repetitions):
    source = ROOT / "tests" / "simt" / "peers" / "speed" / f"{kernel}.cu"
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        done = subprocess.run([course, "simulate", "--check", "--report", report, source, "--", str(repetitions)],
                              cwd=ROOT, capture_output=True, text=True)
        match = re.search(r"kernel: ([\d.]+) s, ([\d.]+) s of CPU time", done.stdout)
        if done.returncode != 0 or not match:
            sys.exit(f"{source.name} failed in check mode:\n{done.stdout}{done.stderr}")
        launch = json.loads(report.read_text())["launches"][0]
    accesses = sum(launch["total"][kind]["bytes_asked"] for kind in KINDS) // 4
    seconds = float(match[1])
    return {"accesses": accesses, "seconds": seconds, "cpu_seconds": float(match[2]),
            "ns_per_access": round(seconds / accesses * 1e9, 2), "best_of": repetitions}


def main():
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--course", default=str(ROOT / "course"), help="the course's command")
    parser.add_argument("--json", type=pathlib.Path, help="file for the result")
    options = parser.parse_args()
    results = {kernel: measure(options.course, kernel, count) for kernel, count in KERNELS.items()}
    for kernel, result in results.items():
        print(f"{kernel:10} {result['accesses']:>11,} accesses {result['seconds']:9.4f} s "
              f"{result['ns_per_access']:6.1f} ns each")
    if options.json:
        record = {"command": "scripts/benchmark_check.py --json docs/results/check_cost.json",
                  "date": datetime.date.today().isoformat(), "processor": processor(), "kernels": results}
        options.json.write_text(json.dumps(record, indent=2) + "\n")


if __name__ == "__main__":
    main()
