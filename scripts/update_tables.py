#!/usr/bin/env python3
"""Fills tables and numbers of Markdown pages from the results in docs/results, or checks that they are up to date.

A page names a table, and this script writes it between two lines; a number in a sentence it writes in the line (not at
its start, where Markdown takes it for HTML):

    <!-- table: matmul -->
    <!-- /table -->

    ... reaches <!-- value: matmul_4096_percent -->67 %<!-- /value --> of cuBLAS.

TABLES and VALUES below say what there is and how each is made; the value "bounds:..." is a number of what the profiler
says of a kernel (scripts/profiling/quoted.py), and "milestone:..." one of scripts/measure_milestones.py. A table that another program makes stands in ELSEWHERE
and is left as it is. Columns of numbers are aligned at the right, and a no-break space keeps a number and its unit on
one line.

Usage: scripts/update_tables.py [--check] [PAGE.md ...]     (default: all pages in docs and of the lessons)
Exit status: 0 all up to date (or updated), 1 with --check if a page is not, 2 a table or a number cannot be made.
"""

import csv
import decimal
import json
import pathlib
import re
import sys

from options import Parser
from profiling import quoted

ROOT = pathlib.Path(__file__).resolve().parent.parent
RESULTS = ROOT / "docs" / "results"
GPU = "h200"
# Only at the start of a line: an indented block is an example of the notation.
BLOCK = re.compile(r"^(<!-- table: (\S+) -->\n)(.*?)^(<!-- /table -->)", re.DOTALL | re.MULTILINE)
OPENING = re.compile(r"^<!-- table:", re.MULTILINE)
INLINE = re.compile(r"(<!-- value: (\S+) -->)(.*?)(<!-- /value -->)")
INLINE_OPENING = re.compile(r"<!-- value:")
LINE_OPENING = re.compile(r"^[ ]*<!-- value: (\S+) -->", re.MULTILINE)
ELSEWHERE = {"steps", "lessons"}  # docs/steps/export_steps --table; tests/docs/diagnostics_test.py holds the other


class TableError(Exception):
    """A table that cannot be made; the message says why and where."""


class Node:
    """A piece of a JSON file. A member that is not there is a TableError, which names file and member."""

    def __init__(self, data, place):
        self.data, self.place = data, place

    def __getitem__(self, key):
        if not isinstance(self.data, dict) or key not in self.data:
            raise TableError(f"{self.place} has no \"{key}\"")
        value = self.data[key]
        return Node(value, f"{self.place}, {key}") if isinstance(value, (dict, list)) else value

    def rows(self, **wanted):
        """The rows of a list that have these members, in order; at least one."""
        rows = [Node(row, f"{self.place}[{i}]") for i, row in enumerate(self.data)]
        found = [row for row in rows if all(row[key] == value for key, value in wanted.items())]
        if not found:
            raise TableError(f"{self.place} has no row with " + ", ".join(f"{k} = {v}" for k, v in wanted.items()))
        return found

    def row(self, **wanted):
        """The one row that has these members."""
        found = self.rows(**wanted)
        if len(found) > 1:
            raise TableError(f"{self.place} has {len(found)} rows with " +
                             ", ".join(f"{k} = {v}" for k, v in wanted.items()) + " instead of 1")
        return found[0]

    def has_row(self, **wanted):
        return any(all(row.get(key) == value for key, value in wanted.items()) for row in self.data)


def result(name, machine=GPU):
    """What was measured on a machine and stands in docs/results under this name."""
    return json_of(f"{name}_{machine}")


def json_of(name):
    """What docs/results has under this name."""
    file = RESULTS / f"{name}.json"
    place = f"docs/results/{file.name}"
    if not file.is_file():
        raise TableError(f"there is no file {place}")
    try:
        return Node(json.loads(file.read_text(encoding="utf-8")), place)
    except json.JSONDecodeError as error:
        raise TableError(f"{place} is not JSON: {error}") from error


# Numbers, as pages write them.

NO_BREAK = "\N{NO-BREAK SPACE}"  # between a number and its unit
NUMBER = re.compile(rf"[\d,]+(\.\d+)?({NO_BREAK}\S+)?")


def rounded(value, step):
    """The nearest multiple of a power of ten, halves away from zero; with a comma for thousands."""
    exact = decimal.Decimal(str(value))  # as the file has it: 0.5045 is no binary fraction
    return f"{exact.quantize(decimal.Decimal(step), rounding=decimal.ROUND_HALF_UP):,}"


