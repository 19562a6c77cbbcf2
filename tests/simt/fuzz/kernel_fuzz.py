#!/usr/bin/env python3
"""Random kernels against the simulator: where check mode reports nothing, all schedules must agree bit for bit.

  kernel_fuzz.py --course ./course --count 1000 --seed 1 [--keep DIR] [--json FILE]

Each kernel is judged three times: by check mode, by run mode under six schedules, and by machine.py, which executes it
by the definition. A kernel on which they disagree is named with its seed, and its program is kept in --keep.
Exit status: 0 if nobody disagreed, 1 if somebody did, 2 if a program did not compile or run.
"""

import argparse
import collections
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

import grammar
import machine

SCHEDULES = [("forward", 0), ("reverse", 0)] + [("random", seed) for seed in (1, 2, 3, 4)]
JUDGED = {"race", "missing_syncwarp", "uninitialised_read", "out_of_bounds"}  # classes that the grammar can provoke
LIMIT_SECONDS = 300  # for one program of one batch

HOST = """
#include <cstdio>
#include <vector>

struct Arrays {
  int *in, *gi, *fresh, *counts, *out;
  float* gf;
  int total;

  explicit Arrays(int n) : total(n) {
    std::vector<int> in_values(n), gi_values(n);
    std::vector<float> gf_values(n);
    for (int i = 0; i < n; ++i) {
      in_values[i] = (37 * i + 11) % 101;
      gi_values[i] = (13 * i + 5) % 97;
      gf_values[i] = (7 * i + 3) % 89;
    }
    cudaMalloc(&in, 4 * n);
    cudaMalloc(&gi, 4 * n);
    cudaMalloc(&gf, 4 * n);
    cudaMalloc(&fresh, 4 * n);
    cudaMalloc(&counts, 4 * COUNTERS);
    cudaMalloc(&out, 4 * n);
    cudaMemcpy(in, in_values.data(), 4 * n, cudaMemcpyHostToDevice);
    cudaMemcpy(gi, gi_values.data(), 4 * n, cudaMemcpyHostToDevice);
    cudaMemcpy(gf, gf_values.data(), 4 * n, cudaMemcpyHostToDevice);
    cudaMemset(counts, 0, 4 * COUNTERS);
    cudaMemset(out, 0, 4 * n);
  }

  template <class T>
  void fold(unsigned long long& hash, const T* device, int n) const {
    std::vector<T> values(n);
    cudaMemcpy(values.data(), device, n * sizeof(T), cudaMemcpyDeviceToHost);
    for (T value : values) hash = (hash ^ (unsigned long long)(long long)value) * 1099511628211ull;
  }

  void finish(const char* kernel) const {
    unsigned long long hash = 14695981039346656037ull;
    fold(hash, gi, total);
    fold(hash, gf, total);
    fold(hash, counts, COUNTERS);
    fold(hash, out, total);
    std::printf("%s %llu %s\\n", kernel, hash, cudaGetErrorName(cudaGetLastError()));
    cudaFree(in);
    cudaFree(gi);
    cudaFree(gf);
    cudaFree(fresh);
    cudaFree(counts);
    cudaFree(out);
  }
};
""".replace("COUNTERS", str(grammar.COUNTERS))


class ProgramFailed(Exception):
    pass


def program_text(kernels):
    launches = ["int main() {"]
    for kernel in kernels:
        x, y = kernel.extent
        launches += ["  {", f"    const Arrays arrays({kernel.blocks * kernel.threads});",
                     f"    {kernel.name}<<<{kernel.blocks}, dim3({x}, {y})>>>(arrays.in, arrays.gi, arrays.gf, "
                     "arrays.fresh, arrays.counts, arrays.out);",
                     f'    arrays.finish("{kernel.name}");', "  }"]
    launches += ["  return 0;", "}"]
    bodies = [f"// Seed {kernel.seed}\n{kernel.cuda}" for kernel in kernels]
    return "\n".join(["#include <cuda_runtime.h>", HOST, *bodies, *launches]) + "\n"


