"""Charts as SVG that reads in light and dark: bars, and lines over logarithmic or plain axes. The same data, the same
bytes."""

import html
import math

WIDTH, LEFT, BAR_LEFT, BAR_WIDTH, BAR = 664, 24, 214, 350, 18
STYLE = """
  .page { fill: #ffffff; }
  text { font: 14px system-ui, sans-serif; fill: #1f2328; }
  .title { font-weight: 600; }
  .small { font-size: 12px; fill: #59636e; }
  .course { fill: #0a58ca; }
  .other { fill: #818b98; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    text { fill: #f0f6fc; }
    .small { fill: #b7bfc9; }
    .course { fill: #79b0ff; }
    .other { fill: #9198a1; }
  }
""".strip("\n")
LINE_STYLE = """
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .axis { stroke: #818b98; stroke-width: 1.5; fill: none; }
  .line { fill: none; }
  .leader { fill: none; stroke: #818b98; stroke-width: 1; }
  .ceiling { fill: none; stroke: #818b98; stroke-width: 1.5; stroke-dasharray: 6 4; }
  .end { text-anchor: end; }
  .middle { text-anchor: middle; }
  .s0 { stroke: #0a58ca; } .f0 { fill: #0a58ca; }
  .s1 { stroke: #c2255c; } .f1 { fill: #c2255c; }
  .s2 { stroke: #0b7285; } .f2 { fill: #0b7285; }
  .s3 { stroke: #a45a00; } .f3 { fill: #a45a00; }
  .s4 { stroke: #8250df; } .f4 { fill: #8250df; }
  @media (prefers-color-scheme: dark) {
    .grid { stroke: #30363d; }
    .axis, .ceiling, .leader { stroke: #7d8590; }
    .s0 { stroke: #79b0ff; } .f0 { fill: #79b0ff; }
    .s1 { stroke: #ff9bb9; } .f1 { fill: #ff9bb9; }
    .s2 { stroke: #56d4dd; } .f2 { fill: #56d4dd; }
    .s3 { stroke: #ffb757; } .f3 { fill: #ffb757; }
    .s4 { stroke: #d2a8ff; } .f4 { fill: #d2a8ff; }
  }
""".strip("\n")
COLOURS = 5


def milliseconds(value):
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f} ms"


def size(count):
    return f"{count / 1e9:.1f} GB" if count >= 1e9 else f"{count / 1e6:.0f} MB"


def picture(body, height, description, style=STYLE, details=""):
    """The whole file. `description` is what a screen reader says; `details`, if there are any, it says on request."""
    labels = "title details" if details else "title"
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" '
        f'role="img" aria-labelledby="{labels}">',
        f'<title id="title">{description}</title>',
        *([f'<desc id="details">{details}</desc>'] if details else []),
        f"<style>\n{style}\n</style>",
        '<rect class="page" width="100%" height="100%" rx="8"/>',
        *body,
        "</svg>\n",
    ])


class Chart:
    """Groups of bars from top to bottom; each group has one scale of its own or shares that of the chart."""

    def __init__(self, title, subtitle, description):
        self.description = description
        self.body = [f'<text class="title" x="{LEFT}" y="28">{title}</text>',
                     f'<text class="small" x="{LEFT}" y="48">{subtitle}</text>']
        self.y = 62

    def heading(self, text):
        self.y += 18
        self.body.append(f'<text class="title" x="{LEFT}" y="{self.y}">{text}</text>')
        self.y += 10

    def bar(self, label, value, highest, shown, kind="course", why=""):
        """A bar as long as its share of `highest`; its number behind it, a remark below."""
        self.body += [
            f'<text x="{LEFT}" y="{self.y + 14}">{label}</text>',
            f'<rect class="{kind}" x="{BAR_LEFT}" y="{self.y}" width="{max(value / highest * BAR_WIDTH, 1):.1f}" '
            f'height="{BAR}" rx="2"/>',
            f'<text x="{BAR_LEFT + value / highest * BAR_WIDTH + 8:.1f}" y="{self.y + 14}">{shown}</text>',
        ]
        self.y += 28
        if why:
            self.body.append(f'<text class="small" x="{BAR_LEFT}" y="{self.y + 4}">{why}</text>')
            self.y += 18

    def svg(self, where):
        """The picture, with a line below that says where and when it was measured."""
        height = self.y + 40
        body = [*self.body, f'<text class="small" x="{LEFT}" y="{height - 16}">{where}</text>']
        return picture(body, height, self.description)


class Axis:
    """From a number to a place, evenly or by its logarithm."""

    def __init__(self, low, high, start, end, logarithmic=True):
        self.low, self.high, self.start, self.end, self.logarithmic = low, high, start, end, logarithmic

    def share(self, value):
        if self.logarithmic:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)

    def place(self, value):
        return self.start + self.share(value) * (self.end - self.start)


def decades(low, high):
    """Powers of ten from the last that is not above `low` to the first that is not below `high`."""
    first, last = math.floor(math.log10(low) + 1e-9), math.ceil(math.log10(high) - 1e-9)
    return [10.0**power for power in range(first, max(last, first + 1) + 1)]


