"""Draws steps of a trace: which lane of a warp touched which word of memory.

Global memory is a row of sectors of 8 words, in memory order; only sectors that travel are there, and what no lane asked
for in them is hatched. Shared memory is a grid whose columns are the 32 banks. A colour stands for four lanes, from
light to dark; the number in a square is the lane.
"""

import html

import charts
import trace_traffic
import trace_words
from trace_steps import BANKS, SECTOR_BYTES, WORD_BYTES

CELL, LOW_CELL, GAP, LEFT = 17, 13, 3, 100  # squares are lower where there are many rows
SECTOR_WORDS, SECTORS_A_ROW, MOST_ROWS = SECTOR_BYTES // WORD_BYTES, 4, 33
LABEL, LINE = 14, 17  # heights of a small label above squares and of a line of text
# Eight shades of four lanes each: fill and text in light, fill and text in dark. Their lightness rises or falls from
# one to the next, so that the order shows without colours, too.
SHADES = [("#fff3c4", "#1f2328", "#2c3e63", "#ffffff"), ("#fbdf8f", "#1f2328", "#37538a", "#ffffff"),
          ("#e6c65c", "#1f2328", "#4466a8", "#ffffff"), ("#b7ac62", "#1f2328", "#76889c", "#000000"),
          ("#55737b", "#ffffff", "#a79f77", "#000000"), ("#3a6397", "#ffffff", "#cdb65a", "#000000"),
          ("#204680", "#ffffff", "#ecd079", "#000000"), ("#0b2a5b", "#ffffff", "#fff0b8", "#000000")]


def shade_style(light):
    return "\n".join(f"  .l{i} {{ fill: {shade[0 if light else 2]}; }} .t{i} text {{ fill: {shade[1 if light else 3]}; }}"
                     for i, shade in enumerate(SHADES))


STYLE = "\n".join([charts.STYLE, """
  .code { font: 12px ui-monospace, monospace; }
  .cost { font-weight: 600; }
  .middle { text-anchor: middle; }
  .end { text-anchor: end; }
  .tiny, .n text { font-size: 10px; text-anchor: middle; }
  .label { font-size: 10px; fill: #59636e; }
  .paper { fill: #f3f5f7; }
  .hatch { stroke: #afb8c1; stroke-width: 1.5; }
  .box { fill: none; stroke: #59636e; }
  .grid { stroke: #d1d9e0; fill: none; }
  .conflict { fill: none; stroke: #cf222e; stroke-width: 2; }
  .bad { fill: #b31d28; }
""".strip("\n"), shade_style(True), """
  @media (prefers-color-scheme: dark) {
    .label { fill: #b7bfc9; }
    .paper { fill: #1a2029; }
    .hatch { stroke: #57606a; }
    .box { stroke: #9198a1; }
    .grid { stroke: #30363d; }
    .conflict { stroke: #ff7b72; }
    .bad { fill: #ff9b94; }
""".strip("\n"), shade_style(False), "  }"])
HATCHING = ('<pattern id="unused" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
            '<rect class="paper" width="5" height="5"/><path class="hatch" d="M0 0V5"/></pattern>')


def text(kind, x, y, words):
    return f'<text class="{kind}" x="{x:g}" y="{y:g}">{html.escape(words)}</text>'


def shortened(words, most):
    return words if len(words) <= most else words[:most - 1] + "…"


