"""Executes a random kernel in Python and judges it by the definition: the second opinion on check mode.

Every access is kept with who made it and how often its block and its warp had met before. Two accesses to an element
conflict if different threads make them, one writes, and not both are atomic. They are ordered if their block met
between them, or if they are of one warp and it met. Blocks never meet.
"""

import dataclasses

from grammar import COUNTERS

READ, WRITE, ATOMIC = range(3)
POISON = 0  # what an uninitialised element counts as; the kernel is judged by then


@dataclasses.dataclass
class Verdict:
    kinds: set      # of findings that check mode should make
    checksum: int   # of what the kernel left in memory; means nothing unless `kinds` is empty


class Thread:
    """What the Python text of a kernel calls."""

    def __init__(self, machine, block, number):
        self.machine, self.block, self.number = machine, block, number
        self.id = block.index * machine.kernel.threads + number
        self.warp = block.warps[number // 32]

    def note(self, name, index, kind, value=None):
        block = self.block
        place = (block.index, name, index) if name in block.memory else (name, index)
        self.machine.accesses.setdefault(place, set()).add(
            (self.id, block.index, block.met, self.warp.index, self.warp.met, kind, value))
        return block.memory.get(name) or self.machine.memory[name]

    def flat(self, row, column, pitch):
        if column >= pitch:
            self.machine.kinds.add("out_of_bounds")
        return row * pitch + column

    def load(self, name, index):
        value = self.note(name, index, READ)[index]
        if value is None:
            self.machine.kinds.add("uninitialised_read")
            return POISON
        return value

    def store(self, name, index, value):
        self.note(name, index, WRITE, value)[index] = value

    def add(self, name, index, value):
        self.note(name, index, ATOMIC)[index] += value


class Warp:
    def __init__(self, index):
        self.index, self.met, self.running, self.waiting = index, 0, {}, {}

    def step(self):
        """Runs each lane to where it meets others; True if the whole warp waits for the block or is done."""
        for lane, (fiber, answer) in list(self.running.items()):
            try:
                self.waiting[lane] = (fiber, fiber.send(answer))
            except StopIteration:
                pass
        self.running = {}
        reasons = {request[0] for _, request in self.waiting.values()}
        if reasons <= {"block"}:
            return True
        assert len(reasons) == 1, "the grammar lets a warp meet in one place at a time"
        if reasons == {"shuffle"}:
            sent = {lane: request[1] for lane, (_, request) in self.waiting.items()}
            self.running = {lane: (fiber, sent[request[2]]) for lane, (fiber, request) in self.waiting.items()}
        else:
            self.met += 1
            self.running = {lane: (fiber, None) for lane, (fiber, _) in self.waiting.items()}
        self.waiting = {}
        return False


class Block:
    def __init__(self, machine, index, code):
        kernel = machine.kernel
        self.index, self.met = index, 0
        self.memory = {array.name: [None] * array.size for array in kernel.shared}
        self.warps = [Warp(i) for i in range((kernel.threads + 31) // 32)]
        for number in range(kernel.threads):
            thread = Thread(machine, self, number)
            fiber = code(thread, number, index, thread.id)
            self.warps[number // 32].running[number % 32] = (fiber, None)

    def run(self):
        while any(warp.running for warp in self.warps):
            for warp in self.warps:
                while not warp.step():
                    pass
            self.met += 1
            for warp in self.warps:
                warp.running = {lane: (fiber, None) for lane, (fiber, _) in warp.waiting.items()}
                warp.waiting = {}


class Machine:
    def __init__(self, kernel):
        total = kernel.blocks * kernel.threads
        self.kernel, self.accesses, self.kinds = kernel, {}, set()
        # The same start values as in the CUDA program's prepare().
        self.memory = {"in": [(37 * i + 11) % 101 for i in range(total)],
                       "gi": [(13 * i + 5) % 97 for i in range(total)],
                       "gf": [(7 * i + 3) % 89 for i in range(total)],
                       "fresh": [None] * total, "counts": [0] * COUNTERS, "out": [0] * total}

    def judge(self):
        names = {}
        exec(compile(self.kernel.python, self.kernel.name, "exec"), names)  # pylint: disable=exec-used
        for index in range(self.kernel.blocks):
            Block(self, index, names["thread"]).run()
        for accesses in self.accesses.values():
            self.kinds |= conflicts(accesses)
        self.kinds.discard("same_value_write")
        return Verdict(self.kinds, self.checksum())

    def checksum(self):
        """FNV-1a over what the host reads back."""
        value = 14695981039346656037
        for name in ("gi", "gf", "counts", "out"):
            for number in self.memory[name]:
                value = (value ^ number) * 1099511628211 % 2 ** 64
        return value


def conflicts(accesses):
    """The kinds of findings that the accesses to one element make."""
    writes = [access for access in accesses if access[5] != READ]
    if all(access[5] == ATOMIC for access in accesses):
        return set()
    kinds = set()
    for thread, block, block_met, warp, warp_met, kind, value in writes:
        for thread2, block2, block_met2, warp2, warp_met2, kind2, value2 in accesses:
            if thread == thread2 or kind == kind2 == ATOMIC:
                continue
            if block == block2 and (block_met != block_met2 or (warp == warp2 and warp_met != warp_met2)):
                continue
            if kind == kind2 == WRITE and value == value2:
                kinds.add("same_value_write")
            elif block == block2 and warp == warp2:
                kinds.add("missing_syncwarp")
            else:
                kinds.add("race")
        if "race" in kinds:
            break
    return kinds


def judge(kernel):
    return Machine(kernel).judge()