class Plot:
    """One panel: an axis along x whose ticks are given, a logarithmic axis along y in powers of ten, lines, points.

    `series` of add_line() have the colour of their number everywhere on a figure; a legend names them.
    """

    LEFT, RIGHT, HIGH = 84, 24, 216

    def __init__(self, top, title, x_ticks, y_values, x_title, y_tick, x_tick="{:,.0f}".format):
        self.top = top
        ticks = decades(min(y_values), max(y_values))
        self.x = Axis(x_ticks[0], x_ticks[-1], self.LEFT, WIDTH - self.RIGHT)
        self.y = Axis(ticks[0], ticks[-1], top + 20 + self.HIGH, top + 20)
        self.body = [f'<text class="title" x="{LEFT}" y="{top}">{html.escape(title)}</text>']
        for tick in ticks:
            y = self.y.place(tick)
            self.body += [f'<path class="grid" d="M {self.x.start} {y:.1f} H {self.x.end}"/>',
                          f'<text class="small end" x="{self.x.start - 8}" y="{y + 4:.1f}">{y_tick(tick)}</text>']
        bottom = self.y.start
        for tick in x_ticks:
            x = self.x.place(tick)
            self.body += [f'<path class="axis" d="M {x:.1f} {bottom} v 5"/>',
                          f'<text class="small middle" x="{x:.1f}" y="{bottom + 20}">{x_tick(tick)}</text>']
        self.body += [f'<path class="axis" d="M {self.x.start} {self.y.end} V {bottom} H {self.x.end}"/>',
                      f'<text class="small middle" x="{(self.x.start + self.x.end) / 2:.1f}" y="{bottom + 38}">'
                      f'{html.escape(x_title)}</text>']
        self.bottom = bottom + 50

    def add_lines(self, lines):
        """Lines with a dot at each point (x, y), each in the colour of its number. The first lies on top and is the
        thinnest, so that of lines in one place each shows."""
        for number, points in reversed(list(enumerate(lines))):
            places = [(self.x.place(x), self.y.place(y)) for x, y in points]
            if len(places) > 1:
                path = " L ".join(f"{x:.1f} {y:.1f}" for x, y in places)
                wide = f'stroke-width="{2 + 1.5 * number:g}"'
                self.body.append(f'<path class="line s{number % COLOURS}" {wide} d="M {path}"/>')
            self.body += [f'<circle class="f{number % COLOURS}" cx="{x:.1f}" cy="{y:.1f}" r="{3.5 + number:g}"/>'
                          for x, y in places]

    def add_ceiling(self, points, label, at, end=False):
        """A dashed line; its label stands at `at`, which is a number along each axis, above it."""
        path = " L ".join(f"{self.x.place(x):.1f} {self.y.place(y):.1f}" for x, y in points)
        place = "small end" if end else "small"
        self.body += [f'<path class="ceiling" d="M {path}"/>',
                      f'<text class="{place}" x="{self.x.place(at[0]):.1f}" y="{self.y.place(at[1]) - 6:.1f}">'
                      f'{html.escape(label)}</text>']

    def add_points_beside(self, points):
        """Dots at (x, y, label). The labels stand in a column at the right of them all, and a line leads to each."""
        places = sorted((self.y.place(y), self.x.place(x), label) for x, y, label in points)
        across, down = max(x for _, x, _ in places) + 28, -math.inf
        for y, x, label in places:
            down = max(y, down + 14)
            self.add_point(x, y, (across, down), (across + 4, down + 4), label)

    def add_points_over_labels(self, points, lowest):
        """The same, but the labels stand in a row below the dots, in their order, at the height of the value `lowest`."""
        places = sorted((self.x.place(x), self.y.place(y), label) for x, y, label in points)
        row, across = self.y.place(lowest), -math.inf
        for at_right, (x, y, label) in zip(reversed(range(len(places))), places):
            across = max(min(x, places[-1][0] - 20 * at_right), across + 20)
            self.add_point(x, y, (across, row - 12), (across - 7, row), label)

    def add_point(self, x, y, end, text, label):
        self.body += [f'<path class="leader" d="M {x:.1f} {y:.1f} L {end[0]:.1f} {end[1]:.1f}"/>',
                      f'<circle class="f0" cx="{x:.1f}" cy="{y:.1f}" r="4"/>',
                      f'<text class="small" x="{text[0]:.1f}" y="{text[1]:.1f}">{html.escape(label)}</text>']


def legend(top, names):
    """Names of series in their colours, in rows; gives the lines and where they end."""
    body, x, y = [], LEFT, top
    for number, name in names:
        wide = 26 + 7.2 * len(name)
        if x > LEFT and x + wide > WIDTH - LEFT:
            x, y = LEFT, y + 20
        body += [f'<rect class="f{number % COLOURS}" x="{x:.1f}" y="{y - 10}" width="12" height="12" rx="2"/>',
                 f'<text class="small" x="{x + 18:.1f}" y="{y}">{html.escape(name)}</text>']
        x += wide + 8
    return body, y + 24


def line_figure(title, subtitle, description, names, make_plots, where):
    """A figure of panels from top to bottom: `make_plots(top)` gives each, from a list of functions."""
    body = [f'<text class="title" x="{LEFT}" y="28">{html.escape(title)}</text>',
            f'<text class="small" x="{LEFT}" y="48">{html.escape(subtitle)}</text>']
    key, y = legend(74, names) if names else ([], 70)
    body += key
    for make in make_plots:
        plot = make(y + 10)
        body += plot.body
        y = plot.bottom + 14
    body.append(f'<text class="small" x="{LEFT}" y="{y + 4}">{html.escape(where)}</text>')
    return picture(body, y + 20, html.escape(description), STYLE + "\n" + LINE_STYLE)
