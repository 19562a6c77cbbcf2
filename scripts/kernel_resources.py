#!/usr/bin/env python3
"""What nvcc makes of the kernels: registers, shared memory, spills, and the instructions of each main loop.

    scripts/kernel_resources.py [LESSON ...]           prints a table; without lessons, of all solutions
    scripts/kernel_resources.py 19 20 --arch sm_80     for one architecture; sm_80 and sm_90a unless given
    scripts/kernel_resources.py --json FILE            the same as JSON; with lessons, only theirs change in FILE
    scripts/kernel_resources.py 09 --file MINE.cu      of a file in place of lesson 09's solution

No GPU is needed. Needs nvcc; the instructions need nvdisasm as well, from the toolkit, from PATH, or from the Python
package nvidia-cuda-nvdisasm. Without it the counts are left out, and the script says so.

The main loop is the outermost loop with most matrix and float32 arithmetic. Its counts are of the code as the compiler has
unrolled it: the instructions of a loop within count once. `HMMA` are matrix instructions, `LDSM` and `LDS` reads of shared memory by matrix and by lane, `MUFU` special
functions such as ex2, `FFMA` multiply-adds, `LDGSTS` cp.async, `BAR` barriers of the block, and `local` accesses to
local memory, where spilled registers lie.

Exit status: 0 all is well; 1 a kernel does not compile or spills; 2 wrong usage; 3 there is no nvcc.
"""

import collections
import dataclasses
import datetime
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from options import Parser
from solution_page import page_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
ARCHITECTURES = ("sm_80", "sm_90a")
NO_NVCC = 3
COUNTED = ("HMMA", "LDSM", "LDS", "MUFU", "FFMA", "LDGSTS", "BAR", "local")

ENTRY = re.compile(r"Compiling entry function '(\w+)'.*?(\d+) bytes stack frame, (\d+) bytes spill stores, "
                   r"(\d+) bytes spill loads.*?Used (\d+) registers([^\n]*)", re.DOTALL)
SECTION = re.compile(r"^\.text\.(\w+):$")
LABEL = re.compile(r"^(\.L_x_\d+):$")
INSTRUCTION = re.compile(r"^\s+/\*[0-9a-f]{4,}\*/\s+(?:\{\s*)?(?:@!?U?P[T0-9]+\s+)?([A-Z][A-Z0-9_.]*)(.*)$")
TARGET = re.compile(r"`\((\.L_x_\d+)\)")


@dataclasses.dataclass
class Kernel:
    """One kernel for one architecture. `loop` is None where nothing was disassembled, {} where there is no loop."""
    lesson: int
    name: str
    architecture: str
    registers: int
    shared_bytes: int  # without dynamic shared memory
    stack_bytes: int
    spilled_bytes: int
    loop: dict | None


def class_of(opcode: str) -> str:
    """The column that an instruction counts in."""
    name = opcode.split(".")[0]
    return "local" if name in ("LDL", "STL") else "HMMA" if name in ("HMMA", "HGMMA") else name


def loops_of(lines: list) -> list:
    """The outermost loops of a kernel's disassembly, each a Counter of its instructions.

    A loop is what lies between a label and the last branch back to it: compilers lay loops out in one piece.
    """
    labels, loops, instructions = {}, {}, []
    for line in lines:
        if label := LABEL.match(line):
            labels[label[1]] = len(instructions)
        elif found := INSTRUCTION.match(line):
            if found[1].startswith("BRA") and (target := TARGET.search(found[2])) and target[1] in labels:
                loops[labels[target[1]]] = len(instructions)
            instructions.append(class_of(found[1]))
    outermost, after = [], 0
    for begin, end in sorted(loops.items()):
        if begin >= after and end > begin:  # a kernel ends in a branch to itself, which pads it
            outermost.append(collections.Counter(instructions[begin:end + 1]))
            after = end + 1
    return outermost


def main_loop(lines: list) -> dict:
    """The counts of the loop with most arithmetic; {} if there is no loop."""
    loops = loops_of(lines)
    if not loops:
        return {}
    busiest = max(loops, key=lambda loop: (loop["HMMA"], loop["FFMA"] + loop["FADD"] + loop["FMUL"], loop.total()))
    return {name: busiest[name] for name in COUNTED} | {"instructions": busiest.total()}


def disassembler() -> str | None:
    """nvdisasm of the toolkit, of PATH or of the Python package."""
    if found := shutil.which("nvdisasm"):
        return found
    folders = [pathlib.Path(shutil.which("nvcc") or "nvcc").resolve().parent]
    if spec := importlib.util.find_spec("nvidia"):
        folders += [path for place in spec.submodule_search_locations for path in pathlib.Path(place).glob("*/bin")]
    return next((str(folder / "nvdisasm") for folder in folders if os.access(folder / "nvdisasm", os.X_OK)), None)


def short_names(symbols: list) -> dict:
    """Names as a reader knows them: without namespaces, arguments and casts of template arguments."""
    named = subprocess.run(["c++filt", *symbols], check=True, capture_output=True, text=True).stdout.splitlines()
    names = {}
    for symbol, name in zip(symbols, named, strict=True):
        name = re.sub(r"\((?:unsigned )?[\w:]+\)(?=-?\d)", "", name.removeprefix("void "))
        depth = 0
        for i, letter in enumerate(name):  # the first parenthesis outside of template arguments
            depth += (letter == "<") - (letter == ">")
            if letter == "(" and depth == 0 and not name.startswith("(anonymous namespace)", i):
                name = name[:i]
                break
        names[symbol] = re.sub(r"(?:\w+|\(anonymous namespace\))::", "", name)
    return names


