"""Charts by matplotlib as SVG that reads in light and dark, and whose text is text.

A figure has 72 units to the inch, as many as matplotlib's SVG: so all sizes are pixels. Colours are those of COLOURS.
The same data and the same matplotlib give the same bytes; another matplotlib may place things a little differently,
which is why a picture has the digest of what is drawn in it.
"""

import hashlib
import html
import io
import json
import math
import pathlib
import re
import sys
from typing import NamedTuple
from xml.etree import ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "common" / "draw"))
import charts  # noqa: E402
from charts import LEFT, WIDTH  # noqa: E402

try:
    import matplotlib
    from matplotlib.figure import Figure
    from matplotlib.text import Text
except ImportError:
    sys.exit(f"{sys.executable} has no matplotlib: `sh scripts/setup.sh test --yes` installs python3-matplotlib for "
             "the Python of the system.")

# In light, and in dark. Text has a contrast of 4.5 with the page, and what has to be seen to be understood 3.
COLOURS = {
    "page": ("#ffffff", "#0d1117"), "text": ("#1f2328", "#f0f6fc"), "small": ("#59636e", "#b7bfc9"),
    "grid": ("#d1d9e0", "#30363d"), "grey": ("#818b98", "#9198a1"), "blue": ("#0a58ca", "#79b0ff"),
    "red": ("#c2255c", "#ff9bb9"), "teal": ("#0b7285", "#56d4dd"), "brown": ("#a45a00", "#ffb757"),
    "violet": ("#8250df", "#d2a8ff"),
}  # fmt: skip
LIGHT = {name: light for name, (light, _) in COLOURS.items()}
THEME = {
    "svg.fonttype": "none", "svg.hashsalt": "course", "font.sans-serif": ["DejaVu Sans"], "font.size": 12,
    "text.color": LIGHT["small"], "figure.facecolor": "none", "axes.facecolor": "none",
    "axes.edgecolor": LIGHT["grey"], "axes.linewidth": 1.5,
    "axes.labelcolor": LIGHT["small"], "axes.labelpad": 6, "axes.titlecolor": LIGHT["text"], "axes.titlesize": 14,
    "axes.titleweight": "bold", "axes.titlepad": 14, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "axes.grid.axis": "y", "axes.axisbelow": True, "grid.color": LIGHT["grid"], "grid.linewidth": 1,
    "xtick.bottom": False, "xtick.major.size": 0, "xtick.major.pad": 12, "xtick.labelcolor": LIGHT["small"],
    "ytick.left": False, "ytick.major.size": 0, "ytick.major.pad": 8, "ytick.labelcolor": LIGHT["small"],
}  # fmt: skip
matplotlib.rcdefaults()  # whatever the user's own settings are
matplotlib.rcParams.update(THEME)

LABEL_GAP = 15  # from one line of small text to the next
BAR_LEFT, BAR_RIGHT, BAR = 214, 140, 18


def panels(title, subtitle, where, highs, *, gap=0, top=100, below=40, left=84, right=24, wspace=0.0, **how):
    """A figure with axes of these heights from top to bottom, and the line below it that says where and when it was
    measured. `how`: as Figure.subplots() has it. Gives the figure, and the rows of its axes."""
    height = top + sum(highs) + gap * (len(highs) - 1) + below
    figure = Figure(figsize=(WIDTH / 72, height / 72), dpi=72)
    for y, text, style in ((28, title, {"size": 14, "weight": "bold", "color": LIGHT["text"]}), (48, subtitle, {}),
                           (height - 16, where, {})):
        figure.text(LEFT / WIDTH, 1 - y / height, text, **style)
    grid = {"left": left / WIDTH, "right": 1 - right / WIDTH, "top": 1 - top / height, "bottom": below / height,
            "hspace": gap * len(highs) / sum(highs), "wspace": wspace, "height_ratios": highs}
    return figure, figure.subplots(len(highs), squeeze=False, gridspec_kw=grid, **how)


