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
import textwrap

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import update_tables  # noqa: E402
from options import Parser  # noqa: E402
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

Matrix products and special functions, counted as [the simulator](simulator.md#matrices-and-arithmetic) says, are not
compared up to lesson 18.
"""
TABLES = """Of each counter of a kernel that differs anywhere, the launch in which it differs most, and how many
launches differ. "Difference" is the simulator's number beside the profiler's; a number in brackets is its cause, above.
A counter that is 0 in both is not counted as one.
"""
UNEXPLAINED = "unexplained"


def wrapped(sentences: str, indent: str = "") -> str:
    """A paragraph whose lines fit the page; further lines begin with `indent`."""
    return textwrap.fill(sentences, 120, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def shape(launch: dict) -> str:
    """ "2 × 3 of 64": blocks and their threads."""
    def sizes(extents):
        while len(extents) > 1 and extents[-1] == 1:
            extents = extents[:-1]
        return " × ".join(f"{extent:,}" for extent in extents)

    return f"{sizes(launch['grid'])} of {sizes(launch['block'])}"


def difference(ours: int, theirs: int) -> str:
    if theirs == 0:
        return "none there"
    text = f"{100 * (ours - theirs) / theirs:+.1f}"
    return f"{'less than 0.1' if float(text) == 0 else text}{update_tables.NO_BREAK}%"


def name_of(launch: dict) -> str:
    """A kernel's name without its constants."""
    return launch["kernel"].partition("<")[0]


def how_far(pair: tuple) -> tuple:
    """Orders what the profiler and the simulator counted by how far they are apart."""
    _, ours, theirs = pair
    return (theirs == 0, abs(ours - theirs) / max(theirs, 1))


class Page:
    """Numbers causes in the order in which they come, and counts."""

    def __init__(self):
        self.numbers, self.used = {}, set()
        self.compared = self.equal = self.launches = self.unexplained = 0

    def cause(self, key: tuple) -> str:
        """Numbers in brackets, and the word for what nobody knows."""
        names = causes.EXPLAINED.get(key, "").split()
        if not names:
            return UNEXPLAINED
        self.used.add(key)
        numbers = " ".join(f"[{self.numbers.setdefault(name, len(self.numbers) + 1)}]" for name in names)
        return f"{numbers} {UNEXPLAINED}" if causes.UNEXPLAINED & set(names) else numbers

    def lesson(self, name: str, entries: list) -> str:
        """The section of a lesson: its cases, how much is equal, and a row for each counter that is not.

        @throws ProfileError if launches are missing or not the same
        """
        launches = [pair for entry in entries for pair in counters.matched(entry)]
        compared, equal, differing = 0, 0, {}
        for there, here in launches:
            for counter, ours, theirs in counters.pairs(there, here):
                compared += 1
                equal += ours == theirs
                if ours != theirs:
                    differing.setdefault((name, name_of(there), counter), []).append((there, ours, theirs))
        self.launches, self.compared, self.equal = (self.launches + len(launches), self.compared + compared,
                                                    self.equal + equal)  # fmt: skip
        cases = "; ".join(f"\"{entry['case']}\"" for entry in entries)
        said = f"Lesson {update_tables.lesson_link(int(name[:2]))}, {cases}: "
        count = f"{len(launches)} launch{'es' if len(launches) > 1 else ''}"
        if not differing:
            return wrapped(f"{said}all {compared} counters of {count} agree.") + "\n"
        rows = [self.row(key, found, launches) for key, found in differing.items()]
        head = ["kernel", "counter", "launches", "the launch", "simulator", "profiler", "difference"]
        agree = wrapped(f"{said}{equal} of {compared} counters of {count} agree.")
        return f"{agree}\n\n{update_tables.markdown(head, rows)}"

    def row(self, key: tuple, found: list, launches: list) -> list:
        _, kernel, counter = key
        there, ours, theirs = max(found, key=how_far)
        why = self.cause(key)
        if UNEXPLAINED in why:
            self.unexplained += len(found)
        of = sum(name_of(launch) == kernel for launch, _ in launches)
        return [f"`{kernel}`", counter.replace("_", " ").replace(".", ", "), f"{len(found)} of {of}", shape(there),
                f"{ours:,}", f"{theirs:,}", f"{difference(ours, theirs)} {why}"]  # fmt: skip


def write_page(results, link: str) -> str:
    """@throws ProfileError if launches are missing or not the same, or a cause is named for nothing"""
    page, lessons = Page(), {}
    for entry in results.entries:
        if "profiler" in entry:
            lessons.setdefault(entry["lesson"], []).append(entry)
    missing = sorted({entry["lesson"] for entry in results.entries} - lessons.keys())
    sections = [page.lesson(name, entries) for name, entries in lessons.items()]
    if unused := causes.EXPLAINED.keys() - page.used:
        raise ProfileError(f"causes.py explains what does not differ: {sorted(unused)[0]}")
    head = results.head
    where = (f"The profiler is ncu {head['ncu']}, on an {head['gpu']} with driver {head['driver']} and nvcc "
             f"{head['nvcc']}, {head['date']}; the simulator counted on {head['simulated']}.\n")
    sums = (f"Of {page.compared:,} numbers of {page.launches} launches, {page.equal:,} are equal, "
            f"{page.compared - page.equal - page.unexplained} differ for a known reason, and {page.unexplained} are "
            "unexplained.\n")
    if missing:
        links = ", ".join(update_tables.lesson_link(int(name[:2])) for name in missing)
        sums += f"Of lessons {links} the profiler has counted nothing yet.\n"
    listed = [wrapped(f"{number}. {causes.CAUSES[name]}", "   ") for name, number in page.numbers.items()]
    return "\n".join([INTRODUCTION.format(results=link), wrapped(where) + "\n", sums, "## Why they differ\n",
                      "\n".join(listed) + "\n" if listed else "No cause is known of any difference.\n",
                      "## Lesson by lesson\n", TABLES, *sections])  # fmt: skip


def main(words=None) -> int:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "docs" / "results" / "counters_h100.json")
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
