"""A page of the repository, as Doxygen takes it.

A page is written to be read on a code host: links are paths, and a heading's anchor is its text in lower case. Here
every heading gets a name of its own, links to files become links to pages, and formulas are typeset.
"""

import os.path
import re
import urllib.parse

from .formulas import typeset
from .inline import typeset_inline
from .pages import ROOT, Page

# Stands for the page that Doxygen makes of a header; its name is known afterwards. See html.py.
HEADER_ADDRESS = "https://header.invalid/"
FENCE = re.compile(r"^\s*(```|~~~)")
HEADING = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)")
CODE_SPAN = re.compile(r"(`+)(?:(?!\1|\n\n).)+?\1", re.DOTALL)
COMMENT = re.compile(r"^<!-- /?(snippet|table|report|mutant)\b.*?-->\n?", re.MULTILINE)
INLINE_COMMENT = re.compile(r"<!--\s*/?value\b.*?-->")
INTERACTIVE = re.compile(r"^<!-- interactive: (\w+) -->$", re.MULTILINE)
IMAGE = re.compile(r'(<img\s[^>]*?src=")([^"]+)(")')


class LinkError(Exception):
    """A link that leads nowhere; the message names page and link."""


def slug(heading: str) -> str:
    """The anchor that code hosts give a heading: lower case, spaces as hyphens, no punctuation."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
    text = re.sub(r"[^\w\- ]", "", text.lower())
    return text.replace(" ", "-")


def outside_fences(text: str):
    """Pairs of a line and whether it lies in a fenced block of code."""
    fence = None
    for line in text.split("\n"):
        mark = FENCE.match(line)
        if mark and fence is None:
            fence = mark.group(1)
            yield line, True
        elif mark and mark.group(1) == fence:
            fence = None
            yield line, True
        else:
            yield line, fence is not None


def headings(text: str) -> list[tuple[int, str, str]]:
    """Level, text and anchor of each heading; a repeated anchor gets a number, as on a code host."""
    found, seen = [], {}
    for line, code in outside_fences(text):
        heading = None if code else HEADING.match(line)
        if heading:
            anchor = slug(heading.group(2))
            count = seen[anchor] = seen.get(anchor, -1) + 1
            found.append((len(heading.group(1)), heading.group(2), f"{anchor}-{count}" if count else anchor))
    return found


class Links:
    """Where the repository's files are on the site."""

    def __init__(self, pages: list[Page], headers: set[str]):
        self.pages = {page.source: page for page in pages if page.source}
        self.anchors = {page.source: {anchor for _, _, anchor in headings(page.text())} for page in pages if page.source}
        self.headers = headers
        self.copied: set[str] = set()  # files that pages link to as they are

    def address(self, page: Page, target: str) -> str | None:
        """The address on the site of a link on a page; None for a folder, which the site has no page for.

        Raises LinkError if there is nothing where the link leads.
        """
        if re.match(r"[a-z]+:", target):
            return target
        path, _, anchor = target.partition("#")
        source = os.path.normpath(os.path.join(os.path.dirname(page.source), path)) if path else page.source
        if source in self.pages:
            if anchor and anchor not in self.anchors[source]:
                raise LinkError(f"{page.source}: {target} leads to a heading that is not there")
            return self.pages[source].address + (f"#{anchor}" if anchor else "")
        if source in self.headers:
            return HEADER_ADDRESS + source
        if (ROOT / source).is_file():
            self.copied.add(source)
            return f"files/{source}" + (f"#{anchor}" if anchor else "")
        if (ROOT / source).is_dir():
            module = re.fullmatch(r"common/(\w+)", source)
            return f"reference.html#{slug(source)}" if module else None
        raise LinkError(f"{page.source}: {target} leads to no file")


def _outside_code_spans(text: str, change) -> str:
    """Applies `change` to what lies between the code spans of a text; links may hold code spans."""
    spans = []

    def hide(match):
        spans.append(match.group(0))
        return f"\0{len(spans) - 1}\0"

    return re.sub("\0(\\d+)\0", lambda match: spans[int(match.group(1))], change(CODE_SPAN.sub(hide, text)))


def prepare(page: Page, links: Links) -> str:
    """The Markdown that Doxygen gets for a page: its name, named headings, the site's links, formulas in TeX."""
    text = page.text()
    text = INTERACTIVE.sub(r'<div id="flash-\1"></div>', text)
    text = INLINE_COMMENT.sub("", COMMENT.sub("", text))
    text = typeset(text)
    anchors = iter(headings(text))
    first = True
    done, prose = [], []

    def linked(match: re.Match) -> str:
        address = links.address(page, match.group(2))
        words = re.search(r'"([^"\0]{4,})"', match.group(1))
        if words and address and "#" in address:  # site.js shows the quoted words; without it, the heading is shown
            plain = re.sub(r"<[^>]*>", "", words.group(1))
            query = urllib.parse.urlencode({"words": " ".join(plain.split())})
            address = address.replace("#", f"?{query}#", 1)
        return f"[{match.group(1)}]({address})" if address else match.group(1)

    def shown(match: re.Match) -> str:
        return f"{match.group(1)}{links.address(page, match.group(2))}{match.group(3)}"

    def translate(block: str) -> str:
        return IMAGE.sub(shown, LINK.sub(linked, typeset_inline(block)))

    def flush() -> None:
        if prose:
            done.append(_outside_code_spans("\n".join(prose), translate))
        prose.clear()

    for line, code in outside_fences(text):
        if not code and not HEADING.match(line):
            prose.append(line)
            continue
        flush()
        if code:
            done.append(line)
            continue
        level, title, anchor = next(anchors)
        title = title.replace("`", "")  # Doxygen shows the tags of a code span in a heading
        name = f"{page.name}--{anchor}" if not first else "mainpage" if page.kind == "home" else page.name
        done.append(f"{'#' * level} {title} {{#{name}}}")
        first = False
    flush()
    return "\n".join(done)