def head(axes, text):
    """A heading over the axes, that begins where the picture's title does."""
    box = axes.get_position()
    axes.set_title(text, loc="left", x=(LEFT / WIDTH - box.x0) / box.width)


class Bar(NamedTuple):
    label: str
    value: float
    shown: str  # behind the bar
    colour: str = "blue"
    remark: str = ""  # below it


def bar_figure(title, subtitle, where, groups, whole=0.0):
    """Bars in groups from top to bottom, on one scale. `groups`: a heading and the bars of each. With `whole`, a pale
    bar behind each shows what it is a share of."""
    pitch = 48 if any(bar.remark for _, bars in groups for bar in bars) else 28
    gap = 38 if groups[0][0] else 0
    figure, rows = panels(title, subtitle, where, [pitch * len(bars) for _, bars in groups], gap=gap, top=62 + gap,
                          left=BAR_LEFT, right=BAR_RIGHT)
    highest = max(whole, *(bar.value for _, bars in groups for bar in bars))
    for (axes,), (heading, bars) in zip(rows, groups):
        head(axes, heading)
        places, values = range(len(bars)), [bar.value for bar in bars]
        if whole:
            behind = axes.barh(places, [max(whole, value) for value in values], BAR / pitch, color=LIGHT["grid"])
        drawn = axes.barh(places, values, BAR / pitch, color=[LIGHT[bar.colour] for bar in bars])
        axes.bar_label(behind if whole else drawn, [bar.shown for bar in bars], padding=8, size=14, color=LIGHT["text"])
        for place, bar in enumerate(bars):
            if bar.remark:
                axes.annotate(bar.remark, (0, place), (0, -BAR / 2 - 4), textcoords="offset points", va="top")
        axes.set(xlim=(0, highest), ylim=(len(bars) - 14 / pitch, -14 / pitch), xticks=[])
        axes.set_yticks(places, [bar.label for bar in bars], size=14, color=LIGHT["text"], ha="left")
        axes.tick_params(axis="y", pad=BAR_LEFT - LEFT)
        axes.grid(False)
        axes.spines[:].set_visible(False)
    return figure


