#!/usr/bin/env python3
"""Runs the programs of this folder, which print what PTX instructions do, and holds that against *.expected.

    programs_test.py --course PATH --table PATH [NAME...]     in the simulator, in run mode and in check mode
    programs_test.py --course PATH --update [NAME...]         writes *.expected from run mode
    programs_test.py --gpu [--nvcc PATH] [--arch native]      on a GPU

With --table (the program simt-ptx-table), every row of the table must occur in some program; those of matrices do in
tests/simt/programs/matrix_instructions.cu.
"""

import argparse
import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
OPCODE = re.compile(r"[a-z][a-z0-9_]*(?:(?:\.|::)[A-Za-z0-9_]+)*")


def run(command):
    return subprocess.run(command, cwd=PROGRAMS, capture_output=True, text=True, timeout=300, check=False)


def compare(source, how, result):
    expected = source.with_suffix(".expected").read_text(encoding="utf-8").splitlines()
    lines = list(difflib.unified_diff(expected, result.stdout.splitlines(), "expected", how, n=0, lineterm=""))
    if result.returncode != 0 or lines:
        print(f"{source.stem}, {how}: exit status {result.returncode}", *lines, result.stderr, sep="\n  ")
    return result.returncode == 0 and not lines


def simulate(course, source, update):
    result = run([course, "simulate", source.name])
    if update:
        source.with_suffix(".expected").write_text(result.stdout, encoding="utf-8")
    good = compare(source, "run mode", result)
    return compare(source, "check mode", run([course, "simulate", "--check", source.name])) and good


def run_on_gpu(nvcc, arch, source):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / source.stem
        built = run([nvcc, "-std=c++17", f"-arch={arch}", "-o", str(program), source.name])
        if built.returncode != 0:
            print(f"{source.stem}, nvcc:", built.stderr, sep="\n")
            return False
        return compare(source, "GPU", run([str(program)]))


def rows_left_out(table, sources):
    """The rows of the table that no program uses. Opcodes are what looks like one within a string."""
    words = set()
    for source in sources:
        for text in re.findall(r'"((?:[^"\\\n]|\\.)*)"', source.read_text(encoding="utf-8")):
            words.update(OPCODE.findall(text.replace("\\n", " ")))
    found = subprocess.run([table, "--rows"], input="\n".join(sorted(words)) + "\n", capture_output=True, text=True,
                           check=True).stdout.split()
    count = int(subprocess.run([table], capture_output=True, text=True, check=True).stdout.count('"syntax"'))
    return sorted(set(range(count)) - set(map(int, found)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--course", type=pathlib.Path)
    parser.add_argument("--table", type=pathlib.Path)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--gpu", action="store_true")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--arch", default="native")
    parser.add_argument("names", nargs="*", metavar="NAME")
    arguments = parser.parse_args()
    if not arguments.gpu and arguments.course is None:
        parser.error("--course or --gpu is needed")
    sources = sorted(PROGRAMS.glob("*.cu"))
    good = True
    if arguments.table is not None:
        others = [*sorted(PROGRAMS.glob("*.cuh")), PROGRAMS.parents[1] / "programs/matrix_instructions.cu"]
        left_out = rows_left_out(arguments.table.resolve(), sources + others)
        if left_out:
            print("no program uses the rows", *left_out, "of common/simt/ptx/instructions.inc, counted from 0")
            good = False
    if arguments.names:
        sources = [source for source in sources if source.stem in arguments.names]
    for source in sources:
        if arguments.gpu:
            good = run_on_gpu(arguments.nvcc, arguments.arch, source) and good
        else:
            good = simulate(arguments.course.resolve(), source, arguments.update) and good
    print(f"{len(sources)} programs: {'as expected' if good else 'see above'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
