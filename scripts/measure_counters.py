#!/usr/bin/env python3
"""Measures what the hardware's profiler counts for the kernels of tests/simt/counters.

Builds each program with nvcc for the GPU of this machine, runs it (it checks its own results), runs it under ncu, and
writes one JSON file: for each launch the counters, and the same for each memory, barrier and warp instruction with its
source line. The names of the counters are those of common/simt/profile.hpp; "metrics" maps them to ncu's.
Needs nvcc, ncu and ncu's Python module, which is installed beside it.

Usage: scripts/measure_counters.py [--output FILE] [--reports FOLDER]
"""

import datetime
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
FOLDER = ROOT / "tests" / "simt" / "counters"
PROGRAMS = ["global", "shared", "atomics", "tiles", "probes"]

# Counters of the hardware, one value for a launch.
COUNTED = {
    f"global_{name}.{what}": f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum"
    for name, op in {"load": "ld", "store": "st", "atomic": "atom", "reduction": "red"}.items()
    for what in ("requests", "sectors")
}
COUNTED |= {
    f"shared_{name}.{what}": metric.format(op)
    for name, op in {"load": "ld", "store": "st", "atomic": "atom"}.items()
    for what, metric in {
        "requests": "smsp__inst_executed_op_shared_{}_pred_on_any.sum",
        "wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{}.sum",
    }.items()
}
COUNTED |= {
    "async_copy.requests": "sm__sass_l1tex_t_requests_pipe_lsu_mem_global_op_ldgsts.sum",
    "async_copy.sectors": "sm__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
    "async_copy.wavefronts": "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "warp_instructions": "smsp__inst_executed.sum",
    "thread_instructions": "smsp__thread_inst_executed.sum",
    "lanes_per_instruction": "smsp__thread_inst_executed_per_inst_executed.ratio",
    "divergent_branches": "smsp__sass_branch_targets_threads_divergent.sum",
}

# Counted for each instruction, by code that ncu adds to the kernel.
BY_INSTRUCTION = {
    "executed": "inst_executed",
    "lanes": "thread_inst_executed_true",
    "sectors": "memory_l2_theoretical_sectors_global",
    "ideal_sectors": "memory_l2_theoretical_sectors_global_ideal",
    "tag_requests": "memory_l1_tag_requests_global",
    "wavefronts": "memory_l1_wavefronts_shared",
    "ideal_wavefronts": "memory_l1_wavefronts_shared_ideal",
}

# What an instruction is, by its name without suffixes.
KINDS = {
    "LDG": "global_load",
    "LD": "global_load",
    "STG": "global_store",
    "ST": "global_store",
    "ATOMG": "global_atomic",
    "ATOM": "global_atomic",
    "REDG": "global_reduction",
    "RED": "global_reduction",
    "LDGSTS": "async_copy",
    "LDS": "shared_load",
    "STS": "shared_store",
    "ATOMS": "shared_atomic",
    "BAR": "barrier",
    "WARPSYNC": "warp_sync",
    "SHFL": "shuffle",
    "VOTE": "vote",
    "VOTEU": "vote",
    "MATCH": "vote",
    "REDUX": "vote",
}


