"""Lessons 01, 05, 06 and 30 beside their twins in Triton: tensors, calls, and what is right."""

import ctypes
import time

import torch

from . import judge, measure, twins
from .library import LibraryError, addresses_of, make_view
from .small_cases import PAGE

LONG, FLOAT = ctypes.c_int64, ctypes.c_float
TWIN_SLACK = 8  # Triton's exponential is the hardware's fast one, and its sums are in an order of its own


def pointer(tensor):
    return ctypes.c_void_p(tensor.data_ptr())


def view(tensor):
    return make_view(tensor.data_ptr(), tensor.shape, tensor.stride())


def binding(loaded, name: str, signature: str, values: list):
    """A function that calls an entry. @throws LibraryError if the library has it not, or otherwise"""
    invoke, addresses = loaded.entry(name, signature), addresses_of(values)
    return lambda keep=values: invoke(addresses)


def fresh(*shape, dtype=torch.float32, device="cuda"):
    return torch.full(shape, float("nan"), dtype=dtype, device=device)


class Problem:
    """What is computed: inputs, and by name what is right, in float64, and how far the plain way is off."""

    def __init__(self, exact: dict, plain: dict):
        self.exact = exact
        self.allowed = {name: 2 * (judge.largest_error(plain[name], value) or 0) + judge.ALLOWANCE * value.abs().max().item()
                        for name, value in exact.items()}

    def verdicts(self, results: dict, slack: int = 1) -> dict:
        found = {}
        for name, value in self.exact.items():
            error, allowed = judge.largest_error(results[name], value), slack * self.allowed[name]
            found[name] = {"error": error, "allowed": allowed, "right": error is not None and error <= allowed}
        return found


def vector_add(case, device, generator):
    import vector_add as twin
    (n,) = case.sizes
    a, b = (torch.randn(n, generator=generator, device=device) for _ in range(2))
    problem = Problem({"c": a.double() + b.double()}, {"c": a + b})

    def ours(loaded, out):
        return binding(loaded, "vector_add", "void (float const*, float const*, float*, long)",
                       [pointer(a), pointer(b), pointer(out["c"]), LONG(n)])

    return (problem, lambda: {"c": fresh(n, device=device)}, ours, lambda out: lambda: twin.vector_add(a, b, out["c"]),
            {"add": lambda out: lambda: torch.add(a, b, out=out["c"])})


def online_softmax(case, device, generator):
    import online_softmax as twin
    rows, cols = case.sizes
    x = torch.randn(rows, cols, generator=generator, device=device)
    problem = Problem({"y": x.double().softmax(1)}, {"y": x.softmax(1)})

    def ours(loaded, out):
        return binding(loaded, "online_softmax", "void (float const*, long, float*, long, long, long)",
                       [pointer(x), LONG(cols), pointer(out["y"]), LONG(cols), LONG(rows), LONG(cols)])

    return (problem, lambda: {"y": fresh(rows, cols, device=device)}, ours, lambda out: lambda: twin.online_softmax(x, out["y"]),
            {"softmax": lambda out: lambda: torch.softmax(x, 1, out=out["y"])})


def block_matmul(case, device, generator):
    import block_matmul as twin
    M, N, K = case.sizes
    A, B = (torch.randn(*shape, generator=generator, device=device) for shape in ((M, K), (K, N)))
    problem = Problem({"C": A.double() @ B.double()}, {"C": A @ B})

    def ours(loaded, out):
        return binding(loaded, "matmul", "void (course::View<float const, 2>, course::View<float const, 2>, "
                       "course::View<float, 2>)", [view(A), view(B), view(out["C"])])

    return (problem, lambda: {"C": fresh(M, N, device=device)}, ours, lambda out: lambda: twin.matmul(A, B, out["C"]),
            {"matmul": lambda out: lambda: torch.matmul(A, B, out=out["C"])})


def splits_of(loaded, blocks: int, tiles: int, multiprocessors: int) -> int:
    """What lesson 30's choose_splits() says."""
    splits = ctypes.c_int64()
    binding(loaded, "call_choose_splits", "void (long, long, long, long*)",
            [LONG(blocks), LONG(tiles), LONG(multiprocessors), ctypes.pointer(splits)])()
    return splits.value


