"""What each kernel of this folder accesses, instruction by instruction, for rules.py."""

import collections
import re

Lane = collections.namedtuple("Lane", "i thread lane x y block_x block_y")  # i: in the grid; thread: in the block
Access = collections.namedtuple("Access", "kind width lanes")  # lanes: {lane: address in bytes}, not empty
WIDTHS = {"unsigned char": 1, "unsigned short": 2, "int": 4, "float": 4, "float2": 8, "unsigned long long": 8}
WIDTHS["float4"] = 16


class Launch:
    """Collects the accesses of all warps of a launch."""

    def __init__(self, grid, block):
        self.warps, self.accesses, self.barriers, self.shuffles = [], [], 0, 0
        for block_y in range(grid[1]):
            for block_x in range(grid[0]):
                lanes = [
                    Lane((block_y * grid[0] + block_x) * block[0] * block[1] + t, t, t % 32, t % block[0],
                         t // block[0], block_x, block_y)
                    for t in range(block[0] * block[1])
                ]  # fmt: skip
                self.warps += [lanes[at : at + 32] for at in range(0, len(lanes), 32)]

    def access(self, kind, width, element, base=0):
        """One instruction of every warp; element(lane) is None where a lane takes no part."""
        for warp in self.warps:
            found = {at.lane: element(at) for at in warp}
            found = {lane: base + e * width for lane, e in found.items() if e is not None}
            if found:
                self.accesses.append(Access(kind, width, found))

    def load(self, width, element, base=0):
        self.access("global_load", width, element, base)

    def store(self, width, element, base=0):
        self.access("global_store", width, element, base)

    def shared_load(self, width, element):
        self.access("shared_load", width, element)

    def shared_store(self, width, element):
        self.access("shared_store", width, element)

    def barrier(self):
        self.barriers += len(self.warps)


def unit(at):
    return at.i


def only(condition, element):
    return lambda at: element(at) if condition(at) else None


def global_kernel(run, name, types):
    width = WIDTHS.get(types[0], 4) if types else 4
    number = int(types[1]) if len(types) > 1 else 0
    loads = {
        "load_kernel": lambda at: at.i * number,
        "load_shifted_kernel": lambda at: at.i + number,
        "load_broadcast_kernel": lambda at: at.block_x,
        "load_reversed_kernel": lambda at: at.i ^ 31,
        "load_permuted_kernel": lambda at: at.i // 32 * 32 + (at.i * 13 + 5) % 32,
        "load_readonly_kernel": lambda at: at.i + 1,
        "load_volatile_kernel": lambda at: at.i * 2,
        "load_two_rows_kernel": lambda at: at.y * 48 + at.block_x * 16 + at.x,
    }
    guards = {
        "load_guarded_kernel": lambda at: at.i < 75,
        "load_even_lanes_kernel": lambda at: at.i % 2 == 0,
        "load_few_lanes_kernel": lambda at: 5 <= at.lane < 13,
    }
    if name in loads:
        run.load(width, loads[name])
        run.store(width, loads[name] if name == "load_two_rows_kernel" else unit)
    elif name in guards:
        width = 16 if name == "load_few_lanes_kernel" else 4
        run.load(width, only(guards[name], unit))
        run.store(width, only(guards[name], unit))
    elif name in ("store_kernel", "store_shifted_kernel"):
        run.load(width, unit)
        run.store(width, (lambda at: at.i * number) if name == "store_kernel" else (lambda at: at.i + number))
    elif name == "load_gathered_kernel":
        run.load(4, unit)
        run.load(4, lambda at: (at.i * at.i * 37 + at.i * 11) % 256)
        run.store(4, unit)
    elif name == "load_divergent_loop_kernel":
        for k in range(3):
            run.load(4, only(lambda at, k=k: k < at.i % 4, lambda at, k=k: k * 128 + at.i))
        run.store(4, unit)
    elif name == "load_skipping_loop_kernel":
        for k in range(5):
            run.load(4, only(lambda at, k=k: (at.i + k) % 3 != 0, lambda at, k=k: k * 128 + at.i))
        run.store(4, unit)
    elif name == "load_leaving_loop_kernel":
        for k in range(7):
            run.load(4, only(lambda at, k=k: at.i >> k != 0, lambda at, k=k: at.i >> k))
        run.store(4, unit)
    elif name == "load_points_kernel":
        for k in range(3):
            run.load(4, lambda at, k=k: at.i * 3 + k)
        run.store(4, unit)
    elif name == "store_points_kernel":
        run.load(4, unit)
        for k in range(3):
            run.store(4, lambda at, k=k: at.i * 3 + k)
    elif name in ("sum_rows_kernel", "sum_rows_by_four_kernel"):
        width, columns = (4, 48) if name == "sum_rows_kernel" else (16, 12)
        for k in range(columns):
            run.load(width, lambda at, k=k: at.i * columns + k)
        run.store(4, unit)
    else:
        return False
    return True


def shared_kernel(run, name, types):
    width = WIDTHS.get(types[0], 4) if types else 4
    number = int(types[1]) if len(types) > 1 else 0
    written = read = unit
    active = lambda at: True  # noqa: E731
    if name == "shared_kernel":
        written, read = (lambda at: at.i * number), (lambda at: (at.i ^ 1) * number)
    elif name == "shared_broadcast_kernel":
        read = lambda at: 3  # noqa: E731
    elif name == "shared_groups_kernel":
        read = lambda at: at.i // number  # noqa: E731
    elif name == "shared_periods_kernel":
        read = lambda at: at.i % number  # noqa: E731
    elif name == "shared_some_lanes_kernel":
        active, read = (lambda at: at.i % number == 0), (lambda at: at.i ^ number)
    elif name == "shared_first_lanes_kernel":
        active, read = (lambda at: at.i < number), (lambda at: at.i ^ 1)
    elif name == "shared_permuted_kernel":
        written, read = (lambda at: 1 + at.i), (lambda at: 1 + at.i * 5 % 32)
    elif name == "shared_two_words_kernel":
        run.load(4, lambda at: at.i + 32)
        run.shared_store(4, lambda at: at.i + 32)
        read = lambda at: at.i % 2 * 32 + 7  # noqa: E731
    elif name == "shared_divergent_loop_kernel":
        for k in range(4):
            run.load(4, lambda at, k=k: k * 32 + at.i)
            run.shared_store(4, lambda at, k=k: k * 32 + at.i)
        run.barrier()
        for k in range(3):
            run.shared_load(4, only(lambda at, k=k: k < at.i % 4, lambda at, k=k: k * 32 + at.i * 2 % 32))
        run.store(4, unit)
        return True
    elif name == "shared_tree_kernel":
        run.load(4, unit)
        run.shared_store(4, lambda at: at.thread)
        for k in range(7):
            half, below = 64 >> k, lambda at, k=k: at.thread < 64 >> k
            run.barrier()
            run.shared_load(4, only(below, lambda at: at.thread))
            run.shared_load(4, only(below, lambda at, half=half: at.thread + half))
            run.shared_store(4, only(below, lambda at: at.thread))
        run.shared_load(4, only(lambda at: at.thread == 0, lambda at: 0))
        run.store(4, only(lambda at: at.thread == 0, lambda at: at.block_x))
        return True
    elif name == "shuffle_sum_kernel":
        run.load(4, unit)
        run.shuffles = 5 * len(run.warps)
        run.shared_store(4, only(lambda at: at.thread % 32 == 0, lambda at: at.thread // 32))
        run.barrier()
        for k in range(4):
            run.shared_load(4, only(lambda at: at.thread == 0, lambda at, k=k: k))
        run.store(4, only(lambda at: at.thread == 0, lambda at: at.block_x))
        return True
    else:
        return False
    run.load(width, only(active, unit))
    run.shared_store(width, only(active, written))
    run.barrier()
    run.shared_load(width, only(active, read))
    run.store(width, only(active, unit))
    return True


def add_in_a_loop(run, element):
    """Adding floats in shared memory: a loop of a load and a swap. Each round, one lane of each bank succeeds; the
    swap takes two wavefronts and is counted as ideal."""
    waiting = {at.lane: element(at) * 4 for at in run.warps[0]}
    while waiting:
        run.accesses += [Access("shared_load", 4, dict(waiting)), Access("shared_swap", 4, dict(waiting))]
        served = {address // 4 % 32: lane for lane, address in reversed(waiting.items())}
        for lane in served.values():
            del waiting[lane]


def atomic_kernel(run, name, types):
    width = WIDTHS[types[0]] if types else 4
    count, stride = (int(types[1]), int(types[2])) if types else (4, 8)
    if name in ("atom_exchange_kernel", "atom_compare_kernel"):
        count, stride = 128, 1
    element = lambda at: at.i % count * stride  # noqa: E731
    if name == "histogram_kernel":
        run.shared_store(4, lambda at: at.thread)
        run.barrier()
        for first in range(0, 512, 128):
            run.load(4, lambda at, first=first: first + at.i)
            run.access("shared_count", 4, lambda at, first=first: (first + at.i) ** 2 * 29 % 1021 % 64)
        run.barrier()
        run.shared_load(4, lambda at: at.thread)
        run.access("global_reduction", 4, lambda at: at.thread)
    elif name.startswith("shared_"):
        size = 32 if name == "shared_max_kernel" else count * stride
        for k in range(0, size, 32):
            inside = only(lambda at, k=k: k + at.i < size, lambda at, k=k: k + at.i)
            run.shared_store(width, inside)
            run.shared_load(width, inside)
            run.store(width, inside)
        run.barrier()
        run.load(4, unit)
        run.load(width, unit)
        if types and types[0] == "float":
            add_in_a_loop(run, element)
        else:
            run.access("shared_atomic", width, element)
        if name == "shared_atom_kernel":
            run.store(width, unit)
        run.barrier()
    elif name.startswith(("red_", "atom_")):
        active = (lambda at: at.i % 3 == 0) if name == "red_some_lanes_kernel" else (lambda at: True)
        run.load(4, only(active, unit))
        run.load(width, only(active, unit))
        run.access("global_reduction" if name.startswith("red_") else "global_atomic", width, only(active, element))
        if name.startswith("atom_"):
            run.store(width, unit)
    else:
        return False
    return True


def tile_kernel(run, name, types):
    n, rows, columns = 64, 64, 96
    if name == "transpose_naive_kernel":
        for k in range(0, 32, 8):
            run.load(4, lambda at, k=k: (at.block_y * 32 + at.y + k) * columns + at.block_x * 32 + at.x)
            run.store(4, lambda at, k=k: (at.block_x * 32 + at.x) * rows + at.block_y * 32 + at.y + k)
    elif name in ("transpose_kernel", "transpose_swizzled_kernel"):
        pitch = 32 + int(types[0]) if types else 32
        place = (lambda row, col: row * 32 + (col ^ row)) if not types else (lambda row, col: row * pitch + col)
        for k in range(0, 32, 8):
            run.load(4, lambda at, k=k: (at.block_y * 32 + at.y + k) * columns + at.block_x * 32 + at.x)
            run.shared_store(4, lambda at, k=k: place(at.y + k, at.x))
            run.shared_load(4, lambda at, k=k: place(at.x, at.y + k))
            run.store(4, lambda at, k=k: (at.block_x * 32 + at.y + k) * rows + at.block_y * 32 + at.x)
        run.barrier()
    elif name == "matmul_naive_kernel":
        for k in range(n):
            run.load(4, lambda at, k=k: (at.block_y * 16 + at.y) * n + k)
            run.load(4, lambda at, k=k: k * n + at.block_x * 16 + at.x)
        run.store(4, lambda at: (at.block_y * 16 + at.y) * n + at.block_x * 16 + at.x)
    elif name == "matmul_tiled_kernel":
        tile = int(types[0])
        for first in range(0, n, tile):
            run.load(4, lambda at, first=first: (at.block_y * tile + at.y) * n + first + at.x)
            run.load(4, lambda at, first=first: (first + at.y) * n + at.block_x * tile + at.x)
            run.shared_store(4, lambda at: at.y * tile + at.x)
            run.shared_store(4, lambda at: at.y * tile + at.x)
            run.barrier()
            for k in range(tile):
                run.shared_load(4, lambda at, k=k: at.y * tile + k)
                run.shared_load(4, lambda at, k=k: k * tile + at.x)
            run.barrier()
        run.store(4, lambda at: (at.block_y * tile + at.y) * n + at.block_x * tile + at.x)
    elif name == "matmul_registers_kernel":
        for first in range(0, n, 8):
            for k in (0, 256):
                e = lambda at, k=k: at.thread + k  # noqa: E731
                run.load(4, lambda at, first=first: e(at) // 8 * n + first + e(at) % 8)
                run.shared_store(4, lambda at: e(at) % 8 * n + e(at) // 8)
                run.load(4, lambda at, first=first: (first + e(at) // n) * n + e(at) % n)
                run.shared_store(4, lambda at: e(at))
            run.barrier()
            for k in range(8):
                run.shared_load(16, lambda at, k=k: k * n // 4 + at.y)
                run.shared_load(16, lambda at, k=k: k * n // 4 + at.x)
            run.barrier()
        for k in range(4):
            run.store(16, lambda at, k=k: (at.y * 4 + k) * n // 4 + at.x)
    elif name == "stencil_kernel":
        for k in (0, 128):
            inside = lambda at, k=k: at.thread + k < 134  # noqa: E731
            source = lambda at, k=k: at.block_x * 128 + at.thread + k - 3  # noqa: E731
            run.load(4, only(lambda at: inside(at) and 0 <= source(at) < 500, source))
            run.shared_store(4, only(inside, lambda at, k=k: at.thread + k))
        run.barrier()
        for k in range(7):
            run.shared_load(4, only(lambda at: at.i < 500, lambda at, k=k: at.thread + k))
        run.store(4, only(lambda at: at.i < 500, unit))
    elif name == "async_copy_kernel":
        width = WIDTHS[types[0]]
        run.access("async_copy", width, unit)
        run.barrier()
        run.shared_load(width, lambda at: 31 - at.i)
        run.store(width, unit)
    else:
        return False
    return True


def probe_kernel(run, name, types, active, elements):
    width = WIDTHS[types[0]] if types else 4
    probed = only(lambda at: active >> at.i & 1, lambda at: elements[at.i])
    taking_part = only(lambda at: active >> at.i & 1, unit)
    kind = re.sub("probe_(.*)_kernel", r"\1", name)
    if kind.startswith("shared"):
        for k in range(0, 256, 32):
            row = lambda at, k=k: k + at.i  # noqa: E731
            run.load(width, row, base=0 if kind == "shared_load" else width)
            run.shared_store(width, row)
            if kind != "shared_load":
                run.shared_load(width, row)
                run.store(width, row)
        run.barrier()
        if kind == "shared_red":
            run.load(4, unit)
        elif kind == "shared_store":
            run.load(width, lambda at: 0)
        if kind == "shared_load":
            run.store(width, taking_part)
        else:
            run.barrier()
    elif kind != "global_load":
        run.load(width, only(lambda at: active >> at.i & 1, lambda at: 0))
    run.access({"red": "global_reduction", "atom": "global_atomic", "shared_red": "shared_atomic"}.get(kind, kind),
               width, probed)  # fmt: skip
    if kind in ("global_load", "atom"):
        run.store(width, taking_part)


def accesses_of(launch):
    """The accesses, barriers and shuffles of a recorded launch."""
    name, _, types = launch["kernel"].rstrip(">").partition("<")
    types = types.split(", ") if types else []
    run = Launch(launch["grid"], launch["block"])
    if "elements" in launch:
        probe_kernel(run, name, types, int(launch["active"], 16), launch["elements"])
    else:
        kernels = (global_kernel, shared_kernel, tile_kernel, atomic_kernel)
        assert any(kernel(run, name, types) for kernel in kernels), launch["kernel"]
    return run
