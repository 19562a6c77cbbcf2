"""Random kernels, each written twice from one walk through a small grammar: as CUDA and as a Python generator.

The Python text is what machine.py executes. Both texts compute with the same integers: every value that is stored or
kept in a local variable lies in [0, 1023] (sums of atomics stay below 2^20), so float arrays are exact as well.
"""

import dataclasses
import random

MASK = 1023
COUNTERS = 8
SHARED_TYPES = {"int": MASK, "float": MASK, "short": MASK, "unsigned char": 255}
LOCALS = "abc"


@dataclasses.dataclass(frozen=True)
class Text:
    """An expression or a part of one in both languages."""
    cuda: str
    python: str


def same(text):
    return Text(str(text), str(text))


def quotient(text, divisor):
    return Text(f"({text.cuda}) / {divisor}", f"({text.python}) // {divisor}")


@dataclasses.dataclass(frozen=True)
class Array:
    """`width` is that of a row without its padding; a one-dimensional array has rows == 0."""
    name: str
    element: str
    shared: bool
    size: int
    rows: int = 0
    width: int = 0
    pitch: int = 0
    fresh: bool = False  # nobody initialised it before the launch

    @property
    def mask(self):
        return SHARED_TYPES[self.element]

    def declaration(self):
        extents = f"[{self.rows}][{self.pitch}]" if self.rows else f"[{self.size}]"
        return f"__shared__ {self.element} {self.name}{extents};"


@dataclasses.dataclass
class Kernel:
    """One random kernel. `thread` is the Python text of one thread; it yields where threads meet."""
    name: str
    seed: str
    blocks: int
    threads: int
    extent: tuple
    shared: list
    arrays: list
    cuda: str
    python: str


class Habits:
    """How carefully this kernel is written: from always right to hardly ever."""

    def __init__(self, dice):
        self.scope = dice.choice(("block", "block", "block", "warp"))  # whom a thread exchanges data with
        self.meet = dice.choice((1.0, 1.0, 0.95, 0.85, 0.6))           # probability of a barrier where one is due
        self.own = dice.choice((1.0, 1.0, 0.9, 0.7))                   # ... of elements that no two threads write
        self.direct = dice.choice((0.0, 0.0, 0.1, 0.4))                # ... that a statement both loads and stores
        self.start = dice.choice((1.0, 1.0, 0.8))                      # ... that a shared array is initialised
        self.stray = dice.choice((0.0, 0.0, 0.0, 0.15))                # ... of an index one column too far