def decode(case, device, generator):
    """One new token of each sequence; pages of [page, token, head, dim] that lie in no order."""
    import split_kv_decoding as twin
    B, H, H_kv, N, D = case.sizes
    dtype, columns, scale = getattr(torch, case.dtype), -(-N // PAGE), D**-0.5
    table = torch.randperm(B * columns, generator=generator, device=device).to(torch.int32).view(B, columns)
    lengths = torch.full((B,), N, dtype=torch.int32, device=device)
    Q = torch.randn(B, H, 1, D, generator=generator, device=device).to(dtype)
    K, V = (torch.randn(B * columns, PAGE, H_kv, D, generator=generator, device=device).to(dtype).transpose(1, 2) for _ in "KV")
    exact, plain = ({name: torch.empty(B, H, 1, *size, dtype=kind, device=device) for name, size in (("O", (D,)), ("lse", ()))}
                    for kind in (torch.float64, torch.float32))
    for b in range(B):
        for kind, into in ((torch.float64, exact), (torch.float32, plain)):
            k, v = (x[table[b].long()].transpose(0, 1).flatten(1, 2)[:, :N].to(kind) for x in (K, V))  # (H_kv, N, D)
            S = scale * (Q[b].to(kind).view(H_kv, H // H_kv, D) @ k.transpose(1, 2))
            P = S.softmax(-1)
            into["O"][b] = (P @ v).view(H, 1, D)
            into["lse"][b] = S.logsumexp(-1).view(H, 1)
            if kind is torch.float32 and dtype is not kind:
                into["O"][b] = (P.to(dtype).to(kind) @ v).view(H, 1, D).to(dtype).to(kind)
    number = "float" if case.dtype == "float32" else f"course::{case.dtype}"
    views = ", ".join([*[f"course::View<{number} const, 4>"] * 3, "course::View<int const, 2>, int const*",
                       f"course::View<{number}, 4>, course::View<float, 3>, course::View<float, 5>, course::View<float, 4>"])
    multiprocessors = torch.cuda.get_device_properties(0).multi_processor_count if device == "cuda" else 132
    chosen = {}  # by the library, which the twin follows

    def ours(loaded, out):
        tile = 16
        splits = chosen["splits"] = splits_of(loaded, B * H_kv * -(-(H // H_kv) // tile), N // tile, multiprocessors)
        part_O, part_lse = fresh(splits, B, H, 1, D, device=device), fresh(splits, B, H, 1, device=device)
        call = binding(loaded, f"decode_{case.dtype}", f"void ({views}, float)",
                       [view(Q), view(K), view(V), view(table), pointer(lengths), view(out["O"]), view(out["lse"]), view(part_O),
                        view(part_lse), FLOAT(scale)])
        return lambda keep=(part_O, part_lse): call()

    return (Problem(exact, plain), lambda: {"O": fresh(B, H, 1, D, dtype=dtype, device=device), "lse": fresh(B, H, 1, device=device)},
            ours, lambda out: lambda: twin.decode(Q, K, V, table, lengths, out["O"], out["lse"], scale, chosen.get("splits", 1)), {})


PROBLEMS = {1: vector_add, 5: online_softmax, 6: block_matmul, 30: decode}


def measured(problem, make_results, make_call, stopwatch, flushes: int = 1, slack: int = 1) -> dict:
    """One way: its first call, its errors, and its time if it is right. Its errors may be `slack` times as large."""
    results = make_results()
    call = make_call(results)
    start = time.monotonic()
    try:
        call()
    except (RuntimeError, LibraryError):
        raise
    except Exception as error:  # whatever Triton's compiler may throw
        raise twins.Refused(f"Triton failed: {judge.baselines.first_line(error)}") from error
    judge.synchronize()
    found = {"first_call_seconds": round(time.monotonic() - start, 2), "errors": problem.verdicts(results, slack)}
    wrong = judge.problem_of(found["errors"])
    if wrong:
        found["failed"] = wrong
    elif stopwatch is not None:
        found.update(stopwatch.median(call, flushes))
    return found


def compare(case, loaded, stopwatch, device="cuda") -> dict:
    """Judges and times one case; `stopwatch` None: errors alone."""
    found = {**case.as_json(), "ours": {}, "triton": {}, "torch": {}}
    start = time.monotonic()
    generator = torch.Generator(device=device).manual_seed(1)

    def prepare():
        twins.modules()
        return {"made": PROBLEMS[case.lesson](case, device, generator)}

    ready = judge.attempt(prepare)
    if "failed" in ready:
        found["ours"] = {"failed": ready["failed"]}
        return found
    problem, make_results, ours, twin, others = ready["made"]
    found["ours"] = judge.attempt(lambda: measured(problem, make_results, lambda out: ours(loaded, out), stopwatch))
    found["triton"] = judge.attempt(lambda: measured(problem, make_results, twin, stopwatch, measure.FLUSHES_OF_TRITON,
                                                    TWIN_SLACK))
    for name, other in others.items():
        found["torch"][name] = judge.attempt(lambda other=other: measured(problem, make_results, other, stopwatch))
    found["seconds"] = round(time.monotonic() - start, 1)
    return found
