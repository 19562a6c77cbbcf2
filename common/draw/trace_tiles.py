"""Which rows of Q, K, V and O a block of an attention kernel visits, in which order, and the tiles of S = Q·Kᵀ that
follow from it. For kernels whose parameters are strided views: of a plain pointer it is not known how long a row is.

Time is counted in barriers: what the warps touch between two of them is one visit. Visits that follow each other with the
same rows of an array, such as slices of a tile, are one.
"""

import collections
import dataclasses

NAMES = ("Q", "K", "V", "O", "dO", "dQ", "dK", "dV")


class View:
    """A (batch, head, row, column) view, from its entry in the trace's arrays."""

    def __init__(self, entry):
        self.shape, self.strides, self.element_bytes = entry["shape"], entry["strides"], entry["element_bytes"]
        self.rows = self.shape[-2]
        self.axes = sorted(range(4), key=lambda axis: -self.strides[axis])
        self.known = {}

    def row_at(self, offset):
        """((batch, head), row) of a byte; None for what lies between the rows or if strides overlap."""
        if offset not in self.known:
            self.known[offset] = self.decoded(offset // self.element_bytes)
        return self.known[offset]

    def decoded(self, element):
        index = [0] * 4
        for axis in self.axes:
            if self.shape[axis] > 1:
                if self.strides[axis] <= 0:
                    return None
                index[axis], element = divmod(element, self.strides[axis])
                if not 0 <= index[axis] < self.shape[axis]:
                    return None
        return ((index[0], index[1]), index[2]) if element == 0 else None


@dataclasses.dataclass(frozen=True)
class Visit:
    """Rows of each (batch, head) of an array that the block touches between two barriers."""

    time: int  # barriers before it
    rows: tuple  # (((batch, head), (row, ...)), ...)


@dataclasses.dataclass(frozen=True)
class Tile:
    """A piece of S: rows of Q of one batch and head by rows of K of one."""

    q_head: tuple
    k_head: tuple
    queries: tuple
    keys: tuple


class Visits:
    """Collects the rows, step by step."""

    def __init__(self):
        self.views, self.barriers = {}, collections.Counter()
        self.touched = {}  # (name, "read" or "written"): {time: {head: {row, ...}}}
        self.plain = set()  # names that are plain pointers

    def begin(self, arrays):
        for entry in arrays:
            name = entry["name"].removesuffix(".data")
            if name in NAMES and len(entry["shape"]) == 4:
                self.views[entry["name"]] = name, View(entry)
            elif name in NAMES:
                self.plain.add(name)

    def add(self, step):
        if step.kind == "barrier":
            self.barriers[step.warp] += 1
        if not step.is_access or step.memory != "global" or step.array not in self.views:
            return
        name, view = self.views[step.array]
        verb = "read" if step.kind == "load" else "written"
        heads = self.touched.setdefault((name, verb), {}).setdefault(self.barriers[step.warp], {})
        for offset in step.offsets:
            if (place := view.row_at(offset)) is not None:
                heads.setdefault(place[0], set()).add(place[1])

    def of(self, name, verb):
        """The visits of an array, in order."""
        visits = []
        for time, heads in sorted(self.touched.get((name, verb), {}).items()):
            rows = tuple((head, tuple(sorted(heads[head]))) for head in sorted(heads))
            if rows and not (visits and visits[-1].rows == rows):
                visits.append(Visit(time, rows))
        return visits

    def rows_of(self, name):
        return next(view.rows for of, view in self.views.values() if of == name)


def tiles_of(queries, keys):
    """Tiles of S in order, from the visits that read Q and those that read K. Of the two, the one that is read more often
    is the inner loop: each of its visits meets the last rows of the other that were read no later, or else the first."""
    if not queries or not keys:
        return []
    keys_inside = len(keys) >= len(queries)
    inner, outer = (keys, queries) if keys_inside else (queries, keys)
    tiles = []
    for visit in inner:
        before = [other for other in outer if other.time <= visit.time]
        met = before[-1] if before else outer[0]
        of_q, of_k = (met, visit) if keys_inside else (visit, met)
        tiles += [Tile(q_head, k_head, q_rows, k_rows) for q_head, q_rows in of_q.rows for k_head, k_rows in of_k.rows
                  if q_head[0] == k_head[0]]
    return tiles


def ranges_of(rows):
    """[(first, last)] of sorted numbers."""
    ranges = []
    for row in rows:
        if ranges and ranges[-1][1] + 1 == row:
            ranges[-1][1] = row
        else:
            ranges.append([row, row])
    return [tuple(one) for one in ranges]


def named(thing, things, rows):
    """ "rows 0 to 63", "row 5", "rows 0 to 3 and 8 to 11"; of many pieces, the first and the last row."""
    ranges = ranges_of(rows)
    if len(rows) == 1:
        return f"{thing} {rows[0]}"
    if len(ranges) > 3:
        return f"{len(rows)} {things} between {rows[0]} and {rows[-1]}"
    return f"{things} " + " and ".join(str(first) if first == last else f"{first} to {last}" for first, last in ranges)


def head_of(head):
    return f"batch {head[0]}, head {head[1]}"