def digits(value, count=3):
    """So many significant digits at least, and no exponent: 0.505, 7.55, 29.9, 117, 1,203."""
    exact = decimal.Decimal(str(value))
    return rounded(value, decimal.Decimal(1).scaleb(min(0, exact.adjusted() - count + 1)))


def ms(value):
    return f"{digits(value)}{NO_BREAK}ms"


def seconds(value):
    return f"{digits(value, 2)}{NO_BREAK}s"


def size(count):
    """Bytes, in MB below 1 GB."""
    return f"{digits(count / 1e9)}{NO_BREAK}GB" if count >= 1e9 else f"{digits(count / 1e6)}{NO_BREAK}MB"


def percent(fraction):
    return f"{rounded(round(100 * fraction, 6), 1)}{NO_BREAK}%"


def whole(value):
    return f"{value:,}"


def rate(value):
    return rounded(value, 1)


def teraflops(value):
    return rounded(value, "0.1")


def times(value):
    return rounded(value, "0.01")


def lesson_link(number):
    """A link from a page in docs to the notes of a lesson."""
    folders = sorted((ROOT / "lessons").glob(f"{number:02}_*/lesson.json"))
    if len(folders) != 1:
        raise TableError(f"there are {len(folders)} lessons {number:02} instead of 1")
    return f"[{number:02}](../lessons/{folders[0].parent.name}/README.md)"


def file_link(name):
    return f"[{name}](results/{name}_{GPU}.json)"


# Tables: each gives its head and its rows.


def table_runs():
    """Where and when the results were measured."""
    names = [
        "01_vector_add", "02_matrix_strides", "02_unpadded_tile", "02_naive_transpose", "03_weighted_row_sum",
        "04_safe_softmax", "05_online_softmax", "06_block_matmul", "07_naive_attention", "07_naive_attention_torch",
        "08_flash1_forward", "09_flash2_forward", "09_naive_torch", "10_causal", "11_grouped_query",
        "12_sliding_window", "13_attention_sinks", "15_flash2_backward", "17_full_backward", "17_full_backward_torch",
    ]
    rows = []
    for name in names:
        run = result(name)
        with_torch = "torch" in run.data
        rows.append([file_link(name), run["gpu"], "" if with_torch else run["driver"], run["cuda"],
                     run["torch"] if with_torch else "", run["date"]])
    return ["result", "GPU", "driver", "CUDA", "PyTorch", "date"], rows


def speed(row, copy):
    """GB/s, and the share of the copy's, which the files have rounded."""
    return rate(row["gigabytes_per_second"]), percent(row["gigabytes_per_second"] / copy)


def table_moves():
    """Lessons 01 and 02 against a copy."""
    add, moves = result("01_vector_add"), result("02_matrix_strides")
    rows = [[lesson_link(1), "`vector_add`", ms(add["vector_add"]["milliseconds"]),
             *speed(add["vector_add"], add["device_copy"]["gigabytes_per_second"])]]
    kinds = [(moves, "copy_rows_to_rows", "`copy_strided`, rows to rows"),
             (moves, "copy_columns_to_rows", "`copy_strided`, columns to rows"),
             (moves, "transpose", "`transpose`"),
             (result("02_unpadded_tile"), "transpose", "the same, tile without padding"),
             (result("02_naive_transpose"), "transpose", "transpose without a tile")]
    for run, key, label in kinds:
        rows.append([lesson_link(2), label, ms(run[key]["milliseconds"]),
                     *speed(run[key], run["device_copy"]["gigabytes_per_second"])])
    return ["lesson", "kernel", "time", "GB/s", "of the copy"], rows


def table_rows_of_matrices():
    """Lessons 03 to 05, by the length of a row."""
    sums, safe, online = result("03_weighted_row_sum"), result("04_safe_softmax"), result("05_online_softmax")
    kernels = [(3, sums["weighted_row_sum"], sums["device_copy"]["gigabytes_per_second"]),
               (4, safe["safe_softmax"], safe["device_copy_gigabytes_per_second"]),
               (5, online["online_softmax"], online["device_copy_gigabytes_per_second"])]
    head = ["columns", "rows"]
    for number, _, _ in kernels:
        head += [f"lesson {number:02}: time", "GB/s", "of the copy"]
    rows = []
    for cols in (32, 256, 1024, 4096, 16384, 262144, 1048576):
        cells = []
        for _, measured, copy in kernels:
            if not measured.has_row(cols=cols):
                cells += ["", "", ""]
                continue
            row = measured.row(cols=cols)
            count = row["rows"]
            cells += [ms(row["milliseconds"]), *speed(row, copy)]
        rows.append([whole(cols), whole(count), *cells])
    return head, rows