def decades(low, high):
    """Powers of ten from the last that is not above `low` to the first that is not below `high`."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


def power_of_ten(value):
    return "10" + str(round(math.log10(value))).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def logarithmic(axes, x_ticks, y_ticks, x_tick="{:,.0f}".format, y_tick="{:,g}".format):
    """Both axes by logarithms, from the first to the last of the ticks."""
    axes.set(xscale="log", yscale="log", xlim=(x_ticks[0], x_ticks[-1]), ylim=(y_ticks[0], y_ticks[-1]))
    for axis, ticks, shown in ((axes.xaxis, x_ticks, x_tick), (axes.yaxis, y_ticks, y_tick)):
        axis.set_ticks(ticks, [shown(tick) for tick in ticks])
        axis.set_ticks([], minor=True)


def draw_lines(axes, lines, colours):
    """Lines with a dot at each point; `lines`: by name, the pairs of numbers. The first lies on top and is the
    thinnest, so that of lines in one place each shows."""
    for number, (name, points) in enumerate(lines.items()):
        if points:
            axes.plot(*zip(*points), "o-", color=LIGHT[colours[number]], label=name, linewidth=2 + 1.3 * number,
                      markersize=6 + 1.6 * number, zorder=3 - 0.1 * number, clip_on=False)


def spread(places, gap, low=-math.inf, high=math.inf):
    """Places for labels, in the order of the wished ones, which rise: at least `gap` apart, and as near as can be."""
    # Of each run of labels that touch: the sum of the places at which each of them wants the first, and their number.
    runs = []
    for number, place in enumerate(places):
        runs.append((place - number * gap, 1))
        while len(runs) > 1 and runs[-2][0] / runs[-2][1] > runs[-1][0] / runs[-1][1]:
            last, before = runs.pop(), runs.pop()
            runs.append((before[0] + last[0], before[1] + last[1]))
    firsts = [total / count for total, count in runs for _ in range(count)]
    return [max(low, min(first, high - gap * (len(places) - 1))) + number * gap for number, first in enumerate(firsts)]


def point_at(axes, label, point, place, colour, start, **how):
    """A label at a place of the picture, in its pixels, and a thin line to a point of the axes. `start`: where the line
    leaves the label, as shares of its width and height."""
    axes.annotate(label, point, place, textcoords="figure pixels", annotation_clip=False,
                  arrowprops={"arrowstyle": "-", "color": colour, "shrinkA": 2, "shrinkB": 4, "relpos": start}, **how)


def label_lines(axes):
    """Names the lines at the right of the axes, in their colours, each where its last point is or as near as can be."""
    box = axes.bbox
    ends = sorted((axes.transData.transform(line.get_xydata()[-1])[1], number)
                  for number, line in enumerate(axes.lines))
    heights = spread([y for y, _ in ends], LABEL_GAP, low=box.y0)
    for height, (_, number) in zip(heights, ends):
        line = axes.lines[number]
        point_at(axes, line.get_label(), line.get_xydata()[-1], (box.x1 + 24, height), line.get_color(), (0, 0.5),
                 va="center", color=line.get_color())


def digest(figure, description):
    """Of what is drawn, whatever draws it: words, points of lines, lengths of bars."""
    words = sorted(text.get_text() for text in figure.findobj(Text) if text.get_visible() and text.get_text())
    rows = [line.get_xydata().ravel() for axes in figure.axes for line in axes.lines]
    rows += [[bar.get_width() for bar in axes.patches] for axes in figure.axes]
    numbers = [[f"{number:.6g}" for number in row] for row in rows]
    return hashlib.sha256(json.dumps([description, words, numbers]).encode()).hexdigest()[:16]


def style_of(used):
    """The frame's style, and dark colours in place of the light ones that are written at each element. `used`: pairs of
    what is coloured, fill or stroke, and its colour in light."""
    rules = [f'    [style*="{part}: {light}"] {{ {part}: {dark} !important; }}'
             for light, dark in COLOURS.values() for part in ("fill", "stroke") if (part, light) in used]
    return "\n".join([charts.STYLE, "  text { font-family: system-ui, sans-serif !important; }",
                      "  path { stroke-linejoin: round; }", "  @media (prefers-color-scheme: dark) {", *rules, "  }"])


def svg(figure, description):
    """The figure as the text of a file; `description` is what a screen reader says.

    @throws ValueError if it has a colour that is not in COLOURS, or none where SVG would take black
    """
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    root = ElementTree.fromstring(file.getvalue())
    for element in root.iter():  # browsers need no namespaces but the first, and no more than hundredths of a pixel
        element.tag = element.tag.split("}")[-1]
        element.attrib = {name.split("}")[-1]: re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", value)
                          for name, value in element.attrib.items()}
    used = {pair for element in root.iter() for pair in re.findall(r"([\w-]+): (#\w+)", element.get("style", ""))}
    if strange := {colour for _, colour in used} - set(LIGHT.values()):
        raise ValueError(f"colours without a pair in dark: {', '.join(sorted(strange))}")
    defined = {element for defs in root.iter("defs") for element in defs.iter()}
    for element in root.iter():
        if element.tag in ("path", "use") and element not in defined and "fill: " not in element.get("style", ""):
            raise ValueError(f"SVG fills this with black: {ElementTree.tostring(element, encoding='unicode')}")
    body = [f"<metadata>{digest(figure, description)}</metadata>"]
    body += [ElementTree.tostring(element, encoding="unicode").strip() for element in root
             if element.find("style") is None]  # matplotlib's own, of which style_of() has what is needed
    return charts.picture(body, round(figure.get_figheight() * 72), html.escape(description), style_of(used))


def is_drawn_in(file, figure, description):
    """Whether the file is this figure, though another matplotlib may have drawn it."""
    figure.draw_without_rendering()  # ticks have their words only then
    return file.is_file() and f"<metadata>{digest(figure, description)}</metadata>" in file.read_text(encoding="utf-8")
