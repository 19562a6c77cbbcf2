"""Test cases of the lessons, their launches by ncu and by the simulator, and what differs."""

import json
import pathlib
import shlex
import sys
import tempfile

from . import ncu
from .ncu import ROOT, ProfileError

sys.path.insert(0, str(ROOT / "tests" / "simt" / "counters"))
import counters_test  # noqa: E402
import measure_counters  # noqa: E402

# Small cases with several blocks, for the most part those that hold a solution to its traffic.
CASES = [
    ("01_vector_add", "adds 255, 256, 257 and 1000 numbers"),
    ("02_matrix_strides", "lets neighbouring threads copy neighbours along a row"),
    ("02_matrix_strides", "transposes with reads and writes that both lie side by side"),
    ("03_weighted_row_sum", "tree: reads whole sectors and has no bank conflicts"),
    ("03_weighted_row_sum", "reads whole sectors, and waits at no more than two barriers"),
    ("04_safe_softmax", "reads x three times, in whole sectors, and writes y once"),
    ("05_online_softmax", "stats: read x once, in whole sectors"),
    ("05_online_softmax", "reads x twice, in whole sectors, and waits at no more than two barriers"),
    ("06_block_matmul", "tiled: reads A and B as often as tiles of 32 x 32 demand, in whole sectors"),
    ("06_block_matmul", "reads A and B as often as tiles of 64 x 64 demand, in whole sectors"),
    ("07_naive_attention", "writes S and P once, and reads them as often as promised"),
    ("08_flash1_forward", "reads K and V once, and the rest once for each tile of keys"),
    ("09_flash2_forward", "reads K and V once for every 64 queries, and stores only O and lse, once"),
    ("09_flash2_forward", "reads and writes whole sectors"),
    ("10_causal", "loads no keys that no query of the tile sees"),
    ("10_causal", "launches one kernel, with blocks for every tile, that writes O and lse once, in whole sectors"),
    ("11_grouped_query", "reads K and V once for all heads of a group where the queries are few"),
    ("11_grouped_query", "reads and writes whole sectors"),
    ("12_sliding_window", "loads only tiles of keys that the window reaches"),
    ("12_sliding_window", "reads and writes whole sectors"),
    ("13_attention_sinks", "loads each tile of the sinks and of the window once, and none between them"),
    ("13_attention_sinks", "reads and writes whole sectors, and writes O and lse once"),
    ("14_gradients",
     "matmul: reads as often as tiles of 64 x 64 demand, in whole sectors, and moves nothing to transpose it"),
    ("14_gradients", "softmax: reads P and dP twice, in whole sectors, and writes dS once"),
    ("15_flash2_backward",
     "reads tiles as often as the contract says, in whole sectors, and stores each result once"),
    ("16_grouped_query_backward", "reads K and V once for all heads that share them, and stores their sums alone"),
    ("16_grouped_query_backward", "leaves out the queries that see no key of a tile, in every head"),
    ("17_full_backward",
     "reads and writes whole sectors, in as many launches as it needs, and writes each result once"),
    ("18_dropout", "reads no more bytes than without dropout, and stores nothing but the results"),
    ("19_register_tiling",
     "launches one kernel, which reads K and V once for a tile and writes O and lse once, in whole sectors"),
    ("20_async_pipeline", "copy: reads x once, in whole sectors, without a detour and without a barrier"),
    ("20_async_pipeline", "sends for A and B without a detour, in whole sectors, and waits once a slab"),
    ("21_tensor_cores", "reads A and B once a tile, without bank conflicts, and waits once a slab"),
    ("22_tensor_core_attention", "has no bank conflicts, multiplies whole tiles on tensor cores, and meets once a tile"),
    ("24_tensor_core_backward", "stores each result once, and nothing else, and reads only tiles that meet"),
    ("30_split_kv_decoding", "has no bank conflicts and no barrier between tiles, and multiplies on tensor cores"),
]  # fmt: skip

