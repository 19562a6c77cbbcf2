"""What Doxygen wrote, in the site's own frame.

Doxygen gives each page its text. Here the page gets the sidebar, what a reader wants to know before reading, links to
the pages beside it, and the markup that helps those who read without a mouse or without sight.
"""

import html
import math
import re

from .formulas import originals
from .markdown import HEADER_ADDRESS
from .pages import PARTS, Page, listings

WORDS_A_MINUTE = 200
LOOKED_UP = {"notes_map", "glossary", "reference", "diagnostics"}  # nobody reads them from end to end
INTERACTIVE = ["steps", "backward"]  # what docs/steps/NAME.js shows in the place of <div id="flash-NAME">
PARTS_OF_A_CONTRACT = "Shapes|Layout|Launch|Domain|Error|Errors|Cost|Source|Complexity|Units|Order|Example"


class LostFormula(Exception):
    """A formula that stands where Doxygen takes it for something else, as within a list."""


def chapters(groups: list[tuple[str, list[Page]]], current: Page | None) -> str:
    """The sidebar: every page under its heading, the current one marked."""
    lines = ['<nav id="chapters" aria-label="Chapters">']
    for heading, pages in groups:
        if heading:
            lines.append(f"<h2>{html.escape(heading)}</h2>")
        lines.append("<ul>")
        for page in pages:
            here = ' aria-current="page"' if page is current else ""
            mark = ' class="around"' if current is not None and current.parent == page.name else ""
            lines.append(f'<li{mark}><a href="{page.address}"{here}>{html.escape(page.title)}</a></li>')
        lines.append("</ul>")
    return "\n".join([*lines, "</nav>"])


def turn(order: list[Page], current: Page) -> str:
    """Links to the page before and the page after, or back to the page that this one belongs to."""
    if current.parent:
        parent = next(page for page in order if page.name == current.parent)
        back = f'<a rel="up" href="{parent.address}"><span>Back to</span> {html.escape(parent.title)}</a>'
        return f'<nav class="turn" aria-label="Back">{back}</nav>'
    place = order.index(current)
    links = []
    if place > 0:
        links.append(f'<a rel="prev" href="{order[place - 1].address}"><span>Before</span> '
                     f"{html.escape(order[place - 1].title)}</a>")
    if place + 1 < len(order):
        links.append(f'<a rel="next" href="{order[place + 1].address}"><span>Next</span> '
                     f"{html.escape(order[place + 1].title)}</a>")
    return f'<nav class="turn" aria-label="Pages before and after">{"".join(links)}</nav>'


def minutes_to_read(text: str) -> int:
    """Minutes for a page's words, at 200 a minute; fenced code counts like prose."""
    words = len(re.findall(r"\w+", re.sub(r"<[^>]*>", " ", text)))
    return max(1, math.ceil(words / WORDS_A_MINUTE))


def hours(minutes: int) -> str:
    whole, rest = divmod(minutes, 60)
    if not whole:
        return f"{minutes} minutes"
    return f"{whole} h {rest} min" if rest else f"{whole} hour{'s' if whole > 1 else ''}"


def _files(page: Page) -> str:
    """Links to the files of a lesson, on its page and on the pages of the files."""
    links = []
    for listing in listings(page.lesson):
        here = ' aria-current="page"' if listing.name == page.name else ""
        links.append(f'<a href="{listing.address}"{here}>{listing.title}</a>')
    return f'<p class="files"><span>{"Its" if page.kind == "lesson" else "The lesson’s"} pages:</span> {" ".join(links)}</p>'


def facts(page: Page, titles: dict[int, str]) -> str:
    """What a reader wants to know first: time to read and to do, points, what it rests on, and the lesson's files.

    titles   of lessons, by number
    """
    reading = f"{minutes_to_read(page.text())} min to read"
    if page.kind in ("beside", "code"):
        return _files(page)
    if page.kind != "lesson":
        return f'<p class="facts">{reading}</p>' if page.kind == "guide" and page.name not in LOOKED_UP else ""
    lesson = page.lesson
    rests = ", ".join(f'<a href="lesson_{number:02}.html" title="{html.escape(titles[number])}">{number:02}</a>'
                      for number in lesson["prerequisites"])
    told = [f"Part {lesson['part']}: {PARTS[lesson['part']]}", reading, f"about {hours(lesson['minutes'])} to do",
            f"{lesson['points']} points"]
    if rests:
        told.append(f"rests on {rests}")
    return f'<p class="facts">{" · ".join(told)}</p>\n{_files(page)}'


