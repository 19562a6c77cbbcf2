"""Made-up results in the form that scripts/compare_torch.py and `./course bench` write, for tests. No measurement."""

import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from torch_comparison import cases  # noqa: E402

MACHINE = {"gpu": "Example GPU", "driver": "1.2", "cuda": "13.0", "torch": "2.11.0+cu130", "date": "2026-01-02"}
CEILINGS = {"copy_gigabytes_per_second": 1000.0, "copy_bytes": 1 << 30, "matmul_teraflops": 20.0,
            "matmul_bfloat16_teraflops": 200.0, "matmul_size": 8192}
NAIVE_FACTOR, NAIVE_REFUSED_FROM = 2.5, 16384


def verdict(error: float) -> dict:
    return {"error": error, "float32_error": error, "allowed": 2 * error, "largest": 4.0, "right": True}


def result_of(case: cases.Case) -> dict:
    """A kernel that reaches half of 20 TFLOP/s; naive PyTorch stores two tensors of all scores, or has no room."""
    own = case.operations() / 10e9
    scores = 4 * case.B * case.H * case.N * case.N
    linear = 4 * case.B * case.H * case.N * (case.D + 1)
    error = 1e-7 * case.N**0.5 * case.spread**2
    names = ("O", "lse") if case.direction == cases.FORWARD else ("dQ", "dK", "dV")
    naive = {"milliseconds": NAIVE_FACTOR * own, "extra_bytes": 2 * scores + linear}
    efficient = {"milliseconds": 0.8 * own, "extra_bytes": linear}
    for way, factor in ((naive, 1.0), (efficient, 0.9)):
        way.update({"error": factor * error} if case.direction == cases.FORWARD
                   else {"errors": {name: factor * error for name in names}})
    if case.N >= NAIVE_REFUSED_FROM:
        naive = {"failed": "out of memory"}
    flash = {"failed": "No available kernel. Expected query, key and value to all be of dtype: {Half, BFloat16}."}
    return {**case.as_json(), "operations": case.operations(), "bytes": case.bytes(),
            "ours": {"milliseconds": own, "repetitions": 20, "launches": 1, "allocations": 0, "extra_bytes": linear,
                     "errors": {name: verdict(1.1 * error) for name in names}},
            "torch": {"naive": naive, "math": dict(naive), "efficient": efficient, "flash": flash}, "gpu_state": None}


def comparison(chosen: list, key: str = "cases") -> dict:
    return {"program": "compare_torch", **MACHINE, "kernels": "solutions", "ceilings": CEILINGS,
            key: [result_of(case) for case in chosen], "left_out": []}


def bench() -> dict:
    """`./course bench --solution --json`: four lessons, below a bandwidth of 1000 GB/s and 20 TFLOP/s."""
    rows = {1: ("vector_add", 1, 12, 0.075), 6: ("matmul", 2 * 4096**3, 12 * 4096**2, 14.0),
            7: ("naive_attention", 4096, 4, 10.0), 9: ("flash2_forward", 4096, 4, 15.0)}  # fmt: skip
    lessons = [{"number": number, "name": name, "status": "timed",
                "measurements": [{"series": name, "label": "", "shape": {}, "operations": operations, "bytes": moved,
                                  "milliseconds": 1.0, "teraflops": rate},
                                 {"series": name, "label": "slower", "shape": {}, "operations": operations,
                                  "bytes": moved, "milliseconds": 2.0, "teraflops": rate / 2}]}
               for number, (name, operations, moved, rate) in rows.items()]  # fmt: skip
    return {"version": 1, **MACHINE, "lessons": lessons,
            "ceilings": {"device_copy_gigabytes_per_second": 1000.0, "float32_matmul_teraflops": 20.0}}


def all_results() -> dict:
    """By the names of the files."""
    return {"compare_torch_forward": comparison(cases.choose_cases([7, 8, 9, 10, 11, 12, 13])),
            "compare_torch_backward": comparison(cases.choose_cases([15, 16, 17, 18])),
            "19_register_tiling_torch": comparison(cases.choose_cases([9, 10, 19], quick=True)),
            "compare_torch_16bit": comparison(cases.choose_cases([22, 24], quick=True)),
            "compare_torch_errors": comparison(cases.error_cases([9, 10, 17]), "errors"), "bench": bench()}


def write(results: dict, folder: pathlib.Path):
    """A file for each, as if a GPU called example had made them."""
    for name, content in results.items():
        (folder / f"{name}_example.json").write_text(json.dumps(content), encoding="utf-8")