class Simulator:
    """./course, asked to compile and run a program."""

    def __init__(self, course):
        self.course = course

    def call(self, words, file, environment):
        try:
            return subprocess.run([self.course, "simulate", *words, str(file)], capture_output=True, text=True,
                                  env=os.environ | environment, timeout=LIMIT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise ProgramFailed(f"{file}: still running after {LIMIT_SECONDS} s") from None

    def checksums(self, file, kernels, order, seed):
        done = self.call([], file, {"SIMT_ORDER": order, "SIMT_SEED": str(seed)})
        lines = [line.split() for line in done.stdout.splitlines()]
        if [line[0] for line in lines] != [kernel.name for kernel in kernels]:
            raise ProgramFailed(f"{file}, {order} {seed}: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        return {name: " ".join(rest) for name, *rest in lines}

    def findings(self, file):
        """The classes of the errors and warnings of each kernel."""
        report = pathlib.Path(file).with_suffix(".json")
        report.unlink(missing_ok=True)
        done = self.call(["--check"], file, {"SIMT_REPORT": str(report)})
        if not report.is_file():
            raise ProgramFailed(f"{file}, check mode: exit status {done.returncode}\n{done.stdout}{done.stderr}")
        found = collections.defaultdict(set)
        for finding in json.loads(report.read_text(encoding="utf-8"))["findings"]:
            if finding["severity"] != "note":
                found[finding["kernel"]].add(finding["class"])
        return found


class Statistics:
    def __init__(self):
        self.seconds = time.monotonic()
        self.counts = dict.fromkeys(
            ("kernels", "reported", "silent", "silent_differing", "reported_differing", "false_alarms", "missed",
             "wrong_values", "failed_programs"), 0)
        self.classes = collections.Counter()

    def add(self, **flags):
        for name, flag in flags.items():
            self.counts[name] += flag

    def status(self):
        wrong = any(self.counts[name] for name in ("silent_differing", "false_alarms", "missed", "wrong_values"))
        return 1 if wrong else 2 if self.counts["failed_programs"] else 0

    def text(self):
        c = self.counts
        return (f"{c['kernels']} kernels in {self.seconds:.0f} s: {c['reported']} reported, {c['silent']} silent\n"
                f"differing among the silent:   {c['silent_differing']} (must be 0)\n"
                f"differing among the reported: {c['reported_differing']}\n"
                f"by the definition: {c['false_alarms']} false alarms, {c['missed']} missed, "
                f"{c['wrong_values']} wrong values\n"
                f"programs that failed: {c['failed_programs']}\n"
                f"classes: {', '.join(f'{name} {count}' for name, count in sorted(self.classes.items())) or 'none'}")


class Fuzzer:
    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, folder
        self.simulator, self.statistics = Simulator(arguments.course), Statistics()

    def keep(self, file):
        if self.arguments.keep:
            folder = pathlib.Path(self.arguments.keep)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / file.name).write_text(file.read_text(encoding="utf-8"), encoding="utf-8")

    def judge(self, kernel, runs, reported):
        """`reported`: the classes that check mode named; what the definition names if check mode is left out."""
        verdict = machine.judge(kernel)
        if reported is None:
            reported = verdict.kinds
        named, results = reported & JUDGED, {run[kernel.name] for run in runs}
        differs = len(results) > 1
        flags = {
            "silent_differing": not named and differs,
            "false_alarms": bool(reported and not verdict.kinds),
            "missed": bool(verdict.kinds and not named),
            # Where the definition finds nothing wrong it also tells the result.
            "wrong_values": not verdict.kinds and results != {f"{verdict.checksum} cudaSuccess"},
        }
        self.statistics.add(kernels=1, reported=bool(named), silent=not named, **flags,
                            reported_differing=bool(named and differs))
        self.statistics.classes.update(reported)
        if not any(flags.values()):
            return True
        print(f"{kernel.name}, seed {kernel.seed}: {', '.join(name for name, flag in flags.items() if flag)}; "
              f"check mode: {', '.join(sorted(reported)) or 'nothing'}; "
              f"definition: {', '.join(sorted(verdict.kinds)) or 'nothing'}; {len(results)} results", flush=True)
        return False

    def batch(self, numbers):
        kernels = [grammar.random_kernel(f"kernel_{n}", f"{self.arguments.seed}:{n}") for n in numbers]
        file = self.folder / f"fuzz_{self.arguments.seed}_{numbers[0]}.cu"
        file.write_text(program_text(kernels), encoding="utf-8")
        try:
            reported = None if self.arguments.no_check else self.simulator.findings(file)
            runs = [self.simulator.checksums(file, kernels, *schedule) for schedule in SCHEDULES]
        except ProgramFailed as failure:
            self.statistics.add(failed_programs=1)
            print(failure, flush=True)
            self.keep(file)
            return
        verdicts = [self.judge(kernel, runs, None if reported is None else reported.get(kernel.name, set()))
                    for kernel in kernels]
        if not all(verdicts):
            self.keep(file)
        file.unlink()

    def run(self):
        first, end = self.arguments.first, self.arguments.first + self.arguments.count
        try:
            for start in range(first, end, self.arguments.batch):
                self.batch(range(start, min(start + self.arguments.batch, end)))
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
        self.statistics.seconds = time.monotonic() - self.statistics.seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--course", required=True, help="the course's command")
    parser.add_argument("--count", type=int, default=100, help="kernels to try")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first kernel: seed S:K is --seed S --first K")
    parser.add_argument("--batch", type=int, default=20, help="kernels in one program")
    parser.add_argument("--keep", help="folder for the programs on which somebody disagreed")
    parser.add_argument("--json", help="file for the statistics")
    parser.add_argument("--no-check", action="store_true", help="leave out check mode")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        fuzzer = Fuzzer(arguments, pathlib.Path(folder))
        fuzzer.run()
    statistics = fuzzer.statistics
    print(statistics.text())
    if arguments.json:
        document = {"date": datetime.date.today().isoformat(), "seed": arguments.seed, "first": arguments.first, "schedules": len(SCHEDULES),
                    "seconds": round(statistics.seconds), **statistics.counts, "classes": dict(statistics.classes)}
        pathlib.Path(arguments.json).write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    sys.exit(statistics.status())


if __name__ == "__main__":
    main()
