#!/usr/bin/env python3
"""Holds the simulator's counters against the hardware's, launch by launch and line by line.

    counters_test.py COURSE [RESULTS.json]

COURSE is the built program. Every number of h200.json that the simulator counts must come out equal, except those of
EXPLAINED; a difference that is explained and no longer there is an error as well.

Not compared: the sectors of global atomics by line, and their ideal, because ncu counts both as if the atomics were
loads (the launch's sectors are the hardware's own count, and compared); what the simulator does not model.
"""

import collections
import concurrent.futures
import json
import pathlib
import subprocess
import sys
import tempfile

FOLDER = pathlib.Path(__file__).resolve().parent

# From ncu's kinds of instruction to the simulator's kinds of traffic. The hardware's counters of loads include
# asynchronous copies.
TRAFFIC = {
    "global_load": ("global_load", "async_copy"),
    "global_store": ("global_store",),
    "global_atomic": ("global_atomic", "global_reduction"),
    "shared_load": ("shared_load",),
    "shared_store": ("shared_store",),
    "shared_atomic": ("shared_atomic",),
}
OPERATIONS = {"barriers": "barrier", "shuffles": "shuffle", "votes": "vote", "warp_syncs": "warp_sync"}


# The lines that call into NVIDIA's headers, where ncu counts what these do.
CALLERS = {
    "device_atomic_functions.hpp:202": "37",  # atomicCAS
    "cuda_pipeline_helpers.h:190": "132",  # __pipeline_memcpy_async, of 4 and 8 bytes
    "cuda_pipeline_helpers.h:203": "132",  # of 16 bytes
}


def float_loop(rounds, load_wavefronts, line):
    """What a loop of loads and exchanges counts more than one atomic; each exchange takes two wavefronts."""
    loads = {"requests": rounds, "wavefronts": load_wavefronts, "ideal_wavefronts": rounds}
    swaps = {"requests": rounds - 1, "wavefronts": rounds, "ideal_wavefronts": 2 * rounds - 1}
    rows = {f"shared_load.{name}": more for name, more in loads.items()}
    rows |= {f"shared_atomic.{name}": more for name, more in swaps.items() if more}
    return rows | {f"line {line} {name}": more for name, more in rows.items()}


LOOP = "nvcc builds atomics on floats in shared memory as a loop of loads and exchanges"
ONES = "adding the constant 1 is an instruction of its own, which serves the lanes that meet together"
PREDICATE = "ncu's count by line includes instructions whose predicate leaves no lane; a request has one"
IDEAL = "ncu computes the ideal of wide loads by lanes that meet or are inactive from wavefronts it does not see"
SECTORS = "for some patterns of many sectors the hardware counts one more, the same each time"

# (program, launch): (why, {counter: the hardware's minus the simulator's}). Launches of one name have a number.
EXPLAINED = {
    ("shared", "shared_tree_kernel"): (
        PREDICATE, {"line 107 shared_load.requests": 80, "line 107 shared_store.requests": 40}),
    ("tiles", "stencil_kernel"): (PREDICATE, {"line 116 global_load.requests": 1}),
    ("atomics", "shared_red_kernel<float, 1, 1>"): (LOOP, float_loop(32, 32, line=54)),
    ("atomics", "shared_atom_kernel<float, 1, 1>"): (LOOP, float_loop(32, 32, line=67)),
    ("atomics", "shared_red_kernel<float, 2, 1>"): (LOOP, float_loop(16, 16, line=54)),
    ("atomics", "shared_atom_kernel<float, 2, 1>"): (LOOP, float_loop(16, 16, line=67)),
    ("atomics", "shared_red_kernel<float, 32, 1>"): (LOOP, float_loop(1, 1, line=54)),
    ("atomics", "shared_atom_kernel<float, 32, 1>"): (LOOP, float_loop(1, 1, line=67)),
    ("atomics", "shared_red_kernel<float, 32, 2>"): (LOOP, float_loop(2, 3, line=54)),
    ("atomics", "shared_atom_kernel<float, 32, 2>"): (LOOP, float_loop(2, 3, line=67)),
    ("atomics", "histogram_kernel"): (
        ONES, {"shared_atomic.wavefronts": -21, "line 92 shared_atomic.wavefronts": -21}),
    ("probes", "probe_shared_load_kernel<float4> 88"): (IDEAL, {"shared_load.ideal_wavefronts": 1}),
    ("probes", "probe_shared_load_kernel<float4> 92"): (IDEAL, {"shared_load.ideal_wavefronts": 1}),
    ("probes", "probe_shared_load_kernel<float4> 113"): (IDEAL, {"shared_load.ideal_wavefronts": 1}),
    ("probes", "probe_red_kernel<int> 120"): (SECTORS, {"global_atomic.sectors": 1}),
    ("probes", "probe_red_kernel<int> 121"): (SECTORS, {"global_atomic.sectors": 1}),
    ("probes", "probe_atom_kernel<int> 122"): (SECTORS, {"global_atomic.sectors": 1}),
    ("probes", "probe_red_kernel<float> 141"): (SECTORS, {"global_atomic.sectors": 1}),
    ("probes", "probe_red_kernel<float> 142"): (SECTORS, {"global_atomic.sectors": 1}),
    ("probes", "probe_atom_kernel<float> 143"): (SECTORS, {"global_atomic.sectors": 1}),
}  # fmt: skip

# Findings: the random patterns let lanes meet, and those that store write one value.
FINDINGS = {"probes": {("same_value_write", "probe_global_store_kernel<float>"),
                       ("same_value_write", "probe_shared_store_kernel<float>")}}  # fmt: skip


