#!/usr/bin/env python3
"""Draws a trace that ./course trace wrote, and prints what the picture shows as sentences, a paragraph a line.

Usage: common/draw/draw_trace.py TRACE.json --out FIGURE.svg [--step N]
"""

import argparse
import pathlib
import sys

import charts
import trace_picture
import trace_tiles
import trace_tiles_picture
import trace_traffic
import trace_words
from trace_steps import BadTrace, Groups, read_trace

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST_STEPS, MOST_BYTES, SHAPES_OF_A_SITE = 12, 40_000, 2


class OneStep:
    """Keeps a single step of a trace."""

    def __init__(self, number):
        self.number, self.step, self.count = number, None, 0

    def begin(self, arrays):
        """Needs none of them."""

    def add(self, step):
        self.count += 1
        if step.number == self.number:
            self.step = step


class Sources:
    """Lines of source files; a trace names those of the project from its root."""

    def __init__(self):
        self.lines = {}

    def line(self, step):
        if step.file not in self.lines:
            try:
                self.lines[step.file] = (ROOT / step.file).read_text(encoding="utf-8", errors="replace").splitlines()
            except OSError:
                self.lines[step.file] = []
        lines = self.lines[step.file]
        return lines[step.line - 1].strip() if 0 < step.line <= len(lines) else ""


def ranked(groups):
    """Shapes of a site as they are worth showing: the first, then the rest, the most wasteful before the others."""
    return groups[:1] + sorted(groups[1:], key=lambda group: -trace_traffic.waste(group.step))


def chosen(groups):
    """Which groups are drawn: of each site the first shape, then of each another, as far as there is room. Gives
    {site: [Group, ...]} and the first steps of the sites that are not drawn at all."""
    by_rank = [(rank, site, group) for site in groups.sites
               for rank, group in enumerate(ranked(groups.of_site(site))[:SHAPES_OF_A_SITE])]
    by_rank.sort(key=lambda entry: entry[0])  # sites stay in their order
    drawn, rest, size = {}, [], 0
    for rank, site, group in by_rank:
        size += len("".join(trace_picture.draw_step(group.step, 0)[0]))
        if sum(map(len, drawn.values())) < MOST_STEPS and (size <= MOST_BYTES or not drawn):
            drawn.setdefault(site, []).append(group)
        elif rank == 0:
            rest.append(group.step)
    return {site: drawn[site] for site in groups.sites if site in drawn}, rest


def other_shapes(groups, site, drawn):
    """How many steps of a site have a shape that is not drawn; a sentence, or empty."""
    count = sum(len(group.members) for group in groups.of_site(site)) - sum(len(group.members) for group in drawn)
    return f"And {trace_words.plural(count, 'step')} of this line with other shapes." if count else ""


def draw_groups(groups, sources, y):
    """Panels of all sites. Gives the lines, where they end, and the sentences."""
    drawn, rest = chosen(groups)
    body, y = trace_picture.legend([group.step for of_site in drawn.values() for group in of_site], y)
    words = []
    for site, of_site in drawn.items():
        lines, y = trace_picture.draw_heading(of_site[0].step, sources.line(of_site[0].step), y)
        body += lines
        told = ""
        for group in of_site:
            lines, y = trace_picture.draw_step(group.step, y)
            body += lines
            more = trace_words.more_of(group)
            others = other_shapes(groups, site, of_site) if group is of_site[-1] else ""
            notes = [note for note in (more, others) if note]
            looks = trace_words.looks_of(group.step) + more
            if looks == told:
                words[-1] += f" The same holds of step {group.step.number}." + (others and " " + others)
            else:
                words.append(" ".join([trace_words.described(group.step), *notes]))
            told = looks
            for note in notes:
                body.append(trace_picture.text("small", charts.LEFT, y + 10, trace_picture.shortened(note, 104)))
                y += trace_picture.LINE
            y += 4
        y += 16
    if rest:
        words.append(trace_words.left_out(rest))
        count = trace_words.plural(len(rest), "line")
        body.append(trace_picture.text("small", charts.LEFT, y, f"{count} more, not drawn: the text beside the picture "
                                       "names them, --step draws one."))
        y += trace_picture.LINE
    return body, y, words


def draw_all(head, groups, visits, sources):
    title = trace_words.title_of(head)
    tiles, y, words = trace_tiles_picture.draw(visits, 46)
    body, y, of_steps = draw_groups(groups, sources, y)
    words = [title + ".", *words, *of_steps]
    if end := trace_words.end_of(head):
        words.append(end)
        body.append(trace_picture.text("small", charts.LEFT, y, f"The trace ends after {head.most_steps:,} steps; the "
                                       "block did more."))
        y += trace_picture.LINE
    return trace_picture.assemble(title, tiles + body, y + 4, words), words


def draw_one(head, step, sources):
    title = trace_words.title_of(head)
    body, y = trace_picture.legend([step], 46)
    heading, y = trace_picture.draw_heading(step, sources.line(step), y)
    lines, y = trace_picture.draw_step(step, y)
    words = [title + ".", trace_words.described(step)]
    return trace_picture.assemble(title, body + heading + lines, y + 8, words), words


def picture_of(path, number=None):
    """The SVG and the sentences of a trace, or of one of its steps. Throws BadTrace."""
    sources = Sources()
    if number is None:
        groups, visits = Groups(), trace_tiles.Visits()
        head = read_trace(path, [groups, visits])
        if not groups.sites:
            raise BadTrace("it has no access to memory")
        return draw_all(head, groups, visits, sources)
    one = OneStep(number)
    head = read_trace(path, [one])
    if one.step is None:
        raise BadTrace(f"it has no step {number}; its steps are 0 to {one.count - 1}")
    if not one.step.is_access:
        raise BadTrace(f"step {number} is a {one.step.kind}, which touches no memory; choose a load, store or atomic")
    return draw_one(head, one.step, sources)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    parser.add_argument("--out", required=True, metavar="FIGURE.svg")
    parser.add_argument("--step", type=int, metavar="N", help="of the trace, from 0")
    arguments = parser.parse_args()
    try:
        svg, words = picture_of(arguments.trace, arguments.step)
    except BadTrace as error:
        print(f"There is nothing to draw in the trace: {error}.", file=sys.stderr)
        sys.exit(2)
    pathlib.Path(arguments.out).write_text(svg, encoding="utf-8")
    print("\n".join(words))


if __name__ == "__main__":
    main()