def output_of(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout


def import_ncu_report():
    """ncu's Python module, from the folder that ncu is installed in."""
    places = [pathlib.Path(shutil.which("ncu")).resolve().parent]
    places += sorted(pathlib.Path("/opt/nvidia/nsight-compute").glob("*"), reverse=True)
    places += sorted(pathlib.Path("/usr/local").glob("cuda*/nsight-compute*"), reverse=True)
    for place in places:
        for folder in (place, *place.parents):
            if (folder / "extras" / "python" / "ncu_report.py").is_file():
                sys.path.insert(0, str(folder / "extras" / "python"))
                import ncu_report

                return ncu_report
    sys.exit("no ncu_report.py beside ncu")


def number(value):
    return int(value) if float(value).is_integer() else round(float(value), 4)


def plain_name(demangled):
    """Without return type, parameters and the types of constants: load_kernel<float, 1>."""
    name = re.sub(r"\((?:int|bool|unsigned int)\)", "", demangled).removeprefix("void ")
    depth = 0
    for at, character in enumerate(name):
        depth += {"<": 1, ">": -1}.get(character, 0)
        if character == "(" and depth == 0:
            return name[:at]
    return name


def executed_instructions(action):
    """(name with its suffixes, its place in the source or None, values) of each instruction of a kernel, by address."""
    rows = {}
    present = set(action.metric_names())
    for name, metric_name in BY_INSTRUCTION.items():
        if metric_name not in present:
            continue
        metric = action.metric_by_name(metric_name)
        addresses = metric.correlation_ids()
        for instance in range(metric.num_instances()):
            rows.setdefault(addresses.as_uint64(instance), {})[name] = number(metric.as_double(instance))
    for address in sorted(rows):
        if rows[address].get("executed"):
            opcode = re.sub(r"^\s*(@\S+\s+)?", "", action.sass_by_pc(address)).split()[0].rstrip(";")
            yield opcode, action.source_info(address), rows[address]


def instructions_of(action, program):
    """(place, kind, values) of the instructions in KINDS that were executed; the place is a line of the program, or
    file:line elsewhere."""
    for opcode, source, values in executed_instructions(action):
        kind = KINDS.get(opcode.split(".")[0])
        if kind is None:
            continue
        place = "unknown"
        if source:
            name = pathlib.PurePath(source.file_name()).name
            place = str(source.line()) if name == program.name else f"{name}:{source.line()}"
        yield place, kind, values


def add(total, kind, values):
    into = total.setdefault(kind, {})
    for name, value in values.items():
        if value:
            into[name] = into.get(name, 0) + value


def launches_of(ncu_report, report, source):
    launches = []
    for action in ncu_report.load_report(str(report)).range_by_idx(0):
        names = set(action.metric_names())

        def value(name):
            return number(action.metric_by_name(name).as_double()) if name in names else None

        counters = {name: value(metric) for name, metric in COUNTED.items()}
        total, lines = {}, {}
        for place, kind, values in instructions_of(action, source):
            add(total, kind, values)
            add(lines.setdefault(place, {}), kind, values)
        launches.append(
            {
                "kernel": plain_name(action.name(action.NameBase_DEMANGLED)),
                "grid": [value(f"launch__grid_dim_{axis}") for axis in "xyz"],
                "block": [value(f"launch__block_dim_{axis}") for axis in "xyz"],
                "counted": {name: amount for name, amount in counters.items() if amount},
                "by_instruction": total,
                "lines": lines,
            }
        )
    return launches


def machine():
    """What was measured where."""
    gpu = output_of("nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader").splitlines()[0]
    return {
        "gpu": gpu.split(", ")[0],
        "driver": gpu.split(", ")[1],
        "nvcc": re.search(r"release ([\d.]+)", output_of("nvcc", "--version"))[1],
        "ncu": re.search(r"Version ([\d.]+)", output_of("ncu", "--version"))[1],
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
    }


def build(folder):
    """Starts the compilers; returns {program: process}."""
    command = ["nvcc", "-std=c++20", "-O3", "-lineinfo", "-arch=native"]
    return {name: subprocess.Popen([*command, FOLDER / f"{name}.cu", "-o", folder / name]) for name in PROGRAMS}


def measure(program, folder, ncu_report):
    """The launches of one program, with the patterns that it prints, if any."""
    binary, report = folder / program, folder / f"{program}.ncu-rep"
    printed = output_of(binary)
    subprocess.run(
        ["ncu", "--clock-control", "none", "--section", "SourceCounters", "--metrics", ",".join(COUNTED.values()),
         "--force-overwrite", "--export", report, binary],
        check=True,
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    launches = launches_of(ncu_report, report, FOLDER / f"{program}.cu")
    patterns = [line.rsplit(" ", 33) for line in printed.splitlines() if line.startswith("probe_")]
    for launch, (kernel, active, *elements) in zip(launches, patterns):
        assert launch["kernel"] == kernel, (launch["kernel"], kernel)
        del launch["lines"]
        launch["active"], launch["elements"] = active, [int(element) for element in elements]
    return launches


def written(result):
    """JSON with one line for each launch."""
    head = {key: value for key, value in result.items() if key != "programs"}
    programs = []
    for program, launches in result["programs"].items():
        rows = ",\n".join("      " + json.dumps(launch) for launch in launches)
        programs.append(f'    "{program}": [\n{rows}\n    ]')
    return json.dumps(head, indent=2)[:-2] + ',\n  "programs": {\n' + ",\n".join(programs) + "\n  }\n}\n"


def main():
    parser = Parser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=pathlib.Path, default=FOLDER / "h200.json")
    parser.add_argument("--reports", type=pathlib.Path, help="keeps ncu's reports in this folder")
    arguments = parser.parse_args()
    ncu_report = import_ncu_report()
    result = {
        **machine(),
        "command": "scripts/measure_counters.py",
        "metrics": COUNTED | {f"by_instruction.*.{name}": metric for name, metric in BY_INSTRUCTION.items()},
        "programs": {},
    }
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.reports or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for program, compiler in build(folder).items():
            if compiler.wait() != 0:
                sys.exit(f"{program}.cu does not compile")
            result["programs"][program] = measure(program, folder, ncu_report)
            print(f"{program}: {len(result['programs'][program])} launches", file=sys.stderr)
    arguments.output.write_text(written(result))


if __name__ == "__main__":
    main()
