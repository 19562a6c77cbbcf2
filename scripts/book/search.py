"""The words of all pages, for a search that needs no server: site.js looks through them.

A browser does not let a page that was opened from disk read another file, but it runs a script: the words come as
`window.searchData`, a list of sections. Each is [kind, page title, heading, address, text].
"""

import html.parser
import json
import re

from .pages import Page

KINDS = {"home": 1, "lesson": 0, "guide": 1, "code": 3, "reference": 2}  # the lower comes first among equals
SKIPPED = {"script", "style", "nav", "svg", "button"}
VOID = {"img", "br", "hr", "input", "meta", "link", "col", "area", "wbr"}


class _Sections(html.parser.HTMLParser):
    """Cuts the text of a page into sections: each begins at a heading that has an anchor."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.sections = []  # [heading, anchor, text]
        self.stack = []
        self.heading = None

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            quiet = tag in SKIPPED or attributes.get("class") in ("here", "facts", "files", "lineno")
            self.stack.append((tag, quiet))
        if tag == "main":
            self.sections.append(["", "", ""])
        elif re.fullmatch(r"h[1-5]", tag) and self.sections:
            if attributes.get("id"):
                self.sections.append(["", attributes["id"], ""])
            self.heading = tag
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
        if self.sections and tag not in ("a", "code", "em", "strong", "span", "b", "i", "tt"):
            self.sections[-1][2] += " "

    def handle_data(self, data):
        if not self.sections or not any(tag == "main" for tag, _ in self.stack) or any(quiet for _, quiet in self.stack):
            return
        if self.heading and self.heading != "h1":
            self.sections[-1][0] += data
        elif not self.heading:
            self.sections[-1][2] += data


def sections_of(text: str) -> list[tuple[str, str, str]]:
    """Heading, anchor and words of each section of a page's HTML."""
    parser = _Sections()
    parser.feed(text)
    return [(" ".join(heading.split()), anchor, " ".join(words.split())) for heading, anchor, words in parser.sections]


def title_of(text: str) -> str:
    """The page's own title, without markup."""
    found = re.search(r'<h1 class="title">(.*?)</h1>', text, re.DOTALL)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", found.group(1))).split()) if found else ""


def data(finished: dict[str, str], by_address: dict[str, Page]) -> str:
    """The script that site.js loads: what every page says, by section. `finished` is HTML by address."""
    entries = []
    for address, text in finished.items():
        page = by_address.get(address)
        if page is None and address.endswith("_source.html"):
            continue
        kind = page.kind if page else "reference"
        title = title_of(text)
        if kind == "code" and page.title != "hints":
            entries.append([KINDS[kind], title, "", address, page.source])
            continue
        for heading, anchor, words in sections_of(text):
            if words or heading:
                entries.append([KINDS[kind], title, heading, address + (f"#{anchor}" if anchor else ""), words])
    lines = ",\n".join(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) for entry in entries)
    return f"window.searchData=[\n{lines}\n];\n"