def unit_of(kind):
    return "sectors" if kind.startswith("global") else "wavefronts"


def measured_at(rows):
    """What ncu counted by instruction, of a launch or of one line."""
    counters = collections.Counter()
    for kind, sources in TRAFFIC.items():
        unit = unit_of(kind)
        for row in (rows[source] for source in sources if source in rows):
            counters[f"{kind}.requests"] += row["executed"]
            if kind != "global_atomic":
                counters[f"{kind}.{unit}"] += row.get(unit, 0)
                counters[f"{kind}.ideal_{unit}"] += row.get(f"ideal_{unit}", 0)
    for name, source in OPERATIONS.items():
        counters[name] = rows.get(source, {}).get("executed", 0)
    return counters


def measured(launch):
    """Of a launch, where there is one by a counter of the hardware, and of its lines."""
    total = measured_at(launch["by_instruction"])
    for kind in TRAFFIC:
        sources = (kind, "global_reduction") if kind == "global_atomic" else (kind,)
        for name in ("requests", unit_of(kind)):
            total[f"{kind}.{name}"] = sum(launch["counted"].get(f"{source}.{name}", 0) for source in sources)
    lines = collections.defaultdict(collections.Counter)
    for place, rows in launch.get("lines", {}).items():
        # Three loads that no lane takes part in stand beside each asynchronous copy.
        seen = {kind: row for kind, row in rows.items() if place not in CALLERS or "lanes" in row}
        lines[CALLERS.get(place, place)].update(measured_at(seen))
    return total, lines


def counted_at(counters):
    rows = {name: counters[name] for name in OPERATIONS}
    for kind in TRAFFIC:
        unit = unit_of(kind)
        rows |= {f"{kind}.{name}": counters[kind][name] for name in ("requests", unit, f"ideal_{unit}")}
    return collections.Counter(rows)


def pairs(measured_launch, counted_launch):
    """(counter, the hardware's, the simulator's)"""
    hardware, hardware_lines = measured(measured_launch)
    ours = counted_at(counted_launch["total"])
    for name in sorted(ours):
        if name != "global_atomic.ideal_sectors":
            yield name, hardware[name], ours[name]
    if "lines" not in measured_launch:
        return
    our_lines = {str(line["line"]): counted_at(line["counters"]) for line in counted_launch["lines"]}
    for place in sorted(hardware_lines.keys() | our_lines.keys()):
        there, here = hardware_lines.get(place, {}), our_lines.get(place, {})
        for name in sorted(ours):
            if name in ("global_atomic.sectors", "global_atomic.ideal_sectors"):
                continue
            if there.get(name, 0) or here.get(name, 0):
                yield f"line {place} {name}", there.get(name, 0), here.get(name, 0)


def simulate(course, program):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        result = subprocess.run([course, "simulate", "--check", "--report", report, FOLDER / f"{program}.cu"],
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=240, check=False)
        if not report.exists() or f"{program}: ok" not in result.stdout:
            sys.exit(f"{program}.cu did not run to its end:\n{result.stdout[-2000:]}{result.stderr}")
        return json.loads(report.read_text(encoding="utf-8"))


def labels(launches):
    """The kernel of each launch, with the launch's number where several have one kernel."""
    names = collections.Counter(launch["kernel"] for launch in launches)
    for number, launch in enumerate(launches):
        yield launch["kernel"] if names[launch["kernel"]] == 1 else f"{launch['kernel']} {number}"


def compare(program, launches, report):
    """Problems, and how many numbers were compared and explained."""
    problems, compared, explained = [], 0, 0
    findings = {(finding["class"], finding["kernel"]) for finding in report["findings"]}
    if findings != FINDINGS.get(program, set()):
        problems.append(f"{program}: findings {sorted(findings)}")
    if len(launches) != len(report["launches"]):
        return [*problems, f"{program}: {len(report['launches'])} launches, {len(launches)} on hardware"], 0, 0
    for name, hardware, ours in zip(labels(launches), launches, report["launches"]):
        for key in ("grid", "block"):
            if hardware[key] != ours[key]:
                problems.append(f"{program}: {name}: {key} {ours[key]}, {hardware[key]} on hardware")
        if hardware["kernel"].partition("<")[0] != ours["kernel"].partition("<")[0]:
            problems.append(f"{program}: {name}: the simulator ran {ours['kernel']}")
        reason, allowed = EXPLAINED.get((program, name), ("", {}))
        left = dict(allowed)
        for counter, there, here in pairs(hardware, ours):
            compared += 1
            more = left.pop(counter, 0)
            explained += more != 0
            if there - here != more:
                expected = f", expected {there - more}: {reason}" if more else ""
                problems.append(f"{program}: {name}: {counter}: {here}, {there} on hardware{expected}")
        problems += [f"{program}: {name}: {counter} is explained but not counted" for counter in left]
    return problems, compared, explained


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    course = pathlib.Path(sys.argv[1]).resolve()
    results = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else FOLDER / "h200.json"
    programs = json.loads(results.read_text(encoding="utf-8"))["programs"]
    launched = {(program, label) for program, launches in programs.items() for label in labels(launches)}
    problems = [f"{program}: {label} is explained, but no launch" for program, label in EXPLAINED.keys() - launched]
    compared = explained = 0
    with concurrent.futures.ThreadPoolExecutor(max_workers=2) as pool:
        reports = pool.map(lambda program: simulate(course, program), programs)
        for (program, launches), report in zip(programs.items(), reports):
            found, numbers, reasons = compare(program, launches, report)
            problems += found
            compared += numbers
            explained += reasons
    print("\n".join(problems) + "\n" if problems else "", end="")
    print(f"{compared} counters compared, {explained} explained, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
