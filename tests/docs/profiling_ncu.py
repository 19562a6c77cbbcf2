"""In the place of ncu: writes a report of one launch, as the module of profiling_example reads it."""

import json
import pathlib
import sys

FOLDER = pathlib.Path(sys.argv[0]).resolve().parent
VALUES = {
    "launch__grid_dim_x": 2, "launch__grid_dim_y": 1, "launch__grid_dim_z": 1, "launch__block_dim_x": 64,
    "launch__block_dim_y": 1, "launch__block_dim_z": 1, "launch__registers_per_thread": 40,
    "gpu__time_duration.sum": 1500000,
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": 0.5,
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": 2.5,
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio": 0,
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 2, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 16,
}  # fmt: skip
# Of two instructions, a load of line 7 and a barrier of line 8, at the addresses 16 and 32.
INSTANCES = {
    "inst_executed": {"16": 2, "32": 2},
    "thread_inst_executed_true": {"16": 64, "32": 64},
    "memory_l2_theoretical_sectors_global": {"16": 16},
    "memory_l2_theoretical_sectors_global_ideal": {"16": 16},
}


def asked(name):
    """What a test has put into a file beside this one."""
    file = FOLDER / name
    return file.read_text(encoding="utf-8") if file.exists() else None


words = " ".join(sys.argv[1:])
with (FOLDER / "calls").open("a", encoding="utf-8") as calls:
    calls.write(words + "\n")
if words == "--version":
    print("Version 2025.3.1.0 (build 1)")
    sys.exit(0)
unknown, silent = asked("unknown_metric"), asked("no_kernels")
if unknown is not None and unknown in words:
    sys.exit(f"==ERROR== Failed to find metric {unknown}")
if silent is not None and silent in words:
    sys.exit("no such measurement")
if "--one" in sys.argv:  # a pass of PyTorch, which multiplies as well
    INSTANCES["inst_executed"] |= {"48": 8, "64": 3}
report = {"values": VALUES, "instances": INSTANCES}
pathlib.Path(sys.argv[sys.argv.index("--export") + 1]).write_text(json.dumps(report), encoding="utf-8")
