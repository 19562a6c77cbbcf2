#!/usr/bin/env python3
"""Tries the programs of somebody's repository in the simulator, and prints what becomes of each.

    survey.py --course PATH [-I FOLDER]... [--check] [--seconds N] [--json FILE] FOLDER

A program is a folder with exactly one file that defines main(), and with a .cu file or a header of CUDA's included; all
.cu, .cpp, .cc and .c files of that folder are compiled together. Of a folder with several such files, each .cu file is
a program of its own. A program runs in its own folder.

For each program, the furthest that it came:

    refused   it needs a part of CUDA that the simulator leaves out, and is told so in one sentence
    compile   it does not compile, and the first error is shown
    time      it had not ended after N seconds
    run       its exit status is not 0, or it says that it failed
    ended     it ended well and says nothing about its results
    verified  it ended well and says that its results are right (PASS, OK, correct, success ...)

With --check, those that ended well run once more in check mode, and those without a finding are silent. The last lines
count programs. The exit status is 0 unless no program was found.
"""

import argparse
import collections
import dataclasses
import json
import pathlib
import re
import subprocess
import sys

SOURCES = (".cu", ".cpp", ".cc", ".c")
MAIN = re.compile(r"^\s*(?:extern\s+\"C\"\s+)?(?:int|void)\s+main\s*\(", re.MULTILINE)
CUDA = re.compile(r"^\s*#\s*include\s*[<\"](?:cu|nvrtc)", re.MULTILINE)
REFUSED = re.compile(r"which the simulator does not have|the simulator does not run that")
GOOD = re.compile(r"\b(pass(?:ed|es)?|ok|okay|success(?:ful(?:ly)?)?|correct|verified|match(?:es)?|validated)\b",
                  re.IGNORECASE)
BAD = re.compile(r"\b(fail(?:ed|s)?|failures?|mismatch(?:es)?|incorrect|wrong|not correct)\b", re.IGNORECASE)
NO_FAILURE = re.compile(r"\b(?:0|no) +(?:fail\w*|mismatch\w*|errors?)\b|\bfail\w*\s*[:=]\s*0\b", re.IGNORECASE)
FINDING = re.compile(r": (?:error|warning|note): (\w+): ")
STAGES = ("refused", "compile", "time", "run", "ended", "verified")


@dataclasses.dataclass
class Result:
    program: str
    stage: str
    obstacle: str = ""  # the first of them, in the words of whoever met it
    silent: bool = False
    findings: list = dataclasses.field(default_factory=list)


def contains(file, pattern):
    return pattern.search(file.read_text(encoding="utf-8", errors="replace")) is not None


def find_programs(root):
    """The source files of each program, the one with main() first."""
    by_folder = collections.defaultdict(list)
    for file in sorted(root.rglob("*")):
        if file.suffix in SOURCES and file.is_file():
            by_folder[file.parent].append(file)
    for files in by_folder.values():
        mains = [file for file in files if contains(file, MAIN)]
        if len(mains) == 1 and any(file.suffix == ".cu" or contains(file, CUDA) for file in files):
            yield [mains[0]] + [file for file in files if file != mains[0]]
        elif len(mains) > 1:
            yield from ([file] for file in mains if file.suffix == ".cu")


def first_line(text, pattern=None):
    """The first line, or the first one with the pattern; lines that a report has broken are whole again."""
    text = re.sub(r"\n(?=[a-z])", " ", text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if pattern is not None:
        lines = [line for line in lines if pattern.search(line)] or lines
    return lines[0][:300] if lines else ""


def says_it_is_right(output):
    return GOOD.search(output) is not None and BAD.search(NO_FAILURE.sub("", output)) is None


def classify(status, stdout, stderr, compiled):
    """The stage, and the obstacle to the next one."""
    if not compiled:
        if REFUSED.search(" ".join(stderr.split())):
            return "refused", " ".join(stderr.split())[:300]
        return "compile", " ".join(stderr.split())[:300]
    if status != 0:
        return "run", first_line(stderr, re.compile("simulator:")) or f"exit status {status}"
    if BAD.search(NO_FAILURE.sub("", stdout)):
        return "run", first_line(stdout, BAD)
    return ("verified", "") if says_it_is_right(stdout) else ("ended", "says nothing about its results")


def simulate(course, files, folders, options, seconds):
    """Exit status, stdout, stderr; a status of None means that time was up."""
    command = [str(course), "simulate", "--seconds", str(seconds), *options, *(file.name for file in files)]
    # As build files have it: the program's own folder, and the headers beside a folder of sources.
    own = [files[0].parent, *(files[0].parent.parent / name for name in ("inc", "include"))]
    for folder in [*folders, *filter(pathlib.Path.is_dir, own)]:
        command += ["-I", str(folder)]
    try:
        done = subprocess.run(command, cwd=files[0].parent, stdin=subprocess.DEVNULL, capture_output=True,
                              encoding="utf-8", errors="replace", timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        return None, "", ""
    return done.returncode, done.stdout, done.stderr


def attempt(course, root, files, arguments):
    name = str(files[0].parent.relative_to(root) / files[0].name)
    status, stdout, stderr = simulate(course, files, arguments.include, [], arguments.seconds)
    if status is None:
        return Result(name, "time", f"more than {arguments.seconds} s")
    # Nothing of a program that does not compile reaches stdout, and what stderr says begins with a place, or with the
    # name of what the simulator lacks. A long place goes over several lines.
    message = re.sub(r"^course: .*\n", "", stderr).replace("\n", "")
    compiled = not (status == 1 and stdout == "" and
                    (re.match(r"\S+?:\d+:", message) or REFUSED.search(" ".join(stderr.split()))))
    result = Result(name, *classify(status, stdout, stderr, compiled))
    if arguments.check and result.stage in ("ended", "verified"):
        status, _, stderr = simulate(course, files, arguments.include, ["--check"], 4 * arguments.seconds)
        result.findings = FINDING.findall(stderr) if status is not None else ["time"]
        result.silent = not result.findings
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--course", required=True, type=pathlib.Path, help="the program `course`, or the script")
    parser.add_argument("-I", dest="include", action="append", default=[], type=pathlib.Path, metavar="FOLDER",
                        help="folder with headers, for every program")
    parser.add_argument("--check", action="store_true", help="run them in check mode, too")
    parser.add_argument("--seconds", type=float, default=120, help="for compiling and running one program, and for one of its kernels")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the results there as well")
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    root, course = arguments.folder.resolve(), arguments.course.resolve()
    arguments.include = [folder.resolve() for folder in arguments.include]
    if not root.is_dir():
        parser.error(f"there is no folder {root}")

    results = []
    for files in find_programs(root):
        result = attempt(course, root, files, arguments)
        results.append(result)
        mark = " silent" if result.silent else " " + ", ".join(result.findings) if result.findings else ""
        print(f"{result.stage:9}{result.program}{mark}{': ' + result.obstacle if result.obstacle else ''}", flush=True)
    if not results:
        print(f"{root} has no program: no folder with a .cu file and one main()")
        return 1
    count = collections.Counter(result.stage for result in results)
    print(f"\n{len(results)} programs: " + ", ".join(f"{count[stage]} {stage}" for stage in STAGES))
    if arguments.check:
        well = [result for result in results if result.stage in ("ended", "verified")]
        print(f"{sum(result.silent for result in well)} of {len(well)} that ended well are silent in check mode")
    if arguments.json:
        arguments.json.write_text(json.dumps([dataclasses.asdict(result) for result in results], indent=1) + "\n",
                                  encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