def compiled(source: pathlib.Path, lesson: pathlib.Path, architecture: str, nvdisasm, folder: pathlib.Path) -> list:
    """The kernels of a solution or a student's file."""
    code, cubin = folder / source.name, folder / "kernels.cubin"
    code.write_text(page_of(source.read_text(encoding="utf-8")), encoding="utf-8")
    virtual = architecture.replace("sm_", "compute_")
    includes = [f"-I{ROOT / 'common'}", f"-I{ROOT / 'lessons'}", f"-I{lesson}"]
    done = subprocess.run(["nvcc", "-std=c++20", "-O3", *includes, "-Xptxas", "-v", "--cubin", "-o", cubin,
                           f"-gencode=arch={virtual},code={architecture}", code], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"nvcc does not compile {source.relative_to(ROOT) if source.is_relative_to(ROOT) else source}:\n"
                         f"{done.stdout}{done.stderr}")
    texts = {}
    if nvdisasm is not None:
        listing = subprocess.run([nvdisasm, "-c", cubin], check=True, capture_output=True, text=True).stdout
        lines = None
        for line in listing.splitlines():
            if section := SECTION.match(line):
                lines = texts.setdefault(section[1], [])
            elif lines is not None:
                lines.append(line)
    entries = ENTRY.findall(done.stdout + done.stderr)
    names = short_names([entry[0] for entry in entries]) if entries else {}
    kernels = []
    for symbol, stack, stores, loads, registers, rest in entries:
        shared = re.search(r"(\d+) bytes smem", rest)
        kernels.append(Kernel(int(lesson.name[:2]), names[symbol], architecture, int(registers),
                              int(shared[1]) if shared else 0, int(stack), int(stores) + int(loads),
                              main_loop(texts[symbol]) if symbol in texts else None))
    return sorted(kernels, key=lambda kernel: kernel.name)


def table_of(kernels: list) -> str:
    """The table as text, a line a kernel."""
    head = ["lesson", "kernel", "for", "registers", "shared", "spilled", *COUNTED, "instructions"]
    rows = [head]
    for kernel in kernels:
        counts = ["" if kernel.loop is None else str(kernel.loop.get(name, 0)) for name in head[6:]]
        rows.append([f"{kernel.lesson:02}", kernel.name, kernel.architecture, str(kernel.registers),
                     str(kernel.shared_bytes), str(kernel.spilled_bytes), *counts])
    widths = [max(len(row[column]) for row in rows) for column in range(len(head))]
    return "".join("  ".join(cell.ljust(width) if column in (1, 2) else cell.rjust(width)
                             for column, (cell, width) in enumerate(zip(row, widths, strict=True))).rstrip() + "\n"
                   for row in rows)


def write_json(file: pathlib.Path, kernels: list, keep_others: bool) -> None:
    """Writes the kernels, each with its compiler and date; those of other lessons that stand there may stay."""
    release = subprocess.run(["nvcc", "--version"], check=True, capture_output=True, text=True).stdout
    origin = {"nvcc": re.search(r"V([\d.]+)", release)[1], "date": datetime.date.today().isoformat()}
    rows = [dataclasses.asdict(kernel) | origin for kernel in kernels]
    if keep_others and file.is_file():
        replaced = {kernel.lesson for kernel in kernels}
        rows += [row for row in json.loads(file.read_text(encoding="utf-8"))["kernels"] if row["lesson"] not in replaced]
    rows.sort(key=lambda row: (row["lesson"], row["architecture"]))
    lines = ",\n".join("  " + json.dumps(row) for row in rows)
    file.write_text(f'{{"command": "scripts/kernel_resources.py --json FILE", "kernels": [\n{lines}\n]}}\n', encoding="utf-8")


def sources_of(arguments, parser) -> list:
    """Pairs of a file and its lesson's folder."""
    lessons = {folder.name[:2]: folder for folder in sorted((ROOT / "lessons").glob("[0-9][0-9]_*"))}
    wanted = [number.zfill(2) for number in arguments.lessons] or list(lessons)
    if unknown := [number for number in wanted if number not in lessons]:
        parser.error(f"there is no lesson {unknown[0]}")
    if arguments.file is not None:
        if len(arguments.lessons) != 1:
            parser.error("--file needs one lesson, whose headers the file may include")
        if not arguments.file.is_file():
            parser.error(f"there is no file {arguments.file}")
        return [(arguments.file, lessons[wanted[0]])]
    return [(file, lessons[number]) for number in wanted
            for file in sorted((ROOT / "solutions" / lessons[number].name).glob("*.cu"))]


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0])
    parser.add_argument("lessons", nargs="*", metavar="LESSON")
    parser.add_argument("--arch", action="append", choices=ARCHITECTURES, help="only for this one")
    parser.add_argument("--file", type=pathlib.Path, help="a file in place of the lesson's solution")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="where the results go as JSON")
    arguments = parser.parse_args()
    sources = sources_of(arguments, parser)
    if shutil.which("nvcc") is None:
        print("nvcc is not on PATH: nothing was compiled", file=sys.stderr)
        return NO_NVCC
    nvdisasm = disassembler()
    if nvdisasm is None:
        print("nvdisasm was not found: no instructions are counted (pip install nvidia-cuda-nvdisasm)", file=sys.stderr)
    kernels = []
    with tempfile.TemporaryDirectory() as name:
        for source, lesson in sources:
            for architecture in arguments.arch or ARCHITECTURES:
                kernels += compiled(source, lesson, architecture, nvdisasm, pathlib.Path(name))
    print(table_of(kernels), end="")
    if arguments.json is not None:
        write_json(arguments.json, kernels, keep_others=bool(arguments.lessons))
    return 1 if any(kernel.spilled_bytes for kernel in kernels) else 0


if __name__ == "__main__":
    sys.exit(main())