def table_matmul():
    """Lesson 06 against cuBLAS."""
    rows = []
    for row in result("06_block_matmul")["matmul"].rows():
        sizes = row["M"], row["N"], row["K"]
        label = whole(sizes[0]) if len(set(sizes)) == 1 else " × ".join(whole(value) for value in sizes)
        cells = [label + (", A and B transposed" if row["transposed"] else ""), teraflops(row["cublas_teraflops"])]
        for key in ("matmul_tiled", "matmul", "tile_matmul"):
            cells += [teraflops(row[key]["teraflops"]), percent(row[key]["teraflops"] / row["cublas_teraflops"])]
        rows.append(cells)
    return ["M, N, K", "cuBLAS", "`matmul_tiled`", "of cuBLAS", "`matmul`", "of cuBLAS", "`tile_matmul.hpp`",
            "of cuBLAS"], rows


def table_matmul_steps():
    """What each step of lesson 06 is worth, in the counters of the simulator."""
    recorded = json.loads((RESULTS / "06_steps.json").read_text(encoding="utf-8"))
    products, before, rows = recorded["M"] * recorded["N"] * recorded["K"], None, []
    for row in recorded["rows"]:
        gain = f"{before / row['wavefronts']:.3g}" if before else ""
        rows.append([row["step"], f"{row['shared_bytes'] / products:g}", f"{32 * row['shared_reads'] / products:g}",
                     f"{32 * row['wavefronts'] / products:g}", gain, str(row["barriers"])])
        before = row["wavefronts"]
    return ["step", "bytes for each multiply-add", "reads of a warp for each of its multiply-adds", "wavefronts", "times fewer",
            f"barriers, K = {recorded['K']}"], rows


SIZES = [(D, N) for D in (64, 128) for N in (1024, 2048, 4096, 8192, 16384)]


def table_forward():
    """Attention forward without a mask: lessons 07 to 09, and PyTorch beside 09."""
    naive, first = result("07_naive_attention")["naive_attention"], result("08_flash1_forward")["flash1_forward"]
    second = result("09_flash2_forward")["flash2_forward"]
    torch = result("09_naive_torch")["torch_naive_attention"]
    rows = []
    for D, N in SIZES:
        cells = [whole(D), whole(N)]
        for measured, queries in ((naive, {"N": N}), (first, {"Nq": N}), (second, {"Nq": N})):
            if measured.has_row(D=D, **queries):
                row = measured.row(D=D, **queries)
                cells += [ms(row["milliseconds"]), teraflops(row["teraflops"])]
            else:
                cells += ["", ""]
        if torch.has_row(D=D, N=N):
            theirs = torch.row(D=D, N=N)["milliseconds"]
            cells += [ms(theirs), times(theirs / second.row(D=D, Nq=N)["milliseconds"])]
        else:
            cells += ["", ""]
        rows.append(cells)
    return ["D", "N", "lesson 07: time", "TFLOP/s", "lesson 08: time", "TFLOP/s", "lesson 09: time", "TFLOP/s",
            "PyTorch", "PyTorch / 09"], rows


def naive_bytes(row):
    """What lesson 07 writes: S, P and O. Q, K, V and O have the same size."""
    return row["S_and_P_bytes"] + row["QKVO_bytes"] // 4


def table_forward_memory():
    """What the forward passes need beside Q, K and V."""
    naive, first = result("07_naive_attention")["naive_attention"], result("08_flash1_forward")["flash1_forward"]
    second = result("09_flash2_forward")["flash2_forward"]
    torch = result("09_naive_torch")["torch_naive_attention"]
    rows = []
    for D, N in SIZES:
        rows.append([
            whole(D), whole(N),
            size(torch.row(D=D, N=N)["extra_bytes"]) if torch.has_row(D=D, N=N) else "",
            size(naive_bytes(naive.row(D=D, N=N))) if naive.has_row(D=D, N=N) else "",
            size(first.row(D=D, Nq=N)["result_bytes"]) if first.has_row(D=D, Nq=N) else "",
            size(second.row(D=D, Nq=N)["result_bytes"]),
        ])
    return ["D", "N", "PyTorch", "lesson 07", "lesson 08", "lesson 09"], rows


def table_causal():
    """Lesson 10 beside lesson 09."""
    everything, causal = result("09_flash2_forward")["flash2_forward"], result("10_causal")["causal_attention"]
    rows = []
    for D, N in SIZES:
        all_keys, seen = everything.row(D=D, Nq=N), causal.row(D=D, Nq=N)
        rows.append([whole(D), whole(N), ms(seen["milliseconds"]), teraflops(seen["teraflops"]),
                     ms(all_keys["milliseconds"]), times(all_keys["milliseconds"] / seen["milliseconds"])])
    return ["D", "N", "lesson 10: time", "TFLOP/s", "lesson 09, all keys", "that is times"], rows


