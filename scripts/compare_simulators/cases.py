"""What the tools are asked to find: one planted bug a kernel, and kernels without any.

A kernel lies in tests/simt/peers/{bugs,clean}/<name>, with .cu for the course and nvcc, .cl for Oclgrind and PoCL, .py
for numba; a language that cannot express it has no file. `bug:` in a comment marks the lines that a report may name.
"""

import pathlib
from typing import NamedTuple

KERNELS = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "simt" / "peers"


class Case(NamedTuple):
    name: str
    finding: str  # the class of the bug, in the course's words; empty: there is none
    blocks: int  # of the launch in OpenCL and numba; the CUDA programs have their own
    threads: int
    n: int
    options: tuple = ()  # for the OpenCL and numba hosts: what is wrong with the input or its release

    def source(self, suffix):
        """The kernel in one language, or None."""
        file = KERNELS / ("bugs" if self.finding else "clean") / (self.name + suffix)
        return file if file.is_file() else None

    def bug_lines(self, suffix):
        lines = self.source(suffix).read_text(encoding="utf-8").splitlines()
        return {number for number, line in enumerate(lines, 1) if "bug: " in line}


CASES = [
    Case("race_write_write", "race", 1, 64, 64),
    Case("race_read_write", "race", 1, 64, 64),
    Case("race_same_value", "same_value_write", 1, 64, 64),
    Case("race_bytes", "race", 1, 64, 64),
    Case("race_in_warp", "missing_syncwarp", 1, 32, 32),
    Case("race_between_blocks", "race", 4, 32, 128),
    Case("race_loop_end", "race", 1, 64, 256),
    Case("race_histogram", "race", 1, 64, 64),
    Case("race_hidden_store", "race", 1, 64, 64),
    Case("race_hidden_read", "race", 1, 64, 64),
    Case("out_of_bounds_by_one", "out_of_bounds", 2, 64, 100),
    Case("out_of_bounds_before", "out_of_bounds", 2, 64, 128),
    Case("out_of_bounds_shared", "out_of_bounds", 1, 64, 64),
    Case("out_of_bounds_row", "out_of_bounds", 1, 64, 64),
    Case("out_of_bounds_row_pointer", "out_of_bounds", 1, 64, 64),
    Case("out_of_bounds_flat", "out_of_bounds", 1, 64, 64),
    Case("uninitialised_global", "uninitialised_read", 1, 64, 64, ("no_input",)),
    Case("uninitialised_shared", "uninitialised_read", 1, 64, 64),
    Case("divergent_barrier", "divergent_barrier", 1, 64, 64),
    Case("exited_threads", "exited_threads", 1, 64, 64),
    Case("misaligned", "misaligned", 1, 16, 80),
    Case("wrong_mask", "illegal_mask", 1, 32, 32),
    Case("inactive_lane", "inactive_lane", 1, 32, 32),
    Case("leak", "leak", 1, 64, 64, ("leak",)),
    Case("launch_too_large", "unchecked_error", 1, 5000, 5000),
    Case("host_pointer", "host_pointer_in_kernel", 1, 64, 64, ("host_address",)),
    Case("null_pointer", "null_pointer", 1, 64, 64, ("null",)),
    Case("division_by_zero", "division_by_zero", 1, 64, 64),
    Case("double_buffer", "", 1, 64, 256),
    Case("tree_reduction", "", 2, 64, 128),
    Case("histogram", "", 2, 64, 128),
    Case("stencil", "", 2, 64, 128),
    Case("scan_in_place", "", 1, 64, 64),
    Case("uniform_barrier", "", 2, 64, 128),
    Case("whole_warp_exit", "", 1, 96, 64),
    Case("last_block", "", 4, 32, 128),
]

# Tools divide the bugs differently. A report of one of these classes counts as the right one, too.
ALSO_RIGHT = {
    "missing_syncwarp": {"race"},
    "same_value_write": {"race"},
    "exited_threads": {"divergent_barrier", "deadlock"},
    "divergent_barrier": {"deadlock"},
    "illegal_mask": {"deadlock", "inactive_lane"},
    "inactive_lane": {"illegal_mask", "deadlock"},
    "out_of_bounds": {"illegal_address"},
    "host_pointer_in_kernel": {"out_of_bounds", "illegal_address"},
    "null_pointer": {"out_of_bounds", "illegal_address"},
}


def is_right_class(case, finding):
    return finding == case.finding or finding in ALSO_RIGHT.get(case.finding, ())