class Writer:
    """Grows the two texts of a kernel side by side."""

    def __init__(self, name, seed):
        self.dice = dice = random.Random(seed)
        self.name, self.seed, self.habits = name, seed, Habits(dice)
        self.threads = dice.choice((32, 64, 64, 96, 128, 128, 40, 100))
        self.whole_warps = self.threads % 32 == 0
        if not self.whole_warps:
            self.habits.scope = "block"
        self.blocks = dice.randint(1, 4)
        self.extent = (8, self.threads // 8) if self.threads % 8 == 0 and dice.random() < 0.3 else (self.threads, 1)
        self.cuda_lines, self.python_lines = [], []
        self.depth, self.counters = 1, []  # loop variables in sight, and whether all threads agree on them
        total = self.blocks * self.threads
        self.arrays = [Array("gi", "int", False, total), Array("gf", "float", False, total),
                       Array("fresh", "int", False, total, fresh=True)]
        self.shared = [self.shared_array(f"s{i}") for i in range(dice.randint(1, 3))]

    def chance(self, probability):
        return self.dice.random() < probability

    def shared_array(self, name):
        element, threads = self.dice.choice(tuple(SHARED_TYPES)), self.threads
        if threads % 8 == 0 and self.chance(0.4):
            width = self.dice.choice((8, 4))
            pitch = width + self.dice.choice((0, 0, 1))
            return Array(name, element, True, threads // width * pitch, threads // width, width, pitch)
        return Array(name, element, True, threads + self.dice.choice((0, 0, 5)))

    # --- Lines

    def line(self, text, end=";"):
        self.cuda_lines.append("  " * self.depth + text.cuda + end)
        self.python_lines.append("  " * self.depth + text.python)

    def open(self, cuda, python):
        self.cuda_lines.append("  " * self.depth + cuda + " {")
        self.python_lines.append("  " * self.depth + python + ":")
        self.depth += 1

    def close(self):
        self.depth -= 1
        self.cuda_lines.append("  " * self.depth + "}")

    # --- Places in arrays

    def position(self, private):
        """A number in [0, threads): if `private`, no two threads of the block get the same."""
        n, shift = self.threads, self.dice.randint(1, 40)
        if self.habits.scope == "warp":
            lane = self.dice.choice((f"(lane + {shift}) % 32", f"(lane ^ {shift % 32})", "(31 - lane)", "lane"))
            if not private and self.chance(0.3):
                lane = self.dice.choice((str(shift % 32), f"{self.local()} % 32"))
            return same(f"warp * 32 + {lane}")
        choices = ["tid", f"(tid + {shift}) % {n}", f"({n - 1} - tid)"]
        if self.whole_warps:
            choices.append(f"warp * 32 + (lane ^ {shift % 32})")
        if n in (32, 64, 128):
            choices.append(f"(tid ^ {shift % n})")
        if not private:
            choices += [f"(tid * 3 + {shift}) % {n}", f"{shift % n}", f"({self.local()} + tid) % {n}", f"lane % {n}"]
            choices += [f"(tid + {variable}) % {n}" for variable, _ in self.counters]
        return same(self.dice.choice(choices))

    def element(self, array, private):
        """The element of an array at a random place, as CUDA text and as Python index."""
        place = self.position(private)
        if not array.shared:
            if not private and self.chance(0.25) and self.habits.own < 1:  # may be another block's
                index = f"(gid + {self.dice.randint(1, array.size)}) % {array.size}"
            else:
                index = f"bid * {self.threads} + {place.cuda}"
            return Text(f"{array.name}[{index}]", index)
        if not array.rows:
            return Text(f"{array.name}[{place.cuda}]", place.python)
        row, column, beyond = quotient(place, array.width), f"({place.cuda}) % {array.width}", ""
        if array.rows > 1 and self.chance(self.habits.stray):
            # The last row is left out: the element is beyond its row, not beyond the array.
            row = Text(f"{row.cuda} % {array.rows - 1}", f"{row.python} % {array.rows - 1}")
            beyond = " + 1"
        return Text(f"{array.name}[{row.cuda}][{column}{beyond}]",
                    f"t.flat({row.python}, {column}{beyond}, {array.pitch})")

    # --- Expressions

    def local(self):
        return self.dice.choice(LOCALS)

    def load(self):
        if self.chance(0.25):
            index = self.dice.choice((f"bid * {self.threads} + tid", f"(gid + {self.dice.randint(1, 50)}) % "
                                      f"{self.blocks * self.threads}", "bid", "lane"))
            return Text(f"in[{index}]", f"t.load('in', {index})")
        readable = [a for a in self.shared + self.arrays if not a.fresh or self.habits.start < 1]
        array = self.dice.choice(readable)
        # What other blocks or other warps may write is read only at places of one's own.
        element = self.element(array, private=not array.shared)
        cast = "(int)" if array.element == "float" else ""
        return Text(cast + element.cuda, f"t.load('{array.name}', {element.python})")

    def term(self, loads):
        if loads and self.chance(0.6):
            return self.load()
        a, b, number = self.local(), self.local(), self.dice.randint(0, 99)
        choices = [a, str(number), f"({a} * {b})", f"({a} ^ {b})", f"({a} & {number})", "tid", "lane", "(bid + 1)"]
        return same(self.dice.choice(choices + [variable for variable, _ in self.counters]))

    def value(self, loads, mask=MASK):
        terms = [self.term(loads) for _ in range(self.dice.randint(1, 3))]
        sign = " - " if self.chance(0.2) else " + "
        return Text(f"({sign.join(t.cuda for t in terms)}) & {mask}", f"({sign.join(t.python for t in terms)}) & {mask}")

    # --- Statements; True if the statement touched memory that threads share

    def assign(self):
        name, value = self.local(), self.value(True)
        # The old value goes into the new one: a load whose value nobody needs would be left out by the compiler.
        self.line(Text(f"{name} = ({name} + ({value.cuda})) & {MASK}",
                       f"{name} = ({name} + ({value.python})) & {MASK}"))
        return True

    def store(self):
        array = self.dice.choice(self.shared * 2 + self.arrays)
        element = self.element(array, private=self.chance(self.habits.own))
        value = self.value(self.chance(self.habits.direct), array.mask)
        self.line(Text(f"{element.cuda} = {value.cuda}", f"t.store('{array.name}', {element.python}, {value.python})"))
        return True

    def add(self):
        index = f"({self.local()} + tid) % {COUNTERS}"
        value = self.value(False, 15)
        self.line(Text(f"atomicAdd(&counts[{index}], {value.cuda})", f"t.add('counts', {index}, {value.python})"))
        return False

    def shuffle(self):
        target, source, shift = self.local(), self.local(), self.dice.randint(1, 31)
        lane, call = self.dice.choice(((f"(lane + {shift}) % 32", "__shfl_sync"), (f"lane ^ {shift}", "__shfl_xor_sync")))
        argument = shift if call == "__shfl_xor_sync" else lane
        self.line(Text(f"{target} = ({target} + {call}(0xffffffffu, {source}, {argument})) & {MASK}",
                       f"{target} = ({target} + (yield ('shuffle', {source}, {lane}))) & {MASK}"))
        return False

    def meet(self):
        if self.habits.scope == "warp":
            self.line(Text("__syncwarp()", "yield ('warp',)"))
        else:
            self.line(Text("__syncthreads()", "yield ('block',)"))

    def divergent(self):
        """A branch or a loop that threads take differently: nobody meets in there."""
        kind, k = self.dice.choice(("store", "assign", "any")), self.dice.randint(2, 6)
        if self.chance(0.6):
            condition = self.dice.choice((f"tid % {k} == 1", f"tid < {7 * k}", f"({self.local()} & 1) == 0",
                                          f"lane >= {4 * k}", f"warp == {k % 3}"))
            self.open(f"if ({condition})", f"if {condition}")
            variable = None
        else:
            variable = f"j{self.depth}"
            count = self.dice.choice((f"tid % {k}", f"({self.local()} & 3)", f"lane % {k} + 1"))
            # The count is taken once: the body may change what it was computed from.
            self.open(f"for (int {variable} = 0, end = {count}; {variable} < end; ++{variable})",
                      f"for {variable} in range({count})")
            self.counters.append((variable, False))
        if kind == "store":
            self.store()
        elif kind == "assign":
            for _ in range(self.dice.randint(1, 3)):
                self.assign()
            if self.chance(0.4):
                self.add()
        else:
            for _ in range(self.dice.randint(1, 3)):
                self.dice.choice((self.assign, self.store, self.add))()
        if variable:
            self.counters.pop()
        self.close()
        return True

    def uniform(self):
        """A branch or a loop that all threads of the block take alike: they may meet in there."""
        if self.chance(0.4):
            choices = [f"bid % 2 == {self.dice.randint(0, 1)}", "bid > 0"]
            choices += [f"{variable} % 2 == 0" for variable, agreed in self.counters if agreed]
            condition = self.dice.choice(choices)
            self.open(f"if ({condition})", f"if {condition}")
            self.statements(self.dice.randint(1, 3))
        else:
            variable, count = f"i{self.depth}", self.dice.randint(2, 4)
            self.open(f"for (int {variable} = 0; {variable} < {count}; ++{variable})",
                      f"for {variable} in range({count})")
            self.counters.append((variable, True))
            self.statements(self.dice.randint(1, 3))
            self.counters.pop()
        self.close()
        return False  # the statements in there have met already

    def statements(self, count):
        for _ in range(count):
            choices = [self.assign, self.assign, self.store, self.store, self.store, self.divergent, self.add]
            if self.whole_warps:
                choices.append(self.shuffle)
            if self.depth < 3:
                choices.append(self.uniform)
            if self.dice.choice(choices)():
                if self.chance(self.habits.meet):
                    self.meet()
                elif self.chance(0.3) and self.whole_warps:
                    self.line(Text("__syncwarp()", "yield ('warp',)"))

    def kernel(self):
        for array in self.shared:
            self.cuda_lines.append("  " + array.declaration())
        self.cuda_lines += [
            "  const int tid = threadIdx.y * blockDim.x + threadIdx.x, lane = tid % 32, warp = tid / 32;",
            f"  const int bid = blockIdx.x, gid = bid * {self.threads} + tid;",
            "  int a = in[gid], b = tid, c = bid + 1;"]
        self.python_lines.append("  a, b, c = t.load('in', gid), tid, bid + 1")
        for array in self.shared:
            if self.chance(self.habits.start):
                index = "tid" if not array.rows else f"tid / {array.width}][tid % {array.width}"
                flat = "tid" if not array.rows else f"tid // {array.width} * {array.pitch} + tid % {array.width}"
                value = f"(a + {self.dice.randint(0, 99)}) & {array.mask}"
                self.line(Text(f"{array.name}[{index}] = {value}", f"t.store('{array.name}', {flat}, {value})"))
        self.meet()
        self.statements(self.dice.randint(4, 12))
        self.line(Text("out[gid] = a + 3 * b + 5 * c", "t.store('out', gid, a + 3 * b + 5 * c)"))
        cuda = (f"__global__ void {self.name}(const int* in, int* gi, float* gf, int* fresh, int* counts, int* out) {{\n"
                + "\n".join(self.cuda_lines) + "\n}\n")
        # A function with a yield in it is a generator, whatever the grammar chose.
        python = ("def thread(t, tid, bid, gid):\n  lane, warp = tid % 32, tid // 32\n"
                  + "\n".join(self.python_lines) + "\n  if False: yield\n")
        return Kernel(self.name, self.seed, self.blocks, self.threads, self.extent, self.shared, self.arrays, cuda,
                      python)


def random_kernel(name, seed):
    """The same seed gives the same kernel, on every machine."""
    return Writer(name, seed).kernel()
