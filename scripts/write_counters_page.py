#!/usr/bin/env python3
"""Writes docs/counters.md, the page with the results of scripts/compare_counters.py.

Usage: scripts/write_counters_page.py [--check] [--results FILE.json] [--page FILE.md]

Every number on the page comes from the results; the causes of differences are those of scripts/profiling/causes.py.
--check writes nothing. Exit status: 0; 1 with --check if the page is not what the results give; 2 if a result is
missing, or a cause is named for something that does not differ.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import update_tables  # noqa: E402
from profiling import causes, counters, ncu  # noqa: E402
from profiling.ncu import ROOT, ProfileError  # noqa: E402
from torch_comparison.results import shown  # noqa: E402

INTRODUCTION = """# Counters beside the profiler

What the simulator counts for the worked solutions, and what the hardware's profiler counts for the same launches: the
same test cases, data, grids and blocks. A request is an instruction of a warp that reads or writes memory; sectors and
wavefronts are explained in [the simulator](simulator.md). `scripts/write_counters_page.py` writes this page from
[counters]({results}).

The simulator counts the accesses of the source. The profiler counts those of the machine code, which the compiler may
merge, move or leave out: so they agree on what is transferred more often than on how many instructions do it.
"""
TABLES = """Of each kernel, the launch with the most threads in a case. "Difference" is the simulator's number beside
the profiler's; a number in brackets is its cause, below.
"""
UNEXPLAINED = "unexplained"


def threads(launch: dict) -> int:
    product = 1
    for extent in (*launch["grid"], *launch["block"]):
        product *= extent
    return product


def largest(launches: list) -> list:
    """Of each kernel, the pair with the most threads; the first of equals."""
    chosen = {}
    for there, here in launches:
        name = there["kernel"]
        if name not in chosen or threads(there) > threads(chosen[name][0]):
            chosen[name] = there, here
    return list(chosen.values())


def shape(launch: dict) -> str:
    """ "2 × 3 of 64": blocks and their threads."""
    def sizes(extents):
        while len(extents) > 1 and extents[-1] == 1:
            extents = extents[:-1]
        return " × ".join(f"{extent:,}" for extent in extents)

    return f"{sizes(launch['grid'])} of {sizes(launch['block'])}"


def difference(ours: int, theirs: int) -> str:
    if ours == theirs:
        return "0"
    if theirs == 0:
        return "none there"
    text = f"{100 * (ours - theirs) / theirs:+.1f}"
    return f"{'less than ' if float(text) == 0 else ''}{text}{update_tables.NO_BREAK}%"


class Page:
    """What the tables need to number causes in the order in which they come, and to count."""

    def __init__(self):
        self.numbers, self.used = {}, set()
        self.compared = self.equal = self.launches = self.unexplained = 0

    def cause(self, lesson: str, kernel: str, counter: str) -> str:
        """Its number in brackets, or the word for none."""
        name = causes.EXPLAINED.get((lesson, kernel, counter))
        if name is None:
            self.unexplained += 1
            return UNEXPLAINED
        self.used.add((lesson, kernel, counter))
        return f"[{self.numbers.setdefault(name, len(self.numbers) + 1)}]"

    def count(self, entry: dict, launches: list):
        """Counts what all launches of a case have, whether the tables show them or not."""
        for there, here in launches:
            self.launches += 1
            for counter, ours, theirs in counters.pairs(there, here):
                self.compared += 1
                self.equal += ours == theirs
                if ours != theirs and (entry["lesson"], there["kernel"], counter) in causes.EXPLAINED:
                    self.used.add((entry["lesson"], there["kernel"], counter))

    def table(self, entry: dict, launches: list) -> str:
        rows = []
        for there, here in largest(launches):
            for counter, ours, theirs in counters.pairs(there, here):
                why = self.cause(entry["lesson"], there["kernel"], counter) if ours != theirs else ""
                rows.append([f"`{there['kernel']}`", shape(there), counter.replace("_", " ").replace(".", ", "),
                             f"{ours:,}", f"{theirs:,}", f"{difference(ours, theirs)} {why}".strip()])  # fmt: skip
        return update_tables.markdown(["kernel", "launch", "counter", "simulator", "profiler", "difference"], rows)


def write_page(results, link: str) -> str:
    """@throws ProfileError if launches are missing or not the same, or a cause is named for nothing"""
    page, tables, lesson = Page(), [], ""
    for entry in results.entries:
        launches = counters.matched(entry)
        page.count(entry, launches)
        if entry["lesson"] != lesson:
            lesson = entry["lesson"]
            tables.append(f"### Lesson {update_tables.lesson_link(int(lesson[:2]))}\n")
        tables.append(f"\"{entry['case']}\":\n")
        tables.append(page.table(entry, launches))
    if unused := causes.EXPLAINED.keys() - page.used:
        raise ProfileError(f"causes.py explains what does not differ: {sorted(unused)[0]}")
    head = results.head
    where = (f"The profiler is ncu {head['ncu']}, on an {head['gpu']} with driver {head['driver']} and nvcc "
             f"{head['nvcc']}, {head['date']}; the simulator counted on {head['simulated']}.\n")
    sums = (f"Of {page.compared:,} numbers of {page.launches} launches, {page.equal:,} are equal. In the tables, "
            f"{page.unexplained} of those that differ are unexplained.\n")
    listed = [f"{number}. {causes.CAUSES[name]}" for name, number in page.numbers.items()]
    return "\n".join([INTRODUCTION.format(results=link), where, sums, "## Why they differ\n",
                      "\n".join(listed) + "\n" if listed else "No cause is known of any difference.\n",
                      "## Launch by launch\n", TABLES, *tables])  # fmt: skip


def main(words=None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs" / "results" / "counters_h200.json")
    parser.add_argument("--page", type=pathlib.Path, default=ROOT / "docs" / "counters.md")
    arguments = parser.parse_args(words)
    try:
        if not arguments.results.is_file():
            raise ProfileError(f"there is no {shown(arguments.results)}; scripts/compare_counters.py makes it")
        results = ncu.Results(arguments.results, ("lesson", "case"), resume=True)
        wanted = write_page(results, f"results/{arguments.results.name}")
    except (ProfileError, update_tables.TableError) as problem:
        print(f"write_counters_page.py: {problem}", file=sys.stderr)
        return 2
    if arguments.page.is_file() and arguments.page.read_text(encoding="utf-8") == wanted:
        return 0
    if arguments.check:
        print(f"{shown(arguments.page)} is out of date; run scripts/write_counters_page.py")
        return 1
    arguments.page.write_text(wanted, encoding="utf-8")
    print(f"wrote {shown(arguments.page)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
