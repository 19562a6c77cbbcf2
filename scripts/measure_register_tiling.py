#!/usr/bin/env python3
"""Measures what each step of lesson 19 is worth on a GPU: its solution, and the solution without one of the steps.

    scripts/measure_register_tiling.py [--json FILE]
    scripts/measure_register_tiling.py --build          # compiles for sm_80 and sm_90a; says registers and spills

Each variant is the solution after an edit; all run with the lesson's benchmark at N = 4096. Needs nvcc, and without
--build a GPU.

Exit status: 0 all is well; 1 a variant does not compile, or the solution spills registers; 2 wrong usage.
"""

import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from options import Parser  # noqa: E402
from solution_page import page_of  # noqa: E402

SOLUTION = ROOT / "solutions/19_register_tiling/register_tiling.cu"
BENCHMARK = ROOT / "tests/lessons/bench/19_register_tiling_bench.cu"
FLAGS = ["-std=c++20", "-O3", "-I", ROOT / "common", "-I", ROOT / "lessons", "-I", ROOT / "tests/lessons",
         "-I", ROOT / "lessons/19_register_tiling"]

# Name, what differs, and edits: words that stand in the solution once, and what stands there instead.
VARIANTS = [
    ("solution", "all steps", []),
    ("natural_exponentials", "expf in place of exp2f", [
        ("exp2f((m[i] - base) * to_log2)", "expf((m[i] - base) * to_log2)"),
        ("exp2f((s - base) * to_log2)", "expf((s - base) * to_log2)"),
        ("fabsf(scale) * 1.44269504f", "fabsf(scale)")]),
    ("places_in_order", "P with bank conflicts", [("return key % 4 * 8 + key / 4 % 4 * 2 + key / 16;", "return key;")]),
    ("lanes_in_order", "lanes side by side hold columns side by side", [
        ("return (lane() / 4 * 2 + lane() % 2) % kThreadsAcross;", "return lane() % kThreadsAcross;"),
        ("lane() / 4 * 2 / kThreadsAcross * 2 + lane() / 2 % 2;", "lane() / kThreadsAcross;"),
        ("bit < 2 * kThreadsAcross; bit *= 2)", "bit < kThreadsAcross; bit *= 2)"),
        ("if (bit != 2) value =", "value =")]),
    ("loaded_when_needed", "keys and values are fetched behind the products", [
        ("      values.fetch(V_head, first_key + part * kPart);", ""),
        ("      values.put_values(smem, part);",
         "      values.fetch(V_head, first_key + part * kPart);\n      values.put_values(smem, part);"),
        ("      keys.fetch(K_head, first_key + Shape::kBlockN + part * kPart);", ""),
        ("      keys.put_keys(smem, part * kPart);\n    }\n  }",
         "      keys.fetch(K_head, first_key + Shape::kBlockN + part * kPart);\n"
         "      keys.put_keys(smem, part * kPart);\n    }\n  }")]),
    ("one_fmaf", "s · to_log2 - m · to_log2 as one fmaf(); lse is off at large scores", [
        ("s = exp2f((s - base) * to_log2);", "s = exp2f(fmaf(s, to_log2, -(base * to_log2)));")]),
    ("ex2_ftz", "the instruction ex2.approx.ftz in place of exp2f", [
        ("s = exp2f((s - base) * to_log2);",
         'asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(s) : "f"((s - base) * to_log2));')]),
]


def source_of(edits) -> str:
    text = page_of(SOLUTION.read_text(encoding="utf-8"))
    for old, new in edits:
        if text.count(old) != 1:
            sys.exit(f"{SOLUTION} has these words {text.count(old)} times; a variant edits them where they stand once: {old}")
        text = text.replace(old, new)
    return text


def start_compiler(edits, folder, name, *more):
    source = folder / f"{name}.cu"
    source.write_text(source_of(edits), encoding="utf-8")
    return subprocess.Popen(["nvcc", *FLAGS, "-Xptxas", "-v", *more, source], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def resources(process) -> list:
    """Registers and spilled bytes of each kernel: up to 64 dimensions, and up to 128."""
    output, _ = process.communicate()
    if process.returncode != 0:
        sys.exit(f"nvcc failed:\n{output}")
    kernels = re.findall(r"Compiling entry function '\w*flash2_forward_fast_kernel\w*FastShapeILi(\d+)\w*'.*?(\d+) bytes spill stores"
                         r".*?Used (\d+) registers", output, re.DOTALL)
    return [{"D": int(D), "registers": int(registers), "spilled_bytes": int(spilled)}
            for D, spilled, registers in sorted(kernels, key=lambda kernel: int(kernel[0]))]


def build() -> int:
    spills = False
    with tempfile.TemporaryDirectory() as name:
        for architecture in ("80", "90a"):
            process = start_compiler([], pathlib.Path(name), "solution", "--cubin", "-o", pathlib.Path(name) / "cubin",
                                     f"-gencode=arch=compute_{architecture},code=sm_{architecture}")
            for kernel in resources(process):
                print(f"sm_{architecture}, D = {kernel['D']}: {kernel['registers']} registers, "
                      f"{kernel['spilled_bytes']} bytes spilled")
                spills = spills or kernel["spilled_bytes"] > 0
    return 1 if spills else 0


def measure(program) -> tuple[dict, list]:
    """The machine, and a measurement for each mask and dim."""
    machine, found = {}, []
    for causal in (False, True):
        series = "flash2_forward_fast" + ("_causal" if causal else "")
        for D in (64, 128):
            output = subprocess.run([program, "--only", f"{series} N=4096 D={D} H=16"], check=True, capture_output=True,
                                    text=True).stdout
            result = json.loads(output)
            machine = {key: result[key] for key in ("gpu", "driver", "cuda")}
            row = result[series][0]
            found.append({"N": 4096, "D": D, "causal": causal, "milliseconds": row["milliseconds"],
                          "teraflops": row["teraflops"]})
    return machine, found


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--json", metavar="FILE", help="where the results go; standard output unless given")
    parser.add_argument("--build", action="store_true", help="compiles the solution, and measures nothing")
    arguments = parser.parse_args()
    if arguments.build:
        return build()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        processes = [start_compiler(edits, folder, variant, "-arch=native", "-o", folder / variant, BENCHMARK)
                     for variant, _, edits in VARIANTS]
        compiled = [resources(process) for process in processes]
        results, machine = [], {}
        for (variant, words, _), kernels in zip(VARIANTS, compiled, strict=True):
            machine, rows = measure(folder / variant)
            results.append({"variant": variant, "differs": words, "kernels": kernels, "measured": rows})
    content = {"lesson": 19, **machine, "date": datetime.date.today().isoformat(), "variants": results}
    text = json.dumps(content, indent=1) + "\n"
    if arguments.json:
        pathlib.Path(arguments.json).write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