def table_grouped():
    """Lesson 11: many queries, and one."""
    run = result("11_grouped_query")
    rows = []
    for heads in (32, 8, 4, 1):
        cells = [whole(heads)]
        for kind in ("many_queries", "one_query"):
            for D in (64, 128):
                cells.append(ms(run[kind].row(H_kv=heads, D=D)["milliseconds"]))
        rows.append(cells)
    return ["heads of K and V", "4096 queries, D = 64", "D = 128", "1 query, D = 64", "D = 128"], rows


def table_window():
    """Lesson 12."""
    measured = result("12_sliding_window")["sliding_window_attention"]
    rows = []
    for N in (8192, 16384):
        for window in (256, 1024, 4096, 16384):
            if not measured.has_row(Nq=N, window=window):
                continue
            cells = [whole(N), whole(window)]
            for D in (64, 128):
                row = measured.row(Nq=N, window=window, D=D)
                cells += [ms(row["milliseconds"]), teraflops(row["teraflops"])]
            rows.append(cells)
    return ["N", "window", "D = 64", "TFLOP/s", "D = 128", "TFLOP/s"], rows


def table_sinks():
    """Lesson 13."""
    measured = result("13_attention_sinks")["attention_with_sinks"]
    rows = []
    for D in (64, 128):
        for learned in (False, True):
            rows.append([whole(D), "yes" if learned else "no"] + [
                ms(measured.row(D=D, learned=learned, sinks=sinks)["milliseconds"]) for sinks in (0, 4, 64)])
    return ["D", "learned sinks", "no sink tokens", "4", "64"], rows


def table_backward():
    """Lesson 15, and what PyTorch's backward pass takes where it was measured."""
    measured = result("15_flash2_backward")["flash2_backward"]
    torch = result("17_full_backward_torch")["torch_naive_attention_with_autograd"]
    rows = []
    for D in (64, 128):
        for N in (1024, 2048, 4096, 8192):
            cells = [whole(D), whole(N)]
            for causal in (False, True):
                row = measured.row(D=D, Nq=N, causal=causal)
                cells += [ms(row["milliseconds"]), teraflops(row["teraflops"]),
                          ms(torch.row(D=D, N=N, causal=causal)["backward_milliseconds"])
                          if torch.has_row(D=D, N=N, causal=causal) else ""]
            rows.append([*cells, size(row["result_bytes"])])
    return ["D", "N", "all keys", "TFLOP/s", "PyTorch", "causal", "TFLOP/s", "PyTorch", "memory"], rows


PLAIN = {"window": None, "sinks": 0, "learned": False, "H_kv": 16, "Nq": 4096}


def full_passes(D, causal):
    """Lesson 17's forward and backward pass, and PyTorch's, of one setting without a window."""
    run = result("17_full_backward")
    torch = result("17_full_backward_torch")["torch_naive_attention_with_autograd"]
    return (run["attention_forward"].row(D=D, causal=causal, **PLAIN),
            run["attention_backward"].row(D=D, causal=causal, **PLAIN), torch.row(D=D, causal=causal, N=4096))


def table_full():
    """Lesson 17 against PyTorch."""
    rows = []
    for D in (64, 128):
        for causal in (True, False):
            forward, backward, torch = full_passes(D, causal)
            rows.append([
                whole(D), "yes" if causal else "no", ms(forward["milliseconds"]), ms(backward["milliseconds"]),
                ms(forward["milliseconds"] + backward["milliseconds"]), ms(torch["forward_milliseconds"]),
                ms(torch["backward_milliseconds"]), ms(torch["milliseconds"]),
                size(forward["result_bytes"] + backward["result_bytes"]), size(torch["extra_bytes"])])
    return ["D", "causal", "forward", "backward", "together", "PyTorch: forward", "backward", "together", "memory",
            "PyTorch"], rows


def table_full_masks():
    """Lesson 17 with windows and sinks."""
    run = result("17_full_backward")
    rows = []
    for window, sinks, learned, label in ((None, 0, False, "no"), (256, 0, False, "no"), (256, 4, False, "4 tokens"),
                                          (256, 4, True, "4 tokens, and learned ones")):
        cells = [f"{window}" if window else "none", label]
        for entry in ("attention_forward", "attention_backward"):
            row = run[entry].row(Nq=16384, D=64, causal=True, window=window, sinks=sinks, learned=learned)
            cells += [ms(row["milliseconds"]), teraflops(row["teraflops"])]
        rows.append(cells)
    return ["window", "sinks", "forward", "TFLOP/s", "backward", "TFLOP/s"], rows


