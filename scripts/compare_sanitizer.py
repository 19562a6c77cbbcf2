#!/usr/bin/env python3
"""Compares the simulator's check mode with NVIDIA's compute-sanitizer, on the programs of tests/simt/planted, each
with one kind of bug, and of tests/simt/clean, which have none.

Builds each program with nvcc, runs it by itself and under the four tools of compute-sanitizer on this machine's GPU,
and in the simulator; prints who found what, and writes docs/results/sanitizer.json. What this machine cannot run
keeps what the file says of it, so that the GPU and the simulator may be on different machines.

    scripts/compare_sanitizer.py                    everything that this machine can run
    scripts/compare_sanitizer.py --only sanitizer   needs nvcc, compute-sanitizer and a GPU
    scripts/compare_sanitizer.py --only simulator   needs ./course
    scripts/compare_sanitizer.py --show             the table of the file, nothing measured

Exit status: 0 if the simulator finds all bugs that compute-sanitizer finds, 1 if not.
"""

import argparse
import collections
import concurrent.futures
import datetime
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "simt"
RESULTS = ROOT / "docs" / "results" / "sanitizer.json"
NVCC = ["nvcc", "-std=c++17", "-arch=sm_90", "-lineinfo", "-w"]
RUN_SECONDS = 20

# Each tool with the options that make it report most; those that this version does not know are left out.
TOOLS = {
    "memcheck": ["--leak-check=full"],
    "racecheck": ["--racecheck-report=all", "--racecheck-detect-level=info"],
    "initcheck": ["--initcheck-address-space=all"],
    "synccheck": [],
}
# What compute-sanitizer reports on programs that are right.
ZERO_FILL = "memcheck takes the bytes that zero-fill leaves out for read"
PADDING = "initcheck takes the padding of a copied struct for a value"
NAMED_BARRIERS = "racecheck does not see the order that bar.arrive and bar.sync make"
REMARKS = {
    "async_copy_zero_fill": ZERO_FILL,
    "cuda_barrier_and_pipeline": "synccheck misses a wait at a copy that the cuda::barrier waits for",
    "padding_of_copied_structs": PADDING,
    "pipe_odd_tail_in_bytes": ZERO_FILL,
    "ptx_async_zero_fill": ZERO_FILL,
    "ptx_named_barriers_hand_over": NAMED_BARRIERS,
    "ptx_warps_take_turns": NAMED_BARRIERS,
    "struct_padding_copied": PADDING,
    "warps_hand_over_by_atomic_flag": "racecheck does not know the order that fences and an atomic flag make",
}
ENDED_BADLY = "process didn't terminate successfully"  # the program itself
SUMMARY = re.compile(r"(?:ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: (\d+) hazard)")


def expected_class(source):
    """The class of the first bug that a planted program's head names; "" for a clean one."""
    found = re.search(r"^// expect: (\w+)", source.read_text(encoding="utf-8"), re.MULTILINE)
    return found[1] if found else ""


def sources_of(kind):
    return sorted((CORPUS / kind).glob("*.cu"))


def options_of(source):
    """What nvcc needs for that program besides: cuBLAS, cuRAND, kernels that launch kernels."""
    needs = {"cublas": ["-lcublas"], "curand": ["-lcurand"],
             "launch_nested": ["-rdc=true"], "kernels_launch": ["-rdc=true"]}  # fmt: skip
    return next((options for start, options in needs.items() if source.stem.startswith(start)), [])


def run_limited(command, seconds, **options):
    """(exit status or None if it ran too long, output); what it started ends with it."""
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                                   start_new_session=True, **options)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass  # the driver is still busy with its kernel
        output.seek(0)
        return status, output.read().decode(errors="replace")


# compute-sanitizer.


def reports_in(output, name):
    """What a tool printed: each report once, as "Invalid __global__ read of size 4 bytes, line 12"."""
    reports = []
    for paragraph in re.split(r"\n=========\s*(?:\n|$)", "\n" + output):
        lines = re.findall(r"^========= ?(.*)$", paragraph, re.MULTILINE)
        lines = [line for line in lines if line.strip() and not re.match(r"(COMPUTE-SANITIZER|Target|Host)", line)]
        if not lines or SUMMARY.search(lines[0]) or lines[0].startswith("LEAK SUMMARY") or ENDED_BADLY in lines[0]:
            continue
        places = re.findall(rf"{re.escape(name)}\.cu:(\d+)", "\n".join(lines))
        what = re.sub(r"\+?0x[0-9a-f]+", "", re.sub(r" in \S+:\d+", "", lines[0].strip()))
        report = what + (f", line {places[0]}" if places else "")
        if report not in reports:
            reports.append(report)
    return reports


