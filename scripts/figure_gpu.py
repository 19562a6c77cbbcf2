#!/usr/bin/env python3
"""Draws what docs/before.md says of a GPU: beside a CPU, and its memories.

The numbers are those of the GPU of the recorded runs, an NVIDIA H200 (docs/results): multiprocessors, threads, bandwidth
of a copy. Sizes of registers, shared memory and caches are the vendor's.

Usage: scripts/figure_gpu.py [FIGURE.svg]
"""

import json

from diagrams import LEFT, ROOT, WIDTH, arrow, box, constant, picture, text, write_pictures

MULTIPROCESSORS, PIPES = 132, 128  # of an H200; float32 multiply-adds a cycle of each
LANES = constant("common/device/reduce.hpp", "kWarpSize")


def processors():
    y = 84
    body = text(LEFT, 28, "A CPU and a GPU", "title")
    body += text(LEFT, 48, "Blue: arithmetic. Grey: what decides which instruction comes next. Brown: caches.", "small")
    body += box(LEFT, y, 280, 232, "grey") + text(LEFT + 140, y - 8, "CPU: a few cores, each fast alone", "small middle")
    for i in range(2):
        for j in range(2):
            x, top = LEFT + 12 + 132 * i, y + 12 + 72 * j
            body += box(x, top, 124, 64, "grey") + box(x + 6, top + 6, 50, 52, "blue", "", "")
            body += text(x + 90, top + 28, "control", "small middle") + box(x + 62, top + 38, 56, 20, "brown")
    body += box(LEFT + 12, y + 160, 256, 60, "brown", "a large cache")
    x0 = LEFT + 336
    body += box(x0, y, 280, 232, "grey") + text(x0 + 140, y - 8, f"GPU: {MULTIPROCESSORS} multiprocessors (H200)", "small middle")
    for i in range(12):
        for j in range(11):
            x, top = x0 + 9 + 22 * i, y + 9 + 16.5 * j
            body += [f'<rect class="blue" x="{x:g}" y="{top:g}" width="18" height="9" rx="1"/>',
                     f'<rect class="brown" x="{x:g}" y="{top + 9:g}" width="18" height="3.5" rx="1"/>']
    body += box(x0 + 9, y + 196, 260, 28, "brown", "a cache for all of them")
    lines = [f"Each multiprocessor makes {PIPES} float32 multiply-adds in a cycle: {MULTIPROCESSORS * PIPES:,} in all.",
             f"Its instructions are for warps of {LANES} threads. While a warp waits for memory, another one runs.",
             "So a GPU needs thousands of threads to be busy, and a single thread on it is slow."]
    for i, words in enumerate(lines):
        body += text(LEFT, y + 262 + 18 * i, words, "small")
    return picture(body, y + 316, f"A CPU has a few large cores with control and caches; a GPU has {MULTIPROCESSORS} small multiprocessors, nearly all arithmetic.")


def memories():
    copy = json.loads((ROOT / "docs/results/01_vector_add_h200.json").read_text(encoding="utf-8"))["device_copy"]["gigabytes_per_second"]
    body = text(LEFT, 28, "The memories of a GPU, from small and fast to large and slow", "title")
    body += text(LEFT, 48, "Sizes of an H200. Who sees a memory, and what these lessons put there.", "small")
    rows = [("registers", "256 KiB a multiprocessor", "one thread", "sums, a thread's part of a tile", "blue", 176),
            ("shared memory", "up to 227 KiB a block", "one block", "tiles of Q, K, V and P", "violet", 240),
            ("L2 cache", "60 MB", "all blocks", "what was read a moment ago", "brown", 360),
            ("global memory", f"141 GB, {copy / 1000:.1f} TB/s for a copy", "all blocks, and copies to the host", "Q, K, V, O: whole tensors", "teal", 490),
            ("host memory", "beside the CPU", "the CPU", "what comes and goes by cudaMemcpy", "grey", 616)]
    for i, (name, size, who, what, colour, width) in enumerate(rows):
        y = 70 + 62 * i
        x = (WIDTH - width) / 2
        body += box(x, y, width, 44, colour, name, size)
        if i + 1 < len(rows):
            body += arrow((WIDTH / 2, y + 53), (WIDTH / 2, y + 61)) + arrow((WIDTH / 2, y + 53), (WIDTH / 2, y + 45))
    y = 70 + 62 * len(rows) + 8
    for i, (name, _, who, what, _, _) in enumerate(rows):
        body += text(LEFT, y + 20 * i, f"{name[0].upper()}{name[1:]}", "small") + text(LEFT + 120, y + 20 * i, who, "small")
        body += text(LEFT + 350, y + 20 * i, what, "small")
    return picture(body, y + 20 * len(rows) + 4, "From top to bottom: registers, shared memory, L2 cache, global memory, host memory. Each is larger and slower than the one above.")


if __name__ == "__main__":
    write_pictures({"before_processors": processors, "before_memories": memories}, __doc__)
