"""Draws the visits of trace_tiles: for each array its rows from left to right and time downwards, and the tiles of S."""

import charts
import trace_picture
from trace_tiles import NAMES, head_of, named, ranges_of, tiles_of
from trace_words import plural

SHOWN_VISITS, SHOWN_HEADS, LISTED = 24, 2, 6
BAR_LEFT, BAR_WIDTH, BAR, TILE_SIDE = 136, charts.WIDTH - charts.LEFT - 136, 8, 260


def shade(number, count):
    """The class of a shade for number of count, from the first to the last."""
    return f"l{number * (len(trace_picture.SHADES) - 1) // max(count - 1, 1)}"


def listed(things):
    """The first few of them."""
    more = f"; and {len(things) - LISTED} more" if len(things) > LISTED else ""
    return "; ".join(things[:LISTED]) + more


def rows_said(name, verb, visits):
    """ "K is read in 2 visits: rows 0 to 63; rows 64 to 127."; with the heads, if there is more than the first."""
    first_head_alone = all(head == (0, 0) for visit in visits for head, _ in visit.rows)
    said = [", ".join(named("row", "rows", rows) + ("" if first_head_alone else f" of {head_of(head)}")
                      for head, rows in visit.rows) for visit in visits]
    return f"{name} is {verb} in {plural(len(visits), 'visit')}: {listed(said)}."


def draw_strip(name, verb, visits, rows, y):
    """The rows of an array from left to right, and its visits from top to bottom. Gives the lines and where they end."""
    shown = visits[:SHOWN_VISITS]
    body = [trace_picture.text("small", charts.LEFT, y + 10, f"{name}, {verb}"),
            f'<rect class="paper" x="{BAR_LEFT}" y="{y}" width="{BAR_WIDTH}" height="{len(shown) * BAR}"/>']
    for number, visit in enumerate(shown):
        for first, last in sorted({one for _, of_head in visit.rows for one in ranges_of(of_head)}):
            body.append(f'<rect class="{shade(number, len(visits))}" x="{BAR_LEFT + first / rows * BAR_WIDTH:.1f}" '
                        f'y="{y + number * BAR}" width="{max((last + 1 - first) / rows * BAR_WIDTH, 1):.1f}" '
                        f'height="{BAR - 1}"/>')
    y += len(shown) * BAR
    if len(visits) > len(shown):
        body.append(trace_picture.text("label", BAR_LEFT, y + 10, f"and {plural(len(visits) - len(shown), 'more visit')}"))
        y += 12
    return body, y + 12


def draw_strips(visits, y):
    body = [trace_picture.text("title", charts.LEFT, y + 14, "Rows that the block visits"),
            trace_picture.text("small", BAR_LEFT, y + 34, "from left to right the rows of the array, from top to bottom "
                               "time")]
    y += 44
    words = []
    for name, verb in sorted(visits.touched, key=lambda key: (NAMES.index(key[0]), key[1])):
        if of_array := visits.of(name, verb):
            lines, y = draw_strip(name, verb, of_array, visits.rows_of(name), y)
            body += lines
            words.append(rows_said(name, verb, of_array))
    return body, y + 8, words


def draw_grid(tiles, queries, keys, x, y):
    """S of one head, with its tiles in the order of their visits."""
    scale = TILE_SIDE / max(queries, keys)
    body = [f'<rect class="paper" x="{x}" y="{y}" width="{keys * scale:.1f}" height="{queries * scale:.1f}"/>']
    for number, tile in enumerate(tiles):
        name = shade(number, len(tiles))
        for top, low in ranges_of(tile.queries):
            for left, right in ranges_of(tile.keys):
                at_x, at_y = x + left * scale, y + top * scale
                wide, high = (right + 1 - left) * scale, (low + 1 - top) * scale
                body.append(f'<rect class="{name}" x="{at_x:.1f}" y="{at_y:.1f}" width="{max(wide - 1, 1):.1f}" '
                            f'height="{max(high - 1, 1):.1f}"/>')
                if wide >= 14 and high >= 12:
                    body.append(f'<g class="n {name.replace("l", "t")}"><text x="{at_x + wide / 2:.1f}" '
                                f'y="{at_y + high / 2 + 4:.1f}">{number + 1}</text></g>')
    body.append(f'<rect class="box" x="{x}" y="{y}" width="{keys * scale:.1f}" height="{queries * scale:.1f}"/>')
    body.append(trace_picture.text("label", x, y + queries * scale + 12, f"keys 0 to {keys - 1}"))
    return body, y + queries * scale


def draw_tiles(tiles, queries, keys, y):
    """A grid for each pair of heads, side by side. Gives the lines, where they end, and the sentences."""
    pairs = {}
    for tile in tiles:
        pairs.setdefault((tile.q_head, tile.k_head), []).append(tile)
    body = [trace_picture.text("title", charts.LEFT, y + 14, "Tiles of S = Q·Kᵀ that follow, in order")]
    words, bottom = [], y
    for number, ((q_head, k_head), of_pair) in enumerate(pairs.items()):
        heads = head_of(q_head) + ("" if q_head == k_head else f", by keys of head {k_head[1]}")
        said = [f"{named('query', 'queries', tile.queries)} by {named('key', 'keys', tile.keys)}" for tile in of_pair]
        if number < SHOWN_HEADS:
            x = charts.LEFT + number * (TILE_SIDE + 64)
            body.append(trace_picture.text("small", x, y + 36, f"{heads}: queries 0 to {queries - 1} downwards"))
            lines, end = draw_grid(of_pair, queries, keys, x, y + 44)
            body, bottom = body + lines, max(bottom, end)
            words.append(f"Tiles of S, {heads}, in order: {listed(said)}.")
    if len(pairs) > SHOWN_HEADS:
        words.append(f"And tiles of {plural(len(pairs) - SHOWN_HEADS, 'more pair')} of heads.")
        body.append(trace_picture.text("small", charts.LEFT, bottom + 30, words[-1]))
        bottom += trace_picture.LINE
    return body, bottom + 36, words


def draw(visits, y):
    """All of it, from y on; nothing if the kernel has no Q and K. Gives the lines, where they end, and the sentences."""
    if {"Q", "K"} <= visits.plain:
        return [], y, ["Which rows of Q and K these are is not known: the kernel has them as plain pointers, and not as "
                       "views with strides."]
    queries, keys = visits.of("Q", "read"), visits.of("K", "read")
    if not queries or not keys:
        return [], y, []
    body, y, words = draw_strips(visits, y)
    lines, y, of_tiles = draw_tiles(tiles_of(queries, keys), visits.rows_of("Q"), visits.rows_of("K"), y)
    return body + lines, y, words + of_tiles
