#!/usr/bin/env python3
"""Fills the code blocks of Markdown pages from tested source files, or checks that they are up to date.

A page names a region, and this script writes the code between the two comments:

    <!-- snippet: lessons/01_vector_add/vector_add.hpp contract -->
    <!-- /snippet -->

In the source file the region lies between two lines `// [contract]`, in Python `# [contract]`. The page stays plain Markdown, so that it reads
the same on a code host, in an editor and on the generated site.

Usage: scripts/update_snippets.py [--check] [PAGE.md ...]     (default: all pages of the project)
Exit status: 0 all up to date (or updated), 1 with --check if a page is not, 2 a region cannot be found.
"""

import pathlib
import re
import sys
import textwrap

from options import Parser
from solution_page import page_of

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Only at the start of a line: an indented block is an example of the notation.
BLOCK = re.compile(r"^(<!-- snippet: (\S+) (.+?) -->\n).*?^(<!-- /snippet -->)", re.DOTALL | re.MULTILINE)
OPENING = re.compile(r"^<!-- snippet:", re.MULTILINE)


class SnippetError(Exception):
    """A region that cannot be found; the message says which and where."""


def read_region(path: str, name: str) -> str:
    """The lines between the two markers of a region, without common indentation."""
    file = ROOT / path
    if not file.is_file():
        raise SnippetError(f"there is no file {path}")
    comment = "#" if file.suffix == ".py" else "//"
    lines = page_of(file.read_text()).splitlines()
    markers = [i for i, line in enumerate(lines) if line.strip() == f"{comment} [{name}]"]
    if len(markers) != 2:
        raise SnippetError(f"{path} has {len(markers)} lines `{comment} [{name}]` instead of 2")
    first, last = markers
    # Markers of other regions may lie inside this one.
    inside = [line for line in lines[first + 1 : last] if not re.fullmatch(rf"\s*{comment} \[.+\]", line)]
    return textwrap.dedent("\n".join(inside)).strip("\n")


def fill(page: str) -> str:
    """The page with every block replaced by what its source has now."""

    def block(match: re.Match) -> str:
        code = read_region(match.group(2), match.group(3))
        language = "python" if match.group(2).endswith(".py") else "cpp"
        return f"{match.group(1)}```{language}\n{code}\n```\n{match.group(4)}"

    opened, found = len(OPENING.findall(page)), len(BLOCK.findall(page))
    if opened != found:
        raise SnippetError(f"{opened - found} snippet comment(s) are not closed by <!-- /snippet -->")
    return BLOCK.sub(block, page)


def all_pages() -> list[pathlib.Path]:
    """The Markdown files that may have snippets."""
    folders = [ROOT / "lessons", ROOT / "docs"]
    return sorted(ROOT.glob("*.md")) + sorted(page for folder in folders for page in folder.rglob("*.md"))


def main() -> int:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a page is out of date")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE.md")
    arguments = parser.parse_args()

    outdated = False
    for page in arguments.pages or all_pages():
        before = page.read_text()
        try:
            after = fill(before)
        except SnippetError as error:
            print(f"{page}: {error}", file=sys.stderr)
            return 2
        if before == after:
            continue
        if arguments.check:
            print(f"{page}: a snippet is out of date; run scripts/update_snippets.py", file=sys.stderr)
            outdated = True
        else:
            page.write_text(after)
            print(f"updated {page}")
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