def _demote_headings(body: str) -> str:
    """A page's title is its only h1: the headings of its text start at h2."""
    return re.sub(r"<(/?)h([1-5])\b", lambda match: f"<{match.group(1)}h{int(match.group(2)) + 1}", body)


def _contract_parts(body: str) -> str:
    """In a comment, "Shapes: ... Cost: ..." becomes a list of its parts."""

    def split(match):
        parts = re.split(rf"(?:^|(?<=\s))({PARTS_OF_A_CONTRACT}): ", match.group(1))
        if len(parts) < 3:
            return match.group(0)
        lead = f"<p>{parts[0].strip()}</p>\n" if parts[0].strip() else ""
        rows = "".join(f"<dt>{name}</dt><dd>{text.strip()}</dd>\n" for name, text in zip(parts[1::2], parts[2::2]))
        return f'{lead}<dl class="parts">\n{rows}</dl>'

    return re.sub(r"<p>((?:(?!</p>).)*)</p>", split, body, flags=re.DOTALL)


def _reachable(body: str) -> str:
    """What scrolls sideways can be reached with the keyboard, and tables scroll in a box of their own."""
    body = re.sub(r'<tr class="markdownTableHead">.*?</tr>', r"<thead>\g<0></thead>", body, flags=re.DOTALL)
    body = re.sub(r"<thead>(.*?)</thead>", lambda match: match.group(0).replace("<th ", '<th scope="col" '), body,
                  flags=re.DOTALL)
    body = re.sub(r'<table class="(markdownTable|doxtable)">.*?</table>',
                  lambda match: f'<div class="wide" tabindex="0">{match.group(0)}</div>', body, flags=re.DOTALL)
    body = re.sub(r'<p\s*>(<img src="files/docs/figures/[^>]*>)</p>', r'<p class="figure" tabindex="0">\1</p>', body)
    body = body.replace('<div class="fragment">', '<div class="fragment" tabindex="0">')
    body = body.replace('<pre class="fragment">', '<pre class="fragment" tabindex="0">')
    # Tables that only lay out a declaration are none to a screen reader.
    return re.sub(r'<table class="(memname|memberdecls|mlabels)"', r'<table role="presentation" class="\1"', body)


def _plain_code(body: str) -> str:
    """Code without the links of Doxygen, which takes any name for any other of the same spelling; files stay linked."""
    body = re.sub(r'^<div class="ttc".*\n', "", body, flags=re.MULTILINE)
    body = re.sub(r'<a class="code[^"]*" href="[^"]*#[^"]*">(.*?)</a>', r"\1", body)
    # A keyword inside a word, as "id" in "Hidden", is none.
    return re.sub(r'(?<=\w)<span class="keyword\w*">(\w+)</span>', r"\1", body)


def _folded_hints(body: str) -> str:
    """Hints are read one at a time: all but the first are folded."""
    first, *others = re.split(r"(?=<h2 )", body)
    if not others:
        return body
    end = others[-1].rfind("</div>", 0, others[-1].rfind("</div><!-- contents -->"))  # of the block of text
    others[-1], rest = others[-1][:end], others[-1][end:]
    folded = [f'<details class="hint"><summary>{hint.replace("</h2>", "</h2></summary>", 1)}</details>\n' for hint in others[1:]]
    return first + others[0] + "".join(folded) + rest


def _linked_headings(body: str) -> str:
    """Each heading with an anchor shows a link to itself."""
    return re.sub(r'(<h[2-5](?: class="[^"]*")?>)<a class="anchor" id="([^"]+)"></a>\s*(.*?)(</h[2-5]>)',
                  lambda m: f'{m.group(1).replace(">", f""" id="{m.group(2)}">""")}{m.group(3)} '
                            f'<a class="here" href="#{m.group(2)}" aria-label="Link to this section">#</a>{m.group(4)}',
                  body, flags=re.DOTALL)


