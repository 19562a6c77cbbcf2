#!/usr/bin/env python3
"""Keeps who may include whom.

Every quoted include must name a file of the project that the including file may know; the table below is the rule.
CUDA headers belong to kernels, to the simulator and to the workers. Prints one line for each breach.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SOURCES = {".cpp", ".hpp", ".h", ".cu", ".cuh"}

# Area of the including file -> areas it may include beside its own. The first pattern that fits a path is its area.
AREAS = [
    (r"common/tensor/", "tensor", {}),
    (r"common/reference/", "reference", {"tensor"}),
    (r"common/device/", "device", {"tensor"}),
    (r"common/simt/(findings|profile|trace|classes)\.hpp$", "findings", {}),
    (r"common/simt/report/", "report", {"findings", "simt"}),
    (r"common/simt/", "simt", {"findings", "report"}),
    # The rooms of the grader, lowest first: an arrow leads down.
    (r"common/grading/base/", "base", {}),
    (r"common/grading/project/", "project", {"base"}),
    (r"common/grading/facts/", "facts", {"base", "tensor", "findings", "report"}),
    (r"common/grading/confinement/", "confinement", {"project", "base"}),
    (r"common/grading/build/", "build", {"confinement", "project", "base"}),
    (r"common/grading/sanitizer/", "sanitizer", {"facts", "project", "base", "findings"}),
    (r"common/grading/calls/worker/", "worker",
     {"calls", "confinement", "facts", "base", "tensor", "simt", "findings", "report"}),
    (r"common/grading/calls/", "calls", {"sanitizer", "confinement", "facts", "base", "tensor"}),
    (r"common/grading/testing/", "testing", {"calls", "confinement", "sanitizer", "facts", "base", "tensor"}),
    (r"common/grading/judging/", "judging", {"sanitizer", "build", "facts", "project", "base", "findings"}),
    (r"common/export/", "bridge", {"simt"}),
    (r"common/classroom/", "classroom",
     {"judging", "build", "confinement", "facts", "project", "base", "tensor", "findings"}),
    (r"common/cli/staff/", "staff commands",
     {"cli", "classroom", "judging", "build", "confinement", "facts", "project", "base", "tensor", "findings", "report"}),
    (r"common/cli/", "cli",
     {"judging", "build", "confinement", "facts", "project", "base", "tensor", "findings", "report"}),
    (r"lessons/[^/]+/[^/]+\.hpp$", "contract", {"tensor"}),
    (r"(lessons|solutions)/[^/]+/", "kernel", {"contract", "device"}),
    (r"tests/lessons/(alternatives|tradeoffs)/", "kernel", {"contract", "device"}),
    (r"tests/lessons/bench/", "kernel", {"contract", "device", "tensor"}),
    (r"tests/lessons/attention/[^/]+_test\.cpp$", "unit test of lesson tests",
     {"attention tests", "testing", "facts", "reference", "tensor", "support"}),
    (r"tests/lessons/attention/", "attention tests", {"drawn tests", "testing", "facts", "reference", "tensor"}),
    (r"tests/lessons/drawn/", "drawn tests", {"tensor"}),
    (r"tests/lessons/products/", "product tests", {"drawn tests", "testing", "tensor"}),
    (r"tests/lessons/(\d\d_\w+/)?[^/]+$", "lesson test", {"attention tests", "drawn tests", "product tests", "contract", "testing", "facts", "reference", "tensor"}),
    (r"tests/support/", "support", {"facts"}),
    (r"tests/", "unit test", {"tensor", "reference", "device", "simt", "findings", "report", "base", "project", "facts", "confinement",
                             "build", "sanitizer", "calls", "testing", "judging", "worker", "classroom",
                             "cli", "staff commands", "support", "steps"}),
    (r"docs/steps/", "steps", {"reference", "tensor"}),
    (r"docs/", "example", {"device", "tensor"}),
]
KNOWS_CUDA = {"device", "simt", "worker", "bridge", "kernel", "unit test", "example"}
CUDA_HEADER = re.compile(r"^(cuda|cooperative_groups|mma\.h|nv/|cub/|device_launch_parameters|vector_types)")
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def area_of(path):
    for pattern, name, may_include in AREAS:
        if re.match(pattern, path):
            return name, set(may_include)
    return None, set()


def lesson_of(path):
    """The lesson whose folder or test the path belongs to, e.g. 01_vector_add."""
    match = re.search(r"(?:^|/)(\d\d_\w+?)(?:_test\.cpp|_bench\.cu|/|$)", path)
    return match.group(1) if match else None


def resolve(file, name):
    """The project's file that the include means, or None."""
    folders = [file.parent, ROOT / "common", ROOT / "lessons", ROOT / "tests", ROOT / "tests" / "lessons", ROOT / "tests" / "grading",
               ROOT / "docs"]
    if lesson := lesson_of(str(file.relative_to(ROOT))):
        folders.append(ROOT / "lessons" / lesson)
    for folder in folders:
        candidate = (folder / name).resolve()
        if candidate.is_file() and candidate.is_relative_to(ROOT):
            return candidate.relative_to(ROOT).as_posix()
    return None


def breaches(file):
    path = file.relative_to(ROOT).as_posix()
    area, may_include = area_of(path)
    if area is None:
        return
    for bracket, name in INCLUDE.findall(file.read_text(encoding="utf-8")):
        if bracket == "<":
            if CUDA_HEADER.match(name) and area not in KNOWS_CUDA:
                yield f"{path}: <{name}> is a CUDA header; a {area} file does without CUDA"
            continue
        target = resolve(file, name)
        if target is None:
            yield f'{path}: "{name}" is no file of the project; headers from elsewhere take <>'
            continue
        target_area, _ = area_of(target)
        if target.endswith(".cu"):
            yield f"{path}: nothing may include a kernel, and {target} is one"
        elif target_area != area and target_area not in may_include:
            known = ", ".join(sorted(may_include | {area}))
            yield f"{path}: {target} is {target_area}; a {area} file may include {known}"
        elif target_area == "contract" and lesson_of(target) != lesson_of(path):
            yield f"{path}: {target} is another lesson's contract"


def main():
    found = []
    for folder in ("common", "lessons", "solutions", "tests", "docs"):
        for file in sorted((ROOT / folder).rglob("*")):
            # What the tests of rewriter and messages feed to them is data, not code of the project.
            if file.suffix in SOURCES and not re.search(r"/(compile_errors|corpus|hostile|standin|data)/", file.as_posix()):
                found.extend(breaches(file))
    print("\n".join(found) or "every include is allowed")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
