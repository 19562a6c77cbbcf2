#!/usr/bin/env python3
"""Says which units of the GPU PyTorch's attention kernels multiply with: ncu counts the instructions of each kernel.

    scripts/measure_torch_units.py [--output FILE]
    scripts/measure_torch_units.py --show            the table of the file, nothing measured

"float32 without TF32" is a promise about results, not about units: a product of float32 can be made of several on tensor
cores. For each kernel of a pass: how many instructions of a warp it executes, how many of them are products on tensor cores,
by name, and how many are FFMA, a float32 multiply-add in each of 32 lanes.
Needs PyTorch, ncu and ncu's Python module, which is installed beside it.

Exit status: 0 all was measured; 1 something was not, and the file says why; 3 the machine lacks something.
"""

import argparse
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import measure_counters  # noqa: E402
from options import Parser  # noqa: E402
from profiling import ncu  # noqa: E402
from profiling.ncu import ROOT, ProfileError  # noqa: E402
from torch_comparison.cases import BACKWARD, FORWARD, Case  # noqa: E402

# way, direction, dtype, D: 8 heads of 1024 tokens, no mask
PASSES = [(way, direction, dtype, D)
          for way, dtype in (("efficient", "float32"), ("naive", "float32"), ("flash", "bfloat16"))
          for direction in (FORWARD, BACKWARD) for D in (64, 128)]
SECONDS = 120
PRODUCTS = ("HMMA", "HGMMA", "IMMA", "DMMA")  # on tensor cores


def run_pass(way: str, direction: str, dtype: str, D: int):
    """The pass twice; ncu sees the second."""
    import torch
    from torch_comparison import baselines, judge

    case = Case(0, direction, 1, 8, 8, 1024, D, dtype=dtype)
    baselines.strict_float32()
    inputs = judge.make_inputs(case)
    leaves = [inputs[name].requires_grad_(direction == BACKWARD) for name in ("Q", "K", "V")]
    attend = (baselines.naive if way == "naive" else baselines.sdpa(way))(case, *leaves)

    start = torch.cuda.profiler.start
    for watched in (False, True):
        if watched and direction == FORWARD:
            start()
        O = attend()
        if direction == BACKWARD:
            torch.cuda.synchronize()
            if watched:
                start()
            torch.autograd.grad(O, leaves, inputs["dO"])
        torch.cuda.synchronize()
    torch.cuda.profiler.stop()


def kernel_of(action) -> dict:
    """A kernel's instructions of warps: all, those of tensor cores by name, and multiply-adds of float32."""
    executed, tensor_cores, ffma = 0, {}, 0
    for opcode, _, values in measure_counters.executed_instructions(action):
        executed += values["executed"]
        if opcode.split(".")[0] in PRODUCTS:
            tensor_cores[opcode] = tensor_cores.get(opcode, 0) + values["executed"]
        elif opcode.startswith("FFMA"):
            ffma += values["executed"]
    return {"kernel": ncu.short_name(action.name(action.NameBase_DEMANGLED))[:120], "executed": executed,
            "tensor_cores": tensor_cores, "ffma": ffma}  # fmt: skip


def measure(results, folder: pathlib.Path) -> int:
    """Measures every pass. Returns how many could not be measured."""
    ncu_report, missing = measure_counters.import_ncu_report(), 0
    results.head |= {"command": "scripts/measure_torch_units.py"} | measure_counters.machine()
    options = ["--profile-from-start", "off", "--section", "SourceCounters"]
    for way, direction, dtype, D in PASSES:
        entry = results.entry(way=way, direction=direction, dtype=dtype, D=D)
        command = [sys.executable, __file__, "--one", way, direction, dtype, str(D)]
        try:
            entry["kernels"] = ncu.profile(ncu_report, kernel_of, command, folder / "pass.ncu-rep", options, SECONDS)
        except ProfileError as problem:
            entry["problem"] = str(problem)
            missing += 1
        results.save()
    return missing


def show(results):
    """Prints a line for each kernel that multiplies."""
    for entry in results.entries:
        print(f"{entry['way']}, {entry['direction']}, {entry['dtype']}, D = {entry['D']}"
              f"{': ' + entry['problem'] if 'problem' in entry else ''}")
        for kernel in entry.get("kernels", ()):
            if kernel["tensor_cores"] or kernel["ffma"]:
                products = ", ".join(f"{count} {name}" for name, count in kernel["tensor_cores"].items())
                print(f"  {kernel['executed']:>12} instructions, {products or 'none'} on tensor cores, {kernel['ffma']} FFMA: "
                      f"{kernel['kernel'][:60]}")


def main() -> int:
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--one", nargs=4, metavar=("WAY", "DIRECTION", "DTYPE", "D"), help="run one pass, for ncu to look at")
    parser.add_argument("--output", type=pathlib.Path, default=ROOT / "docs" / "results" / "torch_units_h100.json")
    arguments = parser.parse_args()
    if arguments.one:
        run_pass(*arguments.one[:3], int(arguments.one[3]))
        return 0
    results = ncu.Results(arguments.output, ("way", "direction", "dtype", "D"), resume=arguments.show)
    if arguments.show:
        ncu.until_closed(show, results)
        return 0
    if lacking := [program for program in ("ncu", "nvidia-smi") if shutil.which(program) is None]:
        print(f"measure_torch_units.py: there is no {lacking[0]} on PATH.", file=sys.stderr)
        return 3
    with tempfile.TemporaryDirectory() as folder:
        return 1 if measure(results, pathlib.Path(folder)) else 0


if __name__ == "__main__":
    sys.exit(main())