class Squares:
    """Words at places of a picture, with the lanes that touch them; those of one shade become one path."""

    def __init__(self, high=CELL):
        self.high, self.paths, self.texts, self.marks = high, {}, {}, []

    def add(self, x, y, words, lanes, conflict=False):
        """Words that lie side by side and are touched by the same lanes."""
        shade, wide = lanes[0] // 4, words * CELL
        self.paths.setdefault(shade, []).append(f"M{x + 0.5:g} {y + 0.5:g}h{wide - 1}v{self.high - 1}h{1 - wide}z")
        label = f"{lanes[0]}{'+' if len(lanes) > 1 else ''}"
        self.texts.setdefault(shade, []).append(f'<text x="{x + wide / 2:g}" y="{y + self.high / 2 + 4:g}">{label}</text>')
        if conflict:
            self.marks.append(f"M{x + 1:g} {y + 1:g}h{wide - 2}v{self.high - 2}h{2 - wide}z")

    def svg(self):
        body = [f'<path class="l{shade}" d="{"".join(parts)}"/>' for shade, parts in sorted(self.paths.items())]
        body += [f'<g class="n t{shade}">{"".join(parts)}</g>' for shade, parts in sorted(self.texts.items())]
        return body + ([f'<path class="conflict" d="{"".join(self.marks)}"/>'] if self.marks else [])


def runs_of(words, width):
    """[(first word, how many, lanes)]: words side by side that the same lanes touch, within pieces of `width` words."""
    runs = []
    for word in sorted(words):
        lanes = words[word]
        if runs and word % width and runs[-1][0] + runs[-1][1] == word and runs[-1][2] == lanes:
            runs[-1][1] += 1
        else:
            runs.append([word, 1, lanes])
    return runs


def element_at(step, word):
    """The index of the element that the first lane to touch a word asked for: "[3][0]"."""
    for place, index in zip(step.addresses, step.indices):
        if place // WORD_BYTES <= word <= (place + step.bytes - 1) // WORD_BYTES:
            return "".join(f"[{i}]" for i in index)
    return ""