def _formulas(body: str, plain: list[str]) -> str:
    """Display formulas for MathJax, each with its original, which is shown as long as nothing is typeset."""
    text, *parts = re.split(r'<p class="formulaDsp">\s*\\\[(.*?)\\\]\s*</p>', body, flags=re.DOTALL)
    if len(parts) != 2 * len(plain):
        raise LostFormula(f"of {len(plain)} display formulas, Doxygen has left {len(parts) // 2}")
    for original, tex, after in zip(plain, parts[::2], parts[1::2]):
        shown = "<br>".join(html.escape(line) for line in original.split("\n"))
        text += (f'<div class="formula"><p class="plain">{shown}</p>'
                 f'<script type="math/tex; mode=display">{html.unescape(tex).strip()}</script></div>{after}')
    return text


def contents(body: str) -> str:
    """What is on this page: its sections, for pages that have at least three."""
    sections = re.findall(r'<h2 id="([^"]+)">(.*?) <a class="here"', body, re.DOTALL)
    if len(sections) < 3:
        return ""
    entries = "".join(f'<li><a href="#{anchor}">{title.strip()}</a></li>' for anchor, title in sections)
    return (f'<details class="toc" open><summary>On this page</summary>'
            f'<nav aria-label="On this page"><ul>{entries}</ul></nav></details>\n')


def _frameless(text: str) -> str:
    """What Doxygen wrote, without what belongs to its own frame or is of no use here."""
    text = text.replace("</div><!-- top -->", "").replace("&zwj;", "")
    text = re.sub(r'<p\s*><a class="anchor" id="md_[^"]*"></a>\s*</p>\n?', "", text)  # names a temporary file
    text = re.sub(r'<div class="summary">.*?</div>', "", text, flags=re.DOTALL)  # its anchors are not always there
    if 'class="formula' not in text:  # MathJax is for pages that have something to typeset
        text = re.sub(r'<script type="text/x-mathjax-config">.*?</script>\s*', "", text, flags=re.DOTALL)
        text = re.sub(r"<script[^>]*MathJax\.js[^>]*></script>\s*", "", text)
    text = re.sub(r"<title>(.*?) - \1</title>", r"<title>\1</title>", text)
    return re.sub(r'<div class="title">(.*?)</div>', r'<h1 class="title">\1</h1>', text, count=1, flags=re.DOTALL)


def finish(text: str, page: Page | None, groups, header_pages: dict[str, str]) -> str:
    """A page as Doxygen wrote it, made a page of the site.

    page           which page it is; None for a page of the reference
    groups         pages.groups()
    header_pages   the page of each header, by its path
    Raises LostFormula.
    """
    order = [entry for _, pages in groups for entry in pages]
    titles = {entry.lesson["number"]: entry.lesson["title"] for entry in order if entry.lesson}
    text = _frameless(text)
    text = re.sub(re.escape(HEADER_ADDRESS) + r'([^"#]+)', lambda match: header_pages[match.group(1)], text)
    for name in INTERACTIVE:
        place = f'<div id="flash-{name}"></div>'
        scripts = "".join(f'<script src="{script}.js"></script>' for script in ["steps_data", "steps_widget", name])
        text = text.replace(place, f'{place}<link rel="stylesheet" href="steps.css">{scripts}')
    head, mark, rest = text.partition('<div class="contents">')
    if page is not None:
        text = _formulas(_plain_code(_demote_headings(rest)), originals(page.text()))
        text = re.sub(rf'\b{re.escape(page.name)}--', "", text)
        text = re.sub(r'\b(\w+\.html#)\w+--', r"\1", text)
        mark = facts(page, titles) + "\n" + mark
    else:
        text = _contract_parts(rest)
    body = _linked_headings(_reachable(text))
    if page is not None and page.title == "hints":
        body = _folded_hints(body)
    text = head + mark + (contents(body) if page is not None and page.kind not in ("home", "code") else "") + body
    place = page or Page("", "", "", "reference", parent="reference")
    return text.replace("<!-- turn -->", turn(order, place)).replace("<!-- chapters -->", chapters(groups, place))