# Beside those of measure_counters: what tells why the machine code accesses memory in another way than the source.
METRICS = measure_counters.COUNTED | {
    "local_load.requests": "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum",
    "local_store.requests": "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum",
    "global_load.predicated_off": "smsp__inst_executed_op_global_ld_pred_off_all.sum",
    "global_store.predicated_off": "smsp__inst_executed_op_global_st_pred_off_all.sum",
    "shared_load.predicated_off": "smsp__inst_executed_op_shared_ld_pred_off_all.sum",
    "shared_store.predicated_off": "smsp__inst_executed_op_shared_st_pred_off_all.sum",
}
KINDS = measure_counters.KINDS | {"LDL": "local_load", "STL": "local_store", "LDSM": "shared_load"}
# The simulator's counters of arithmetic, and the instructions that ncu has for them. Profiles of before 2026-11-26 have none.
ARITHMETIC = {"matrix_instructions": ("HMMA", "IMMA", "DMMA"), "special_instructions": ("MUFU",)}


# The profiler.


def test_pattern(name: str) -> str:
    """What makes Catch2 run the case of this name, and no other."""
    return "".join("\\" + letter if letter in ',[]*\\"~' else letter for letter in name)


def worker_script(worker: str) -> str:
    """A worker that its tests cannot kill: it ends by itself when they hang up, so that ncu gets all of its kernels."""
    return f"#!/bin/sh\nsetsid {shlex.quote(worker)} \"$@\" &\nwait $!\n"


def profiled_launch(action) -> dict:
    """What ncu counted of one launch: by the hardware, by kind of instruction, and by line."""
    launch = ncu.launch_of(action)
    values = {name: ncu.metric_value(action, metric) for name, metric in METRICS.items()}
    launch["counted"] = {name: value for name, value in values.items() if value}
    launch["registers"] = ncu.metric_value(action, "launch__registers_per_thread")
    total, lines, arithmetic = {}, {}, dict.fromkeys(ARITHMETIC, 0)
    for opcode, source, counted in measure_counters.executed_instructions(action):
        for name, opcodes in ARITHMETIC.items():
            arithmetic[name] += counted["executed"] if opcode.split(".")[0] in opcodes else 0
        kind = KINDS.get(opcode.split(".")[0])
        if kind is None:
            continue
        place = f"{pathlib.PurePath(source.file_name()).name}:{source.line()}" if source else "unknown"
        line = lines.setdefault(place, {})
        measure_counters.add(total, kind, counted)
        measure_counters.add(line, kind, counted)
        opcodes = line[kind].setdefault("opcodes", {})
        opcodes[opcode] = opcodes.get(opcode, 0) + counted["executed"]
    return launch | {"by_instruction": total, "arithmetic": arithmetic, "lines": lines}


def profile_case(ncu_report, test: dict, library, case: str, folder: pathlib.Path, seconds: float) -> dict:
    """All launches of a test case on the GPU. `test`: the program and the worker.

    @throws ProfileError if ncu gives none
    """
    script = folder / "worker.sh"
    script.write_text(worker_script(test["worker"]), encoding="utf-8")
    script.chmod(0o755)
    options = ["--target-processes", "all", "--section", "SourceCounters", "--metrics", ",".join(METRICS.values())]
    problems = []
    for worker in (script, test["worker"]):
        command = [test["program"], "--kernel", library, "--worker", worker, "--backend", "gpu", "--timeout", seconds,
                   test_pattern(case)]  # fmt: skip
        try:
            return {"launches": ncu.profile(ncu_report, profiled_launch, command, folder / "case.ncu-rep", options,
                                            seconds)}
        except ProfileError as problem:
            problems.append(str(problem))
    raise ProfileError(" Once more, without the script: ".join(problems))


# The simulator.


def kept(counters: dict) -> dict:
    """Without what is 0."""
    smaller = {name: kept(value) if isinstance(value, dict) else value for name, value in counters.items()}
    return {name: value for name, value in smaller.items() if value}


def simulated_launch(launch: dict) -> dict:
    lines = {f"{pathlib.PurePath(line['file']).name}:{line['line']}": kept(line["counters"])
             for line in launch["lines"]}  # fmt: skip
    return {"kernel": ncu.short_name(launch["kernel"]), "grid": launch["grid"], "block": launch["block"],
            "total": kept(launch["total"]),
            "lines": {place: line for place, line in lines.items() if line}}  # fmt: skip


