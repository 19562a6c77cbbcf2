#!/usr/bin/env python3
"""Holds claims of FlashAttention notes against results of scripts/compare_torch.py; prints a table in Markdown.

    40-50 times as fast as naive PyTorch
    100-200 times less memory than naive PyTorch
    memory linear in the length of the sequence

Usage: scripts/check_claims.py [RESULT.json ...]     (default: docs/results/compare_torch_forward_h100.json)

Each row is a forward pass of one FlashAttention lesson at one shape, in float32. "above" and "below" are the two sides
of the interval. Exit status: 0, whatever holds; 2 if a file cannot be read or has no such results.
"""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import update_tables  # noqa: E402
from options import check_words  # noqa: E402
from torch_comparison import tables  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parent.parent
DEFAULT = ROOT / "docs" / "results" / "compare_torch_forward_h100.json"
SPEED, MEMORY = (40.0, 50.0), (100.0, 200.0)
FIRST = 8  # lesson 07 is naive attention itself
LINEAR_WITHIN = 0.01  # of the bytes a token at the shortest length


def shown(file: str) -> str:
    """A file's path as one would type it in the project's folder."""
    whole = pathlib.Path(file).absolute()
    return whole.relative_to(ROOT).as_posix() if whole.is_relative_to(ROOT) else file


class ClaimError(Exception):
    """Results that cannot be read; the message says why."""


def held(value: float, interval: tuple[float, float]) -> str:
    """Whether a factor lies in the interval, in a word."""
    low, high = interval
    return "below" if value < low else "above" if value > high else "holds"


def factor(value: float) -> str:
    """A factor with three digits; more only before the point."""
    return f"{value:,.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def compared(found: dict, way: str, member: str) -> float | None:
    """PyTorch's number divided by the kernel's; None where one is missing."""
    theirs, ours = tables.way_of(found, way).get(member), found["ours"].get(member)
    return theirs / ours if theirs and ours and "failed" not in found["ours"] else None


def shape_of(found: dict) -> str:
    heads = f"{found['H']}" if found["H"] == found["H_kv"] else f"{found['H']}:{found['H_kv']}"
    return f"{found['B']} × {heads} × {found['N']:,} × {found['D']}"


def forward_cases(results: list[dict]) -> list[dict]:
    """Forward passes in one order of axes, lesson by lesson from short to long."""
    found = [case for result in results for case in result.get("cases", [])
             if case["direction"] == "forward" and case["layout"] == "bhnd" and not case["dropout"] and
             case["lesson"] >= FIRST]
    return sorted(found, key=lambda case: (case["lesson"], case["D"], case["N"], not case["causal"],
                                           case["window"] or 0))


def row(found: dict) -> list[str]:
    """Cells of one shape: by naive PyTorch each claim's factor and verdict, then the factors by SDPA's best way."""
    cells = [f"{found['lesson']:02}", shape_of(found), tables.case_of(found).mask()]
    reason = found["ours"].get("failed") or found["torch"].get("naive", {}).get("failed")
    for member, interval in (("milliseconds", SPEED), ("extra_bytes", MEMORY)):
        value = compared(found, "naive", member)
        cells += [factor(value), held(value, interval)] if value else [f"({reason or 'not measured'})", "-"]
    for member in ("milliseconds", "extra_bytes"):
        value = compared(found, "efficient", member)
        cells.append(factor(value) if value else "-")
    return cells


def markdown(header: list[str], rows: list[list[str]]) -> str:
    """A table whose columns of numbers are aligned at the right."""
    return update_tables.markdown(header, rows).rstrip("\n")


def bytes_a_token(cases: list[dict], source) -> list[tuple[int, float]]:
    """Pairs of length and memory for each token of the batch, in order of length."""
    return sorted((case["N"], source(case)["extra_bytes"] / (case["B"] * case["N"])) for case in cases
                  if "extra_bytes" in source(case) and "failed" not in source(case))


def linear_rows(cases: list[dict]) -> list[list[str]]:
    """For each lesson, mask and dim, how the memory for a token grows from the shortest to the longest sequence."""
    groups = {}
    for case in cases:
        key = (case["lesson"], case["D"], case["causal"], case["window"], case["sinks"])
        groups.setdefault(key, []).append(case)
    rows = []
    for (lesson, D, *_), group in groups.items():
        cells = [f"{lesson:02}", f"{D}", tables.case_of(group[0]).mask()]
        for source in (lambda case: case["ours"], lambda case: case["torch"].get("naive", {})):
            points = bytes_a_token(group, source)
            if len(points) < 2:
                cells += ["-", "-"]
                continue
            (short, first), (long, last) = points[0], points[-1]
            linear = abs(last / first - 1) <= LINEAR_WITHIN
            cells += [f"{factor(last / first)} from {short:,} to {long:,}", "linear" if linear else "not linear"]
        rows.append(cells)
    return rows


def summary(cases: list[dict]) -> list[str]:
    """A sentence for each claim: where it holds, and the range of factors."""
    lines = []
    for claim, member, interval in (("40-50 times as fast as naive PyTorch", "milliseconds", SPEED),
                                    ("100-200 times less memory than naive PyTorch", "extra_bytes", MEMORY)):
        values = [value for case in cases if (value := compared(case, "naive", member))]
        if values:
            count = sum(held(value, interval) == "holds" for value in values)
            lines.append(f"- {claim}: in {count} of {len(values)} cases; the factors are {factor(min(values))} to "
                         f"{factor(max(values))}.")
    rows = linear_rows(cases)
    judged = [cells[4] for cells in rows if cells[4] != "-"]
    return [*lines, f"- Memory linear in the length: in {judged.count('linear')} of {len(judged)} rows of the second "
                    "table."]


def report(results: list[dict]) -> str:
    """The whole text.

    @throws ClaimError if there is nothing to compare
    """
    cases = forward_cases(results)
    if not cases:
        raise ClaimError("there are no forward passes in these results; scripts/compare_torch.py measures them.")
    where = "; ".join(sorted({f"{result['gpu']}, PyTorch {result['torch'].split('+')[0]}, {result['date']}"
                              for result in results}))
    first = markdown(["lesson", "B × heads × N × D", "mask", "naive: time", "40-50", "naive: memory", "100-200",
                      "memory-efficient: time", "memory"], [row(case) for case in cases])
    second = markdown(["lesson", "D", "mask", "memory for a token grows by", "kernel", "PyTorch, naive, by", "naive"],
                      linear_rows(cases))
    text = "Factors are PyTorch's number divided by that of the lesson's kernel; memory is that beside the inputs."
    return "\n\n".join([f"{where}. float32 without TF32. {text}", "\n".join(summary(cases)), first, second]) + "\n"


def main() -> int:
    check_words()
    files = [pathlib.Path(word) for word in sys.argv[1:]] or [DEFAULT]
    if any(str(file).startswith("-") for file in files):
        print(__doc__)
        return 0 if files[0].name in ("--help", "-h") else 2
    try:
        print(report([json.loads(file.read_text(encoding="utf-8")) for file in files]), end="")
    except FileNotFoundError as error:
        print(f"check_claims.py: there is no {shown(error.filename)}. On a machine with a GPU: "
              f"scripts/compare_torch.py --lessons 7-13 --json {shown(error.filename)}", file=sys.stderr)
        return 2
    except (json.JSONDecodeError, KeyError, ClaimError) as error:
        print(f"check_claims.py: these are no results of compare_torch.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