def class_row(run):
    """One class that was graded in one go."""
    lessons = run["lessons"].replace("-", " to ").replace(",", " and ")
    return [whole(run["students"]), lessons, whole(run["jobs"]), whole(run["files"]), whole(run["different_files"]),
            seconds(run["seconds"]), seconds(run["seconds_per_different_file"]), seconds(run["seconds_per_file"])]


def table_class():
    """How long the grader takes: by students, by jobs, and for all lessons."""
    graded = result("class", "cpu")
    growth, jobs = graded["growth"].rows(), graded["jobs"].rows()
    also = [run for run in jobs if run.data not in [other.data for other in growth]]
    return ["students", "lessons", "jobs", "files", "different ones", "time", "a different file", "a file"], [
        class_row(run) for run in [*also, *growth, graded["class"]]]


def table_autotuning_bounds(tensor_cores):
    """What one block of each of lesson 23's kernels takes at least, as the simulator counts it."""
    with open(ROOT / "docs" / "figures" / "23_autotuning_counts.csv", newline="", encoding="utf-8") as file:
        counted = [{key: int(value) for key, value in row.items()} for row in csv.DictReader(file)]
    def cells(row):
        sums = row["rows"] * row["cols"] // (32 * row["warps"])
        cycles = [row["instructions"] / 4, row["wavefronts"]]
        if tensor_cores:
            cycles.append(row["matrix_multiply_adds"] // 2048)
        return [f"{row['rows']} × {row['cols']}", str(row["depth"]), str(row["warps"]), str(row["stages"]), str(sums),
                *map(whole, cycles), f"{max(cycles) / (row['rows'] * row['cols']):.3f}"]
    return ["tile", "depth", "warps", "stages", "elements a thread", "cycles to issue", "cycles of shared memory",
            *(["cycles of tensor cores", "the largest, for each element of C"] if tensor_cores
              else ["the larger, for each element of C"])], \
        [cells(row) for row in counted if (row["matrix_multiply_adds"] > 0) == tensor_cores]


def table_kernels():
    """What nvcc makes of the kernels from lesson 06 on, for the newer architecture."""
    run = json_of("kernel_resources")
    rows = []
    for kernel in run["kernels"].rows(architecture="sm_90a"):
        if kernel["lesson"] < 6 or not kernel["loop"].data:
            continue
        loop = kernel["loop"]
        rows.append([lesson_link(kernel["lesson"]), f"`{kernel['name'].replace(' >', '>')}`", whole(kernel["registers"]),
                     whole(kernel["spilled_bytes"]),
                     *(whole(loop[name]) for name in ("HMMA", "FFMA", "MUFU", "LDSM", "LDS", "LDGSTS", "BAR"))])
    return ["lesson", "kernel", "registers", "spilled bytes", "HMMA", "FFMA", "MUFU", "LDSM", "LDS", "LDGSTS", "BAR"], rows


def cases_of_16_bits(lesson, run="compare_torch_16bit"):
    """What stands beside PyTorch of a lesson of 16 bits: bfloat16, in the order of D, N and the mask."""
    found = result(run, "h100")["cases"].rows(lesson=lesson, dtype="bfloat16", layout="bhnd")
    return sorted((case for case in found if case["H"] == case["H_kv"]), key=lambda case: (case["D"], case["N"], case["causal"]))


TWIN = "Triton twin"


def table_rates_of_16_bits(lesson, **run):
    """TFLOP/s of a lesson and, in one process, of PyTorch's FlashAttention-2 and of cuDNN; of FlashAttention-2 where it has to
    give the same bits every time, and of the lesson's twin in Triton, where those were timed."""
    cases = cases_of_16_bits(lesson, **run)
    own, flash, same_bits = "float32 adds" if run else "this lesson", "FlashAttention-2", "deterministic"
    ways = {own: lambda case: case.data["ours"]}
    for name, way in ((flash, "flash"), (same_bits, "flash, deterministic"), ("cuDNN", "cudnn")):
        ways[name] = lambda case, way=way: case.data["torch"].get(way, {})
    ways[TWIN] = lambda case: case.data.get("triton", {})
    for name in (same_bits, TWIN):
        if not any("milliseconds" in ways[name](case) for case in cases):
            del ways[name]
    beside = [name for name in (flash, same_bits) if name in ways]
    rows = []
    for case in cases:
        rates = {name: case["operations"] / way(case)["milliseconds"] * 1e-9 for name, way in ways.items() if "milliseconds" in way(case)}
        rows.append([whole(case["D"]), whole(case["N"]), "causal" if case["causal"] else "none",
                     *(rounded(rates[name], 1) if name in rates else "" for name in ways),
                     *(percent(rates[own] / rates[name]) if own in rates and name in rates else "" for name in beside)])
    return ["D", "N", "mask", *ways, *(f"of {name}" for name in beside)], rows


def twin_row(lesson, what, case):
    """Milliseconds of a lesson's kernel and its twin, and how many times as fast the lesson's is; None if one has none."""
    ours, twin = case.data["ours"], case.data.get("triton", {})
    if "milliseconds" not in ours or "milliseconds" not in twin:
        return None
    return [lesson_link(lesson), what, ms(ours["milliseconds"]), ms(twin["milliseconds"]),
            f"{twin['milliseconds'] / ours['milliseconds']:.2f}"]


def table_twins():
    """Kernels beside their twins in Triton, each pair in one process: lessons 01, 05, 06 and 30, and attention at N = 4096."""
    found = []
    for case in result("compare_triton", "h100")["cases"].rows():
        found.append(twin_row(case["lesson"], f"{case['label'].partition(', ')[2].removesuffix(', bfloat16')}, {case['dtype']}", case))
    for run in ("compare_torch_forward", "compare_torch_backward", "compare_torch_16bit"):
        for case in result(run, "h100")["cases"].rows(N=4096, layout="bhnd"):
            if case["dtype"] == "float16":
                continue
            window = f", window {whole(case['window'])}" if case["window"] else ""
            mask = "causal" if case["causal"] else "no mask"
            groups = f", heads {case['H']}:{case['H_kv']}" if case["H"] != case["H_kv"] else ""
            found.append(twin_row(case["lesson"], f"{case['direction']}, D = {case['D']}, {mask}{window}{groups}, {case['dtype']}", case))
    rows = sorted((row for row in found if row), key=lambda row: row[0])
    return ["lesson", "problem", "CUDA", "Triton", "times as fast"], rows


def table_errors_of_16_bits(lesson, *names):
    """The largest errors against float64, of a lesson and of FlashAttention-2, by length, at D = 64 without a mask."""
    rows = []
    for case in cases_of_16_bits(lesson):
        if case["D"] != 64 or case["causal"]:
            continue
        flash = case["torch"]["flash"]
        theirs = flash["errors"] if "errors" in flash.data else {"O": flash["error"]}
        rows.append([whole(case["N"]), *(f"{value:.1e}" for name in names
                                         for value in (case["ours"]["errors"][name]["error"], theirs[name]))])
    return ["N", *(f"{name}, {whose}" for name in names for whose in ("this lesson", "FlashAttention-2"))], rows


def table_decoding(plain):
    """How fast lesson 30 reads the cache, beside a copy: of the usual shape by length and group, or of the others."""
    measured = result("30_split_kv_decoding", "h100")
    copy = measured["ceilings"]["device_copy_gigabytes_per_second"]
    rows = []
    for case in measured["lessons"].rows(number=30)[0]["measurements"].rows():
        shape, series = case["shape"], case["series"].removeprefix("decode_")
        usual = series == "bfloat16" and shape["D"] == 128 and shape["Nq"] == 1 and shape["B"] > 1
        if usual != plain or not (plain or shape["B"] == 1 or shape["N"] == 32768):
            continue
        group, rate_of_it = shape["H"] // shape["H_kv"], rate(case["gigabytes_per_second"])
        share = percent(case["gigabytes_per_second"] / copy)
        if plain:
            rows.append([whole(shape["N"]), whole(shape["B"]), whole(group), ms(case["milliseconds"]), rate_of_it, share])
        else:
            rows.append([series, whole(shape["N"]), whole(shape["B"]), whole(group), whole(shape["Nq"]), whole(shape["D"]),
                         ms(case["milliseconds"]), rate_of_it, share])
    if plain:
        return ["tokens", "sequences", "heads of a group", "time", "GB/s", "of the copy"], rows
    return ["type", "tokens", "sequences", "heads of a group", "new tokens", "D", "time", "GB/s", "of the copy"], rows


def rounding_rows(key, settings):
    """Lesson 22's errors in the simulator, both types: of O, of O if P alone is rounded, and of lse."""
    rows = []
    for case in json_of("22_rounding")[key].rows():
        formats = [case[format] for format in ("bfloat16", "float16")]
        rows.append([*settings(case), *(f"{100 * errors[name]:.2g} %" for name in ("O", "O_of_rounded_P") for errors in formats),
                     f"{max(errors['lse'] for errors in formats):.0e}"])
    return rows


ROUNDING_HEAD = ["O, bfloat16", "O, float16", "P alone, bfloat16", "P alone, float16", "lse"]


def table_rounding_by_length():
    return ["keys", *ROUNDING_HEAD], rounding_rows("lengths", lambda case: [whole(case["keys"])])


def table_rounding_by_magnitude():
    return (["Q and K times", "largest q·k", *ROUNDING_HEAD],
            rounding_rows("magnitudes", lambda case: [whole(case["factor"]), rounded(case["bfloat16"]["largest_product"], 1)]))


def table_rounding_by_gap():
    return ["key 0 is above by", *ROUNDING_HEAD], rounding_rows("gaps", lambda case: [whole(case["gap"])])


TABLES = {
    "rates-22": lambda: table_rates_of_16_bits(22),
    "rates-24": lambda: table_rates_of_16_bits(24),
    "rates-24-adds": lambda: table_rates_of_16_bits(24, run="24_dq_by_adds_torch"),
    "twins": table_twins,
    "decoding": lambda: table_decoding(True),
    "decoding-others": lambda: table_decoding(False),
    "errors-22": lambda: table_errors_of_16_bits(22, "O"),
    "errors-24": lambda: table_errors_of_16_bits(24, "dQ", "dK", "dV"),
    "autotuning-bounds": lambda: table_autotuning_bounds(False),
    "autotuning-tensor-cores": lambda: table_autotuning_bounds(True),
    "rounding-by-length": table_rounding_by_length,
    "rounding-by-magnitude": table_rounding_by_magnitude,
    "rounding-by-gap": table_rounding_by_gap,
    "class": table_class,
    "kernels": table_kernels,
    "runs": table_runs,
    "moves": table_moves,
    "rows": table_rows_of_matrices,
    "matmul": table_matmul,
    "matmul_steps": table_matmul_steps,
    "forward": table_forward,
    "forward_memory": table_forward_memory,
    "causal": table_causal,
    "grouped": table_grouped,
    "window": table_window,
    "sinks": table_sinks,
    "backward": table_backward,
    "full": table_full,
    "full_masks": table_full_masks,
}


# Numbers in sentences.


def matmul_share(entry):
    row = result("06_block_matmul")["matmul"].row(M=4096, transposed=False)
    return percent(row[entry]["teraflops"] / row["cublas_teraflops"])


def forward_ms(D, N):
    return result("09_flash2_forward")["flash2_forward"].row(D=D, Nq=N)["milliseconds"]


def window_ms(window, N=16384, D=64):
    return result("12_sliding_window")["sliding_window_attention"].row(window=window, Nq=N, D=D)["milliseconds"]


def sinks_ms(sinks, D=64):
    return result("13_attention_sinks")["attention_with_sinks"].row(sinks=sinks, learned=False, D=D)["milliseconds"]


def full_bytes(D, causal):
    forward, backward, _ = full_passes(D, causal)
    return forward["result_bytes"] + backward["result_bytes"]


VALUES = {
    "class_cpu": lambda: result("class", "cpu")["machine"]["cpu"],
    "class_date": lambda: result("class", "cpu")["date"],
    "class_verdicts": lambda: whole(result("class", "cpu")["verdicts"]),
    "class_wrong_verdicts": lambda: whole(result("class", "cpu")["wrong_verdicts"]),
    "gpu": lambda: result("09_flash2_forward")["gpu"],
    "cuda": lambda: result("09_flash2_forward")["cuda"],
    "driver": lambda: result("09_flash2_forward")["driver"],
    "copy_gigabytes_per_second": lambda: rate(
        result("01_vector_add")["device_copy"]["gigabytes_per_second"]),
    "matmul_4096_percent": lambda: matmul_share("matmul"),
    "tile_matmul_4096_percent": lambda: matmul_share("tile_matmul"),
    "flash2_8192_bytes": lambda: size(
        result("09_flash2_forward")["flash2_forward"].row(D=64, Nq=8192)["result_bytes"]),
    "naive_8192_bytes": lambda: size(
        naive_bytes(result("07_naive_attention")["naive_attention"].row(D=64, N=8192))),
    "torch_over_flash2_8192": lambda: digits(
        result("09_naive_torch")["torch_naive_attention"].row(D=64, N=8192)["milliseconds"] / forward_ms(64, 8192), 2),
    "causal_times_16384": lambda: times(
        forward_ms(64, 16384) / result("10_causal")["causal_attention"].row(D=64, Nq=16384)["milliseconds"]),
    "window_256_times": lambda: digits(window_ms(16384) / window_ms(256), 2),
    "sinks_4_percent": lambda: percent(sinks_ms(4) / sinks_ms(0) - 1),
    "full_bytes": lambda: size(full_bytes(64, True)),
    "full_torch_bytes": lambda: size(full_passes(64, True)[2]["extra_bytes"]),
    "full_bytes_times": lambda: digits(full_passes(64, True)[2]["extra_bytes"] / full_bytes(64, True), 2),
}


def alignment(cells):
    """What stands below the head of a column: numbers are aligned at the right."""
    filled = [cell for cell in cells if cell]
    return "---:" if filled and all(NUMBER.fullmatch(cell) for cell in filled) else "---"


def markdown(head, rows):
    """A pipe table; all rows as long as the head."""
    for row in rows:
        if len(row) != len(head):
            raise TableError(f"a row has {len(row)} cells below {len(head)} columns: {row}")
    lines = [head, [alignment(column) for _, *column in zip(head, *rows)], *rows]
    return "".join("".join(f"| {cell} " if cell else "| " for cell in line) + "|\n" for line in lines)


def make_table(name):
    if name not in TABLES:
        raise TableError(f"there is no table \"{name}\"; there are {', '.join(TABLES)}")
    return markdown(*TABLES[name]())


def bounds_value(name):
    """A number of docs/results/bounds_<gpu>.json; `name` as quoted.quoted() takes it."""
    try:
        member, value = quoted.quoted(result("bounds")["entries"].data, name)
    except quoted.QuoteError as error:
        raise TableError(str(error)) from error
    if member.endswith("_percent"):
        return percent(value / 100)
    if member == "nanoseconds":
        return ms(value / 1e6)
    if member in ("waiting_warps", "active_warps", "eligible_warps", "cycles_between_instructions"):
        return digits(value, 2)
    return whole(value)


def milestone(name):
    """The points after a TODO, by docs/results/milestones.json; `name` is LESSON:TODO, as in 05:7."""
    file = RESULTS / "milestones.json"
    number, _, todo = name.partition(":")
    lesson = Node(json.loads(file.read_text(encoding="utf-8")), f"docs/results/{file.name}")[number]
    return whole(lesson["after"].row(todo=int(todo))["points"])


def make_value(name):
    if name.startswith("bounds:"):
        return bounds_value(name.partition(":")[2])
    if name.startswith("milestone:"):
        return milestone(name.partition(":")[2])
    if name not in VALUES:
        raise TableError(f"there is no value \"{name}\"; there are {', '.join(VALUES)}")
    return VALUES[name]()


def fill(page: str) -> str:
    """The page with every table and every number replaced by what the results have now."""

    def table(match: re.Match) -> str:
        name = match.group(2)
        return match.group(1) + (match.group(3) if name in ELSEWHERE else make_table(name)) + match.group(4)

    opened, found = len(OPENING.findall(page)), len(BLOCK.findall(page))
    if opened != found:
        raise TableError(f"{opened - found} table comment(s) are not closed by <!-- /table -->")
    opened, found = len(INLINE_OPENING.findall(page)), len(INLINE.findall(page))
    if opened != found:
        raise TableError(f"{opened - found} value comment(s) are not closed by <!-- /value --> in the same line")

    if at_start := LINE_OPENING.search(page):
        raise TableError(f"a line begins with the value \"{at_start.group(1)}\"; Markdown takes such a line for HTML")

    def value(match: re.Match) -> str:
        return match.group(1) + make_value(match.group(2)) + match.group(4)

    return INLINE.sub(value, BLOCK.sub(table, page))


def all_pages() -> list[pathlib.Path]:
    """The Markdown files that may have tables."""
    return sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "lessons").glob("*/*.md")])


def main() -> int:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing, fail if a page is out of date")
    parser.add_argument("pages", nargs="*", type=pathlib.Path, metavar="PAGE.md")
    arguments = parser.parse_args()

    outdated = False
    for page in arguments.pages or all_pages():
        before = page.read_text(encoding="utf-8")
        try:
            after = fill(before)
        except TableError as error:
            print(f"{page}: {error}", file=sys.stderr)
            return 2
        if before == after:
            continue
        if arguments.check:
            print(f"{page}: a table or a number is out of date; run scripts/update_tables.py", file=sys.stderr)
            outdated = True
        else:
            page.write_text(after, encoding="utf-8")
            print(f"updated {page}")
    return 1 if outdated else 0


if __name__ == "__main__":
    sys.exit(main())
