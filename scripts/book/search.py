"""The words of all pages, for a search that needs no server: site.js looks through them.

A browser does not let a page that was opened from disk read another file, but it runs a script: the words come as
`window.searchData`, a list of sections. Each is [kind, page title, heading, address, text, emphasised words].
"""

import html.parser
import json
import re

from .pages import Page

KINDS = {"home": 1, "lesson": 0, "guide": 1, "beside": 1, "code": 3, "reference": 2}  # the lower comes first among equals
SKIPPED = {"script", "style", "nav", "svg", "button"}
QUIET = {"here", "toc", "facts", "files", "lineno", "ttc", "navpath", "copy"}  # classes of what is no text of the page
REFERENCE_LETTERS = 2500
# Phrases that people type, where other pages have the words more often than the page that answers.
PHRASES = {
    "before": ["what is a gpu", "cpu vs gpu", "gpu versus cpu", "memory hierarchy"],
    "gpu": ["how do I run on gpu", "run on my own gpu", "which card", "install cuda"],
    "lesson_01": ["warp divergence", "what is a warp", "thread block grid", "launch a kernel"],
    "lesson_02": ["row major", "column major", "non contiguous"],
    "lesson_03": ["warp shuffle", "parallel reduction"],
    "lesson_06": ["matrix multiplication tiles", "tiled matmul"],
    "lesson_07": ["attention formula", "why divide by sqrt d", "scaled dot product attention"],
    "lesson_14": ["finite differences", "gradient check"],
    "lesson_15": ["backward dK", "backward dV", "backward dQ", "flash attention backward"],
    "reports": ["never written", "wrong answer last block", "wrong values"],
    "diagnostic_race": ["race condition", "data race"],
    "pytorch": ["pytorch comparison", "compare with pytorch", "faster than pytorch"],
    "instructors": ["how points are counted"],
    "class_submissions": ["plagiarism", "copied submissions"],
    "authors": ["add a lesson", "how to contribute"],
}
VOID = {"img", "br", "hr", "input", "meta", "link", "col", "area", "wbr"}


class _Sections(html.parser.HTMLParser):
    """Cuts the text of a page into sections: each begins at a heading that has an anchor."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.sections = []  # [heading, anchor, text, what is set in bold or italics]
        self.stack = []
        self.heading = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            quiet = tag in SKIPPED or attributes.get("class") in QUIET
            self.stack.append((tag, quiet))
        if tag == "main":
            self.sections.append(["", "", "", ""])
        elif re.fullmatch(r"h[1-5]", tag) and self.sections and (tag == "h1" or attributes.get("id")):
            if tag != "h1":
                self.sections.append(["", attributes["id"], "", ""])
            self.heading = tag
        elif tag in ("sub", "sup") and self.sections and not self.heading:
            self.sections[-1][2] += {"sub": "_", "sup": "^"}[tag]  # as one would type it
        elif tag == "img" and self.sections:
            self.sections[-1][2] += f" {attributes.get('alt', '')} "

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if any(tag == name for name, _ in self.stack):
            while self.stack.pop()[0] != tag:
                pass
        if tag == self.heading:
            self.heading = None
        if self.sections and tag not in ("a", "code", "em", "strong", "span", "b", "i", "tt", "sub", "sup"):
            self.sections[-1][2] += " "

    def handle_data(self, data):
        if not self.sections or not any(tag == "main" for tag, _ in self.stack) or any(quiet for _, quiet in self.stack):
            return
        if self.heading and self.heading != "h1":
            self.sections[-1][0] += data
        elif not self.heading:
            self.sections[-1][2] += data
            if any(tag in ("b", "strong", "em") for tag, _ in self.stack):
                self.sections[-1][3] += f"{data} "


def sections_of(text: str) -> list[tuple[str, str, str, str]]:
    """Heading, anchor, words and emphasised words of each section of a page's HTML."""
    parser = _Sections()
    parser.feed(text)
    return [tuple(part if place == 1 else " ".join(part.split()) for place, part in enumerate(section))
            for section in parser.sections]


def title_of(text: str) -> str:
    """The page's own title, without markup."""
    found = re.search(r'<h1 class="title">(.*?)</h1>', text, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", found.group(1))).split()) if found else ""


def data(finished: dict[str, str], by_address: dict[str, Page]) -> str:
    """The script that site.js loads: what every page says, by section. `finished` is HTML by address."""
    entries = []
    for address, text in finished.items():
        page = by_address.get(address)
        if page is None and (address.endswith("_source.html") or address.startswith("dir_")):
            continue
        kind = page.kind if page else "reference"
        title = title_of(text)
        if kind == "code" and page.title != "hints":
            entries.append([KINDS[kind], title, "", address, page.source, ""])
            continue
        sections = sections_of(text)
        if kind == "reference":  # one entry for a page: what it declares stands at its beginning
            sections = [("", "", " ".join(words for _, _, words, _ in sections)[:REFERENCE_LETTERS], "")]
        for heading, anchor, words, terms in sections:
            if words or heading:
                entries.append([KINDS[kind], title, heading, address + (f"#{anchor}" if anchor else ""), words, terms])
    phrases = {f"{name}.html": phrases for name, phrases in PHRASES.items() if f"{name}.html" in finished}
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return (f"window.searchPhrases={json.dumps(phrases, ensure_ascii=False)};\n"
            f"window.searchData=[\n{lines}\n];\n")