def first_words(words, width):
    """{piece: its first word that a lane touches}, of pieces of `width` words."""
    first = {}
    for word in sorted(words):
        first.setdefault(word // width, word)
    return first


def element_label(step, word, x, y):
    """The element above the first word of a sector at x that is touched, and within the width of the sector."""
    at = word % SECTOR_WORDS * CELL
    if at < SECTOR_WORDS * CELL / 2:
        return text("label", x + at, y, element_at(step, word))
    return text("label end", x + at + CELL, y, element_at(step, word))


def draw_global(step, y):
    """The sectors, four a row. Gives the lines and where they end."""
    words = trace_traffic.words_by_lane(step)
    sectors, first = trace_traffic.sectors_touched(step), first_words(words, SECTOR_WORDS)
    shown = sectors[:MOST_ROWS * SECTORS_A_ROW]
    pitch, squares, body, boxes, places = SECTOR_WORDS * CELL + GAP, Squares(), [], [], {}
    for i, sector in enumerate(shown):
        x, top = LEFT + i % SECTORS_A_ROW * pitch, y + i // SECTORS_A_ROW * (LABEL + CELL + 5) + LABEL
        places[sector] = x, top
        boxes.append(f"M{x} {top:g}h{SECTOR_WORDS * CELL}v{CELL}h-{SECTOR_WORDS * CELL}z")
        body.append(element_label(step, first[sector], x, top - 3))
    body.append(f'<path fill="url(#unused)" d="{"".join(boxes)}"/>')
    for word, count, lanes in runs_of(words, SECTOR_WORDS):
        if word // SECTOR_WORDS in places:
            x, top = places[word // SECTOR_WORDS]
            squares.add(x + word % SECTOR_WORDS * CELL, top, count, lanes)
    body += squares.svg()
    body.append(f'<path class="box" d="{"".join(boxes)}"/>')
    body.append(text("label end", LEFT - 8, y + LABEL + 12, shortened(step.array or "no name", 13)))
    return body, y + -(-len(shown) // SECTORS_A_ROW) * (LABEL + CELL + 5) + 4


def draw_shared(step, y):
    """The rows of 32 banks in which a word is touched. Gives the lines and where they end."""
    words, conflicts = trace_traffic.words_by_lane(step), trace_traffic.words_in_conflict(step)
    first = first_words(words, BANKS)
    high = CELL if len(first) <= 8 else LOW_CELL
    squares, rows = Squares(high), {row: y + LABEL + i * high for i, row in enumerate(sorted(first)[:MOST_ROWS])}
    body = [text("tiny label", LEFT + (bank + 0.5) * CELL, y + LABEL - 4, str(bank)) for bank in (0, 8, 16, 24, 31)]
    body.append(text("label end", LEFT - 8, y + LABEL - 4, "bank"))
    bottom = y + LABEL + len(rows) * high
    body.append(f'<path class="paper" d="M{LEFT} {y + LABEL}h{BANKS * CELL}V{bottom}h-{BANKS * CELL}z"/>')
    lines = "".join(f"M{LEFT + bank * CELL} {y + LABEL}V{bottom}" for bank in range(BANKS + 1))
    lines += "".join(f"M{LEFT} {top}h{BANKS * CELL}" for top in [*rows.values(), bottom])
    body.append(f'<path class="grid" d="{lines}"/>')
    for word, count, lanes in runs_of(words, BANKS):
        if word // BANKS in rows:
            conflict = any(one in conflicts for one in range(word, word + count))
            squares.add(LEFT + word % BANKS * CELL, rows[word // BANKS], count, lanes, conflict)
    body += squares.svg()
    every = max(1, -(-len(rows) // 12))
    for i, (row, top) in enumerate(rows.items()):
        if i % every == 0:
            body.append(text("label end", LEFT - 8, top + high / 2 + 4, element_at(step, first[row])))
    return body, bottom + 8


def has_conflict(step):
    return step.memory == "shared" and trace_traffic.wavefronts_without_conflicts(step) < step.wavefronts


def draw_step(step, y):
    """What the step is and costs, and its picture. Gives the lines and where they end."""
    memory = "shared memory" if step.memory == "shared" else "global memory"
    what = f"Warp {step.warp}, step {step.number}: {trace_words.pattern_of(step)}"
    body = [text("small", charts.LEFT, y + 12, shortened(what, 100)),
            text(f"small cost{' bad' if has_conflict(step) else ''}", charts.LEFT, y + 12 + LINE,
                 f"{memory[0].upper()}{memory[1:]}: {trace_words.cost_of(step)}")]
    drawn, y = (draw_shared if step.memory == "shared" else draw_global)(step, y + 12 + LINE + 8)
    return body + drawn, y


def draw_heading(step, source, y):
    """The source line of an access, and of what it is an access."""
    where, what = trace_words.line_of(step), trace_words.name_of(step)
    body = [text("title", charts.LEFT, y + 14, f"{where}: {what}")]
    if source:
        body.append(text("code", charts.LEFT, y + 14 + LINE, shortened(source, 82)))
        y += LINE
    return body, y + 22


def legend(steps, y):
    """What the shades mean, and the hatching and the outline if these steps have them."""
    x, body = charts.LEFT, []
    for i in range(len(SHADES)):
        body.append(f'<rect class="l{i}" x="{x + i * CELL}" y="{y}" width="{CELL - 1}" height="{CELL - 1}"/>')
        body.append(f'<g class="n t{i}"><text x="{x + i * CELL + 8}" y="{y + 12}">{4 * i}</text></g>')
    x += len(SHADES) * CELL + 8
    body.append(text("small", x, y + 12, "lane; 4+: lane 4 and others"))
    x += 180
    if any(step.memory == "global" for step in steps):
        body.append(f'<rect x="{x}" y="{y}" width="{CELL}" height="{CELL - 1}" fill="url(#unused)"/>')
        body.append(text("small", x + 24, y + 12, "in the sector, not used"))
        x += 170
    if any(map(has_conflict, steps)):
        body.append(f'<rect class="conflict" x="{x + 1}" y="{y + 1}" width="{CELL - 2}" height="{CELL - 3}"/>')
        body.append(text("small", x + 24, y + 12, "bank conflict"))
    return body, y + CELL + 12


def assemble(title, body, height, words):
    """The file. `words`: the sentences that say the same."""
    top = [HATCHING, text("title", charts.LEFT, 28, shortened(title, 84))]
    return charts.picture([*top, *body], round(height), html.escape(title), STYLE, html.escape("\n".join(words)))
