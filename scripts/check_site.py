#!/usr/bin/env python3
"""Checks a built site without a browser: links and anchors, alternative texts, headings, names of fields, no network.

Usage: scripts/check_site.py SITE
Each problem is a line "PAGE: what is wrong". Exit status: 0 none, 1 some, 2 SITE is not a site.
"""

import html.parser
import math
import pathlib
import re
import sys
import urllib.parse
from options import check_words

MEGABYTES = 45
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"}
MAY_STAY_OPEN = {"p", "li", "dt", "dd", "tr", "td", "th", "tbody", "thead", "option"}
LOADS = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src"}


class Document(html.parser.HTMLParser):
    """What the checks ask about one page."""

    def __init__(self, text: str):
        super().__init__(convert_charrefs=True)
        self.problems, self.open = [], []
        self.ids, self.links, self.headings = set(), [], []
        self.language = self.title = None
        self.landmarks, self.leads_up = set(), set()
        self.code = math.inf  # how many elements are open at least, as long as a listing is
        self.asterisks = []
        self.text_of = None  # whose words are being collected: a link or a button
        self.feed(text)
        self.problems += [f"<{tag}> is never closed" for tag in self.open if tag not in MAY_STAY_OPEN]

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag not in VOID:
            self.open.append(tag)
        if "fragment" in (attributes.get("class") or ""):
            self.code = len(self.open)
        name = attributes.get("id") or (attributes.get("name") if tag == "a" else None)
        if name and name in self.ids:
            self.problems.append(f'two elements have the id "{name}"')
        self.ids.add(name)
        if tag == "html":
            self.language = attributes.get("lang")
        if tag in ("main", "nav", "header"):
            self.landmarks.add(tag)
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag == "a" and attributes.get("href") is not None:
            self.links.append(attributes["href"])
            if attributes.get("rel") == "up":
                self.leads_up.add(attributes["href"])
        if tag in LOADS and attributes.get(LOADS[tag]):
            if re.match(r"(?:[a-z]+:)?//", attributes[LOADS[tag]]):
                self.problems.append(f"<{tag}> loads {attributes[LOADS[tag]]} from a network")
            self.links.append(attributes[LOADS[tag]])
        if tag == "img" and "alt" not in attributes:
            self.problems.append(f"the picture {attributes.get('src')} has no alternative text")
        if tag == "img" and not attributes.get("alt") and "figures" in attributes.get("src", ""):
            self.problems.append(f"the figure {attributes.get('src')} has an empty alternative text")
        if tag in ("input", "select", "textarea") and not (attributes.get("aria-label") or attributes.get("aria-labelledby")):
            self.problems.append(f"<{tag}> has no name")
        if tag in ("a", "button") and (tag == "button" or "href" in attributes):
            self.text_of = [tag, attributes.get("aria-label", "")]
        if tag == "img" and self.text_of:
            self.text_of[1] += attributes.get("alt", "")

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if tag in VOID:
            return
        if self.text_of and tag == self.text_of[0]:
            if not self.text_of[1].strip():
                self.problems.append(f"a <{tag}> has no words")
            self.text_of = None
        skipped = []
        while self.open and self.open[-1] != tag:
            skipped.append(self.open.pop())
        if not self.open:
            self.problems.append(f"</{tag}> closes nothing")
            self.open = skipped[::-1]
            return
        self.open.pop()
        if len(self.open) < self.code:
            self.code = math.inf
        self.problems += [f"<{name}> is open where </{tag}> comes" for name in skipped if name not in MAY_STAY_OPEN]

    def handle_data(self, data):
        if self.text_of:
            self.text_of[1] += data
        if self.open and self.open[-1] == "title":
            self.title = (self.title or "") + data
        if len(self.open) >= self.code or set(self.open) & {"pre", "code", "script", "style"}:
            return
        shown = " ".join(data.split())[:60]
        if re.search(r"(?<!softmax)\*", data):
            self.asterisks.append(f"an asterisk was left in the text: {shown}")
        if re.search(r"\\f[\[\]$]|<!--|\{#[\w-]+\}|\]\([\w./]", data):
            self.problems.append(f"markup was left in the text: {shown}")


def own_problems(document: Document) -> list[str]:
    """What is wrong with a page by itself."""
    found = list(document.problems)
    if document.language != "en":
        found.append("its language is not set")
    if not (document.title or "").strip():
        found.append("it has no title")
    if document.headings.count(1) != 1:
        found.append(f"it has {document.headings.count(1)} headings of level 1 instead of one")
    if not {"main", "nav", "header"} <= document.landmarks:
        found.append("main, nav or header is missing")
    return found


def skipped_levels(document: Document) -> list[str]:
    pairs = zip(document.headings, document.headings[1:])
    return [f"a heading of level {after} follows one of level {before}" for before, after in pairs if after > before + 1]


def broken_links(name: str, documents: dict[str, Document], site: pathlib.Path) -> list[str]:
    found = []
    for link in documents[name].links:
        parts = urllib.parse.urlsplit(link)
        if parts.scheme in ("http", "https", "mailto"):
            continue
        if parts.scheme or parts.netloc:
            found.append(f"{link} has an address of an unknown kind")
            continue
        target = urllib.parse.unquote(parts.path) or name
        if not (site / target).is_file():
            found.append(f"{link} leads to no file")
        anchor = urllib.parse.unquote(parts.fragment)
        if anchor and target in documents and anchor not in documents[target].ids and anchor[:5] != "step=":
            found.append(f"{link} leads to an anchor that is not there")
    return found


def check(site: pathlib.Path) -> list[str]:
    """Every problem of a site, each as "PAGE: what"."""
    documents = {file.name: Document(file.read_text(encoding="utf-8")) for file in sorted(site.glob("*.html"))}
    found = []
    for name, document in documents.items():
        problems = own_problems(document) + broken_links(name, documents, site)
        if "reference.html" not in document.leads_up:  # a comment in a header may have asterisks, and levels of its own
            problems += skipped_levels(document) + document.asterisks
        found += [f"{name}: {problem}" for problem in dict.fromkeys(problems)]
    size = sum(file.stat().st_size for file in site.rglob("*") if file.is_file()) / 1e6
    if size > MEGABYTES:
        found.append(f"the site has {size:.1f} MB, more than {MEGABYTES}")
    return found


def main() -> int:
    check_words()
    if len(sys.argv) != 2 or not (pathlib.Path(sys.argv[1]) / "index.html").is_file():
        print(__doc__.strip(), file=sys.stderr)
        return 2
    site = pathlib.Path(sys.argv[1])
    found = check(site)
    print("\n".join(found) or f"{len(list(site.glob('*.html')))} pages, nothing to fix")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