def run_tool(tool, options, binary):
    status, output = run_limited(["compute-sanitizer", "--tool", tool, *options, str(binary)], RUN_SECONDS)
    if "not supported by the selected tool" in output:  # kernels that launch kernels
        return {"errors": 0, "ended": "not supported"}
    summary = SUMMARY.search(output)
    count = int(summary[1] or summary[2]) if summary else None
    reports = reports_in(output, binary.name)
    result = {"errors": count if count is not None else len(reports)}
    if reports:
        result["reports"] = reports[:3]
    if status is None:
        result["ended"] = "stopped"
    elif summary is None:
        result["ended"] = f"no summary, exit status {status}"
        result["output"] = output[-300:]
    return result


def measure_sanitizer(jobs, seconds):
    """{kind: {program: {tool: result}}}, and what was used."""
    help_text = run_limited(["compute-sanitizer", "--help"], 60)[1]
    options = {tool: [option for option in wanted if option.split("=")[0] in help_text]
               for tool, wanted in TOOLS.items()}  # fmt: skip
    last_start = time.monotonic() + seconds
    results = {"planted": {}, "clean": {}}
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        binaries = {}
        for kind in results:
            for source in sources_of(kind):
                binary = pathlib.Path(folder) / kind / source.stem
                binary.parent.mkdir(exist_ok=True)
                build = pool.submit(run_limited, [*NVCC, *options_of(source), source, "-o", binary], 300)
                binaries[kind, source.stem] = binary, build
        runs = {}

        def run(tool, binary):
            if time.monotonic() > last_start:
                return {"ended": "not run"}
            if tool == "alone":
                status, output = run_limited([binary], RUN_SECONDS)
                return {"status": status, "output": output[-300:]} if status else {"status": status}
            return run_tool(tool, options[tool], binary)

        for (kind, name), (binary, build) in binaries.items():
            status, output = build.result()
            results[kind][name] = {} if status == 0 else {"build": output.replace(f"{ROOT}/", "")[-500:]}
            for tool in ("alone", *TOOLS) if status == 0 else ():
                runs[kind, name, tool] = pool.submit(run, tool, binary)
        for (kind, name, tool), future in runs.items():
            results[kind][name][tool] = future.result()
    gpu, driver = run_limited(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              60)[1].splitlines()[0].split(", ")  # fmt: skip
    version = run_limited(["compute-sanitizer", "--version"], 60)[1]
    head = {
        "gpu": gpu,
        "driver": driver,
        "nvcc": re.search(r"release ([\d.]+)", run_limited(["nvcc", "--version"], 60)[1])[1],
        "compute_sanitizer": re.search(r"[Vv]ersion ([\d.]+)", version)[1],
        "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "build": " ".join(NVCC),
        "options": {tool: " ".join(used) for tool, used in options.items()},
        "seconds_a_run": RUN_SECONDS,
    }
    return head, results


# The simulator.


def simulate(course, source):
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        command = [course, "simulate", "--check", "--report", report, source]
        output = run_limited(command, 120, cwd=ROOT)[1]
        if not report.exists():
            return {"ended": "no report", "output": output[-300:]}
        findings = json.loads(report.read_text(encoding="utf-8"))["findings"]
    lines = [f"{finding['severity']}: {finding['class']}, line {finding['line']}" for finding in findings]
    return {"findings": list(dict.fromkeys(lines))}


