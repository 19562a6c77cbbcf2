"""Pictures of boxes, words and arrows as SVG, in the frame and the colours of the other pictures.

Each function gives the elements of one shape; picture() makes a file of them.
"""

import html
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common" / "draw"))
import charts  # noqa: E402
from charts import LEFT, WIDTH  # noqa: E402, F401  (the scripts of the pictures use them)
from options import check_words  # noqa: E402

# In light, and in dark: a line, and what fills a box within it. Text on a filled box has a contrast of 4.5.
COLOURS = {
    "blue": ("#0a58ca", "#dbe8fb", "#79b0ff", "#12305c"),
    "brown": ("#a45a00", "#fbe9d0", "#ffb757", "#4a2f0c"),
    "teal": ("#0b7285", "#d6f0f3", "#56d4dd", "#0b3a42"),
    "red": ("#c2255c", "#fbdce7", "#ff9bb9", "#521a2e"),
    "violet": ("#8250df", "#ece2fb", "#d2a8ff", "#3a2460"),
    "grey": ("#818b98", "#eceff2", "#9198a1", "#21262d"),
}
STYLE = "\n".join([
    charts.STYLE, "  .middle { text-anchor: middle; }", "  .end { text-anchor: end; }",
    "  .arrow { stroke: #59636e; stroke-width: 1.5; fill: none; }", "  .head { fill: #59636e; }",
    *(f"  .{name} {{ stroke: {line}; fill: {fill}; stroke-width: 1.5; }}\n  .line-{name} {{ stroke: {line}; fill: none; "
      f"stroke-width: 2; }}" for name, (line, fill, _, _) in COLOURS.items()),
    "  @media (prefers-color-scheme: dark) {", "    .arrow { stroke: #b7bfc9; }", "    .head { fill: #b7bfc9; }",
    *(f"    .{name} {{ stroke: {line}; fill: {fill}; }}\n    .line-{name} {{ stroke: {line}; }}"
      for name, (_, _, line, fill) in COLOURS.items()), "  }"])  # fmt: skip


def text(x, y, words, kind=""):
    """A line of words; `kind`: small, title, middle, end."""
    return [f'<text{f""" class="{kind}" """.rstrip() if kind else ""} x="{x:g}" y="{y:g}">{html.escape(words)}</text>']


def box(x, y, width, height, colour, words="", below=""):
    """A box with words in its middle, and smaller ones under them."""
    drawn = [f'<rect class="{colour}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="3"/>']
    middle = y + height / 2 + 5 - (8 if below else 0)
    if words:
        drawn += text(x + width / 2, middle, words, "middle")
    if below:
        drawn += text(x + width / 2, middle + 16, below, "small middle")
    return drawn


def arrow(*points, colour=""):
    """A line through the points, with a head at the last."""
    (x0, y0), (x1, y1) = points[-2:]
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    path = " L ".join(f"{x:g} {y:g}" for x, y in (*points[:-1], (x1 - 6 * dx, y1 - 6 * dy)))
    head = " L ".join(f"{x:.1f} {y:.1f}" for x, y in ((x1, y1), (x1 - 8 * dx - 4 * dy, y1 - 8 * dy + 4 * dx),
                                                    (x1 - 8 * dx + 4 * dy, y1 - 8 * dy - 4 * dx)))
    return [f'<path class="{f"line-{colour}" if colour else "arrow"}" d="M {path}"/>', f'<path class="head" d="M {head} z"/>']


def picture(body, height, description):
    return charts.picture(body, height, html.escape(description), STYLE)


def constant(path, name):
    """The number of `kName = 123` in a source file of the project."""
    found = re.findall(rf"\b{name} = (\d+)\b", (ROOT / path).read_text(encoding="utf-8"))
    if len(set(found)) != 1:
        sys.exit(f"{path} has {len(set(found))} values of {name} instead of 1")
    return int(found[0])


def write_pictures(drawings, usage):
    """The main function of a script: draws the one that the file on the command line is named after, or all into
    docs/figures. `drawings`: functions by name, which give the text of a file."""
    check_words()
    if len(sys.argv) > 2:
        sys.exit(usage)
    figures = [pathlib.Path(sys.argv[1])] if len(sys.argv) > 1 else [ROOT / "docs" / "figures" / f"{name}.svg" for name in drawings]
    for figure in figures:
        if figure.stem not in drawings:
            sys.exit(f"there is no picture {figure.stem}; there are {', '.join(drawings)}")
        figure.write_text(drawings[figure.stem](), encoding="utf-8")
        print(f"wrote {figure}")