def simulate_case(course, lesson: str, case: str, seconds: float) -> dict:
    """All launches of a test case in check mode.

    @throws ProfileError if there are none
    """
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "profile.json"
        status, said = ncu.compare_sanitizer.run_limited(
            [str(course), "profile", lesson[:2], "--solution", "--case", case, "--all", "--json", str(file)], seconds,
            cwd=ROOT)
        if not file.exists():
            how = "took too long" if status is None else f"ended with status {status}"
            raise ProfileError(f"./course profile {how}: {said.strip()[-ncu.WORDS:]}")
        return {"launches": [simulated_launch(launch)
                             for launch in json.loads(file.read_text(encoding="utf-8"))["launches"]]}


# Both.


def filled(counters: dict) -> dict:
    """A simulator's counters with what is 0, as counters_test reads them."""
    rows = {name: counters.get(name, 0) for name in counters_test.OPERATIONS}
    for kind in counters_test.TRAFFIC:
        unit = counters_test.unit_of(kind)
        rows[kind] = {name: counters.get(kind, {}).get(name, 0) for name in ("requests", unit, f"ideal_{unit}")}
    return rows


COMPARED = [f"{kind}.{name}" for kind in counters_test.TRAFFIC
            for name in ("requests", counters_test.unit_of(kind))] + list(counters_test.OPERATIONS)  # fmt: skip


def pairs(profiled: dict, simulated: dict) -> list:
    """(counter, the simulator's, the profiler's) of a launch, without those that are 0 in both."""
    there = counters_test.measured({"counted": profiled["counted"], "by_instruction": profiled["by_instruction"]})[0]
    there |= profiled.get("arithmetic", {})
    here = counters_test.counted_at(filled(simulated["total"]))
    here |= {name: simulated["total"].get(name, 0) for name in ARITHMETIC}
    names = [*COMPARED, *profiled.get("arithmetic", {})]
    return [(name, here[name], there[name]) for name in names if here[name] or there[name]]


def line_pairs(profiled: dict, simulated: dict, counter: str) -> list:
    """(file:line, the simulator's, the profiler's) of the lines where a counter differs."""
    found = []
    for place in sorted(profiled["lines"].keys() | simulated["lines"].keys()):
        there = counters_test.measured_at(profiled["lines"].get(place, {}))[counter]
        here = counters_test.counted_at(filled(simulated["lines"].get(place, {})))[counter]
        if there != here:
            found.append((place, here, there))
    return found


def is_same_launch(there: dict, here: dict) -> bool:
    """Whether kernel, grid and block are the same. Of a kernel that is launched through a pointer the simulator has
    the variable's name; kernels have names in "_kernel", and variables have not."""
    names = [launch["kernel"].partition("<")[0] for launch in (there, here)]
    return ((names[0] == names[1] or not names[1].endswith("_kernel"))
            and all(there[member] == here[member] for member in ("grid", "block")))  # fmt: skip


def matched(entry: dict) -> list:
    """Pairs of one launch by the profiler and by the simulator, in order. A test that reads counters leaves calls out
    where there are none, so that the GPU may have seen fewer launches; each that it saw has one in the simulator.

    @throws ProfileError if a launch has none, or one half is missing
    """
    where = f"{entry['lesson']}, \"{entry['case']}\""
    for half in ("profiler", "simulator"):
        if "launches" not in entry.get(half, {}):
            problem = entry.get(half, {}).get("problem", "it was not measured")
            raise ProfileError(f"{where} has no launches of the {half}: {problem}")
    simulated = iter(entry["simulator"]["launches"])
    found = []
    for number, there in enumerate(entry["profiler"]["launches"]):
        here = next((launch for launch in simulated if is_same_launch(there, launch)), None)
        if here is None:
            raise ProfileError(f"{where}: launch {number} of {there['kernel']} on the GPU, with the grid "
                               f"{there['grid']} and the block {there['block']}, is not among those of the simulator")
        found.append((there, here))
    return found


def shorten(entry: dict):
    """Leaves out what the page does not read: lines at which both halves count the same, once both are there."""
    try:
        launches = matched(entry)
    except ProfileError:
        return
    for there, here in launches:
        differing = [name for name, ours, theirs in pairs(there, here) if ours != theirs]
        places = {place for name in differing for place, *_ in line_pairs(there, here, name)}
        for launch in (there, here):
            launch["lines"] = {place: line for place, line in launch["lines"].items() if place in places}
    known = {id(here) for _, here in launches}
    for launch in entry["simulator"]["launches"]:
        if id(launch) not in known:
            launch["lines"] = {}
