"""Reads a trace that ./course trace wrote, step by step, and finds the steps that look alike.

A step is one access of one warp: one source line, executed by its lanes together. A site is a source line's access of
one array; in a loop it makes many steps, and most of them have the same shape, only further on in memory. Of those, one
is kept whole. So a trace may be larger than what is kept of it.
"""

import dataclasses
import json

ACCESSES = ("load", "store", "atomic")
SECTOR_BYTES, WORD_BYTES, BANKS = 32, 4, 32


class BadTrace(Exception):
    """The file is no trace; the message says why."""


@dataclasses.dataclass(frozen=True)
class Step:
    """Lanes, addresses, offsets and indices go together: one for each lane that takes part."""

    number: int  # in the trace, from 0
    warp: int
    kind: str
    memory: str
    array: str
    bytes: int  # of each lane
    file: str
    line: int
    sectors: int
    wavefronts: int
    lanes: tuple
    addresses: tuple  # in device memory or in the block's shared memory, in bytes
    offsets: tuple  # from the start of the array, in bytes
    indices: tuple

    @property
    def is_access(self):
        return self.kind in ACCESSES and bool(self.lanes)

    @property
    def site(self):
        return self.file, self.line, self.kind, self.memory, self.array, self.bytes

    @property
    def shape(self):
        """Equal for steps that differ only in where they begin, and cost the same. Banks go round, so that in shared
        memory the place of the first does not matter."""
        first = self.addresses[0]
        begins = first % SECTOR_BYTES if self.memory == "global" else first % WORD_BYTES
        return self.lanes, tuple(place - first for place in self.addresses), begins, self.sectors, self.wavefronts


@dataclasses.dataclass
class Group:
    """Steps of one site and one shape: the first of them, and of all of them (number, warp, first address)."""

    step: Step
    members: list = dataclasses.field(default_factory=list)

    def add(self, step):
        self.members.append((step.number, step.warp, step.addresses[0]))


class Groups:
    """All accesses of a trace, by site and shape, in the order in which they first come."""

    def __init__(self):
        self.sites = {}  # site: {shape: Group}

    def begin(self, arrays):
        """Needs none of them."""

    def add(self, step):
        if step.is_access:
            self.sites.setdefault(step.site, {}).setdefault(step.shape, Group(step)).add(step)

    def of_site(self, site):
        return list(self.sites[site].values())


@dataclasses.dataclass
class Head:
    """What a trace says before its steps."""

    kernel: str
    grid: tuple
    block_shape: tuple
    block: tuple
    complete: bool
    most_steps: int
    arrays: list  # {"name", "address", "element_bytes", "shape", "strides"}


def step_of(row, number):
    lanes = row["lanes"]
    return Step(number, row["warp"], row["kind"], row["memory"], row["array"], row["bytes"], row["file"], row["line"],
                row["sectors"], row["wavefronts"], tuple(lane["lane"] for lane in lanes),
                tuple(lane["address"] for lane in lanes), tuple(lane["offset"] for lane in lanes),
                tuple(tuple(lane["index"]) for lane in lanes))


def rows_of(lines):
    """The elements of one of the lists, each of which has a line of its own, up to the end of the list."""
    for line in lines:
        line = line.strip()
        if line.startswith("]"):
            return
        yield json.loads(line.rstrip(","))


def list_begins(lines, name):
    """Moves on to the first element of the list that comes next; false if the list is empty."""
    line = next(lines, "").strip().rstrip(",}")
    if not line.startswith(f'"{name}":['):
        raise BadTrace(f"there is no list of {name} where one must be")
    return not line.endswith("[]")


def read_trace(path, consumers):
    """Gives the arrays to each consumer's begin(), then every step to its add(), in order, and returns the Head.
    Throws BadTrace."""
    try:
        with open(path, encoding="utf-8") as file:
            lines = iter(file)
            head = json.loads(next(lines, "").rstrip().rstrip(",") + "}")
            arrays = list(rows_of(lines)) if list_begins(lines, "arrays") else []
            for consumer in consumers:
                consumer.begin(arrays)
            if list_begins(lines, "steps"):
                for number, row in enumerate(rows_of(lines)):
                    step = step_of(row, number)
                    for consumer in consumers:
                        consumer.add(step)
            request = head["request"]
            return Head(head["kernel"], tuple(head["grid"]), tuple(head["block_shape"]), tuple(request["block"]),
                        head["complete"], request["most_steps"], arrays)
    except (ValueError, KeyError, TypeError) as error:
        raise BadTrace(f"it is not as ./course trace writes one ({error})") from error