def measure_simulator(course):
    results = {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for kind in ("planted", "clean"):
            sources = sources_of(kind)
            found = pool.map(lambda source: simulate(course, source), sources)
            results[kind] = {source.stem: {"simulator": result} for source, result in zip(sources, found)}
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    return {"simulator": {"date": date, "command": "./course simulate --check"}}, results


# The tables.


def finds(row, tool):
    """True if it reports anything at all."""
    if tool == "simulator":
        return bool(row.get("simulator", {}).get("findings"))
    return row.get(tool, {}).get("errors", 0) > 0


def names_class(row, wanted):
    """True if the simulator reports a bug of that class."""
    return any(f": {wanted}," in finding for finding in row.get("simulator", {}).get("findings", ()))


def print_table(programs):
    columns = [*TOOLS, "any of the four", "simulator"]
    rows = collections.defaultdict(collections.Counter)
    for row in programs["planted"].values():
        into = rows[row["class"]]
        into["planted"] += 1
        for tool in TOOLS:
            into[tool] += finds(row, tool)
        into["any of the four"] += any(finds(row, tool) for tool in TOOLS)
        into["simulator"] += names_class(row, row["class"])
    sum_of_rows = sum(rows.values(), collections.Counter())
    false_alarms = collections.Counter({"planted": 0})
    for row in programs["clean"].values():
        false_alarms.update({tool: finds(row, tool) for tool in (*TOOLS, "simulator")})
        false_alarms["any of the four"] += any(finds(row, tool) for tool in TOOLS)
    print(f"{'class':24} planted  " + "  ".join(columns))
    for name, row in [*sorted(rows.items()), ("all", sum_of_rows),
                      (f"reports on {len(programs['clean'])} clean", false_alarms)]:  # fmt: skip
        count = row["planted"] or ""
        print(f"{name:24} {count:7}  " + "  ".join(f"{row[column]:{len(column)}}" for column in columns))


def print_exceptions(programs):
    """What compute-sanitizer finds and the simulator does not; false alarms. Returns how many of the former."""
    missed = 0
    for name, row in programs["planted"].items():
        tools = [tool for tool in TOOLS if finds(row, tool)]
        if tools and not names_class(row, row["class"]):
            missed += 1
            print(f"missed: {name} ({row['class']}), found by {', '.join(tools)}")
    for name, row in programs["clean"].items():
        for tool in (*TOOLS, "simulator"):
            if finds(row, tool):
                reports = row[tool].get("findings") or row[tool].get("reports") or [f"{row[tool]['errors']} errors"]
                print(f"on a clean program: {name}: {tool}: {reports[0]} ({row.get('remark', 'why?')})")
    for kind in programs.values():
        for name, row in kind.items():
            if "build" in row:
                print(f"nvcc does not build {name}: {row['build']}")
            if stopped := [tool for tool in TOOLS if row.get(tool, {}).get("ended") == "stopped"]:
                print(f"still running after {RUN_SECONDS} s, without a report: {name}: {', '.join(stopped)}")
            for tool in (*TOOLS, "simulator") if "build" not in row else ():
                ended = row.get(tool, {"ended": "not run"}).get("ended", "stopped")
                if ended != "stopped":
                    print(f"{name}: {tool}: {ended}")
    return missed


def written(result):
    """JSON with one line for each program."""
    head = {key: value for key, value in result.items() if key != "programs"}
    kinds = []
    for kind, programs in result["programs"].items():
        rows = ",\n".join(f"      {json.dumps(name)}: {json.dumps(row)}" for name, row in sorted(programs.items()))
        kinds.append(f'    "{kind}": {{\n{rows}\n    }}')
    return json.dumps(head, indent=2)[:-2] + ',\n  "programs": {\n' + ",\n".join(kinds) + "\n  }\n}\n"


def merge(result, head, measured, keys):
    result.update(head)
    for kind, programs in measured.items():
        for name, row in programs.items():
            known = result["programs"][kind].setdefault(name, {})
            for key in keys:
                known.pop(key, None)
            known.update(row)


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=("sanitizer", "simulator"))
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--course", type=pathlib.Path, default=ROOT / "course")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs on the GPU side by side")
    parser.add_argument("--seconds", type=int, default=3600, help="after which no run on the GPU is begun")
    parser.add_argument("--output", type=pathlib.Path, default=RESULTS)
    arguments = parser.parse_args()

    result = {"command": "scripts/compare_sanitizer.py", "programs": {"planted": {}, "clean": {}}}
    if arguments.output.exists():
        result = json.loads(arguments.output.read_text(encoding="utf-8"))
    if not arguments.show:
        has_sanitizer = shutil.which("nvcc") and shutil.which("compute-sanitizer")
        if arguments.only == "sanitizer" or (arguments.only is None and has_sanitizer):
            merge(result, *measure_sanitizer(arguments.jobs, arguments.seconds), ("build", "alone", *TOOLS))
        if arguments.only != "sanitizer":
            merge(result, *measure_simulator(arguments.course.resolve()), ("simulator",))
        for kind, programs in result["programs"].items():
            present = {source.stem: source for source in sources_of(kind)}
            for name in programs.keys() - present.keys():
                del programs[name]
            for name, source in present.items():
                programs[name] = {"class": expected_class(source), **programs.get(name, {})}
                programs[name]["class"] = expected_class(source)
                if name in REMARKS:
                    programs[name]["remark"] = REMARKS[name]
        arguments.output.write_text(written(result), encoding="utf-8")
    print_table(result["programs"])
    return 1 if print_exceptions(result["programs"]) else 0


if __name__ == "__main__":
    sys.exit(main())
