"""One case: tensors, the kernel's results against float64, its time and memory, and PyTorch's ways beside it."""

import math
import time

import torch

from . import baselines, library, measure, reference, twins
from .cases import BACKWARD, FORWARD

SEED = 1234  # of lesson 18's dropout
NO_WINDOW = 1 << 40
# A result is rounded to float32 once, whatever came before. Where plain float32 happens to be exact, a kernel may still
# be off by twice that: half a unit in the last place of the largest element.
ALLOWANCE = 2 * 2.0**-24
PLAIN_WAYS = ("naive", "math")  # scores, softmax and product, one after the other
SUMS_OVER_HEADS = ("dK", "dV")


def random_tensor(case, heads: int, spread: float, generator, device):
    """Normal numbers of shape (B, heads, N, D), which lie in memory in the case's order of axes."""
    if case.layout == "bnhd":
        made = torch.randn(case.B, case.N, heads, case.D, generator=generator, device=device).transpose(1, 2)
    else:
        made = torch.randn(case.B, heads, case.N, case.D, generator=generator, device=device)
    return made.mul_(spread).to(getattr(torch, case.dtype))


def like(tensor):
    """A new tensor with the same strides, full of NaN, so that what is never written is found."""
    return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype,
                               device=tensor.device).fill_(float("nan"))


def make_inputs(case, device="cuda") -> dict:
    """Q, K, V, and for a backward pass dO, from a seed of their own."""
    generator = torch.Generator(device=device).manual_seed(1)
    inputs = {"Q": random_tensor(case, case.H, case.spread, generator, device),
              "K": random_tensor(case, case.H_kv, case.spread, generator, device),
              "V": random_tensor(case, case.H_kv, case.spread, generator, device)}
    if case.direction == BACKWARD:
        inputs["dO"] = random_tensor(case, case.H, 1.0, generator, device)
    return inputs


def make_results(case, inputs: dict) -> dict:
    """What the entry writes, by name."""
    names = library.ENTRIES[case.lesson, case.direction][1].split()
    sources = {"O": "Q", "dQ": "Q", "dK": "K", "dV": "V"}
    results = {}
    for name in names:
        if name not in library.RESULTS[case.direction] or name in library.POINTERS:
            continue
        if name in sources:
            results[name] = like(inputs[sources[name]])
        else:
            last = (case.N,) if name in ("S", "P") else ()
            results[name] = torch.full((case.B, case.H, case.N, *last), float("nan"), device=inputs["Q"].device)
    return results


def settings_of(case) -> dict:
    return {"scale": case.D**-0.5, "causal": case.causal, "window": case.window or NO_WINDOW, "sinks": case.sinks,
            "dropout": case.dropout, "seed": SEED}


def views_of(tensors: dict) -> dict:
    return {name: library.make_view(tensor.data_ptr(), tensor.shape, tensor.stride())
            for name, tensor in tensors.items()}


def synchronize():
    """Waits for the GPU, if there is one."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def bytes_of(tensors) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def largest_error(result, exact) -> float | None:
    """The largest difference from float64; None if anything is NaN or infinite, which the reference never is."""
    error = (result.to(exact.dtype) - exact).abs().max().item()
    return error if math.isfinite(error) else None


class Expected:
    """The results in float64, and how far plain float32 is from them, which begins with what the kernel begins with.

    Where that is numbers of 16 bits, plain float32 rounds P, dS and the results to them, as a kernel does.
    """

    def __init__(self, case, inputs: dict, saved: dict):
        compute = reference.forward if case.direction == FORWARD else reference.backward
        self.exact = compute(case, inputs, torch.float64, SEED)
        self.half = None if case.dtype == "float32" else inputs["Q"].dtype
        plain = compute(case, {**inputs, **saved}, torch.float32, SEED, self.half)
        self.float32_error = {name: largest_error(plain[name], exact) for name, exact in self.exact.items()}
        self.group = case.H // case.H_kv
        self.largest = {name: exact.abs().max().item() for name, exact in self.exact.items()}

    def learn_from(self, ways: dict):
        """Takes PyTorch's own plain ways for float32, too: products of other shapes add up in other orders.

        Not those of 16 bits, which round scores as well.
        """
        if self.half is not None:
            return
        for way in PLAIN_WAYS:
            found = ways.get(way, {})
            errors = found.get("errors") or {"O": found.get("error")}
            for name, error in errors.items():
                if error is not None and name in self.float32_error:
                    self.float32_error[name] = max(self.float32_error[name], error)

    def verdict(self, name: str, result) -> dict:
        """A result's error, what is allowed, and the largest element, for scale."""
        # Of grouped heads, plain float32 adds one sum for each query head. A kernel may add all terms in one go, and
        # what rounding can do to a sum in order grows with its length.
        sums = self.group if name in SUMS_OVER_HEADS else 1
        allowed = 2 * sums * self.float32_error[name] + ALLOWANCE * self.largest[name]
        error = largest_error(result, self.exact[name])
        return {"error": error, "float32_error": self.float32_error[name], "allowed": allowed,
                "largest": self.largest[name], "right": error is not None and error <= allowed}

    def verdicts(self, results: dict) -> dict:
        return {name: self.verdict(name, results[name]) for name in self.exact if name in results}


def saved_of_forward(case, inputs: dict) -> dict:
    """O and lse for a backward pass: those of float64, rounded, with the strides of Q."""
    exact = reference.forward(case, inputs, torch.float64, SEED)
    return {"O": like(inputs["Q"]).copy_(exact["O"]), "lse": exact["lse"].to(torch.float32)}


def problem_of(verdicts: dict) -> str:
    """A sentence that names what is wrong; empty if nothing is."""
    wrong = [f"{name} is off by {verdict['error']:.3g}, allowed are {verdict['allowed']:.3g}"
             if verdict["error"] is not None else f"{name} is not finite everywhere"
             for name, verdict in verdicts.items() if not verdict["right"]]
    return "" if not wrong else "wrong, so not timed: " + "; ".join(wrong)


class Ours:
    """The lesson's kernel on one case."""

    def __init__(self, case, loaded: library.Library, inputs: dict, saved: dict):
        self.case, self.loaded = case, loaded
        self.results = make_results(case, inputs)
        self.saved = saved
        self.call = loaded.bind(case.lesson, case.direction, views_of({**inputs, **saved, **self.results}),
                                settings_of(case), case.dtype)

    def run_once(self) -> dict:
        """Calls it; says how many kernels it launched, and whether it asked for device memory of its own."""
        before = self.loaded.ledger()
        self.call()
        torch.cuda.synchronize()
        after = self.loaded.ledger()
        if before is None:
            return {}
        return {"launches": after.launches - before.launches, "allocations": after.next_serial - before.next_serial}

    def measure(self, expected: Expected, stopwatch) -> dict:
        found = self.run_once()
        found["errors"] = expected.verdicts(self.results)
        # A forward pass needs its results; both passes O, lse, delta and the gradients.
        found["extra_bytes"] = bytes_of(self.results.values()) + bytes_of(self.saved.values())
        problem = problem_of(found["errors"])
        if problem:
            found["failed"] = problem
        elif stopwatch is not None:
            found.update(stopwatch.median(self.call))
        return found


def measure_twin(case, inputs: dict, saved: dict, expected: Expected, stopwatch) -> dict:
    """The lesson's twin in Triton: how long its first call took, which compiles it, errors, time and memory."""
    results = make_results(case, inputs)
    call = twins.twin_of(case, inputs, saved, results)
    start = time.monotonic()
    try:
        call()
    except RuntimeError:
        raise
    except Exception as error:  # whatever Triton's compiler may throw
        raise twins.Refused(f"Triton failed: {baselines.first_line(error)}") from error
    synchronize()
    found = {"first_call_seconds": round(time.monotonic() - start, 2), "errors": expected.verdicts(results)}
    problem = problem_of(found["errors"])
    if problem:
        found["failed"] = problem
    elif stopwatch is not None:
        found["extra_bytes"] = measure.extra_bytes(call) + bytes_of(results.values()) + bytes_of(saved.values())
        found.update(stopwatch.median(call, measure.FLUSHES_OF_TRITON))
    return found


def time_way(case, way, inputs: dict, expected: Expected, stopwatch) -> dict:
    """One of PyTorch's ways: error, time and memory."""
    found = {}
    if case.direction == FORWARD:
        with torch.no_grad():
            attend = way(case, inputs["Q"], inputs["K"], inputs["V"])
            O = attend()
            if not case.dropout:  # PyTorch drops other weights
                found["error"] = largest_error(O, expected.exact["O"])
            del O
            if stopwatch is not None:
                found["extra_bytes"] = measure.extra_bytes(attend)
                found.update(stopwatch.median(attend))
        return found
    leaves = [inputs[name].detach().requires_grad_() for name in ("Q", "K", "V")]
    attend = way(case, *leaves)
    if stopwatch is not None:
        found["extra_bytes"] = measure.extra_bytes(lambda: torch.autograd.grad(attend(), leaves, inputs["dO"]))
    O = attend()

    def differentiate():
        return torch.autograd.grad(O, leaves, inputs["dO"], retain_graph=True)

    gradients = dict(zip(("dQ", "dK", "dV"), differentiate()))
    if not case.dropout:
        found["errors"] = {name: largest_error(value, expected.exact[name]) for name, value in gradients.items()}
    del gradients
    if stopwatch is not None:
        found.update(stopwatch.median(differentiate))
    return found


def attempt(work) -> dict:
    """What `work` found, or why it did not."""
    try:
        return work()
    except torch.OutOfMemoryError:
        return {"failed": "out of memory"}
    except (baselines.Refused, twins.Refused) as refused:
        return {"failed": str(refused)}
    except library.LibraryError as error:
        return {"failed": str(error)}
    except RuntimeError as error:
        if "CUDA error" in str(error):
            raise  # after most of them nothing works in this process; the next case gets a new one
        return {"failed": baselines.first_line(error)}
    finally:
        if torch.cuda.is_available():
            torch.cuda.empty_cache()


def compare(case, loaded, stopwatch, ways=None, twin: bool = False) -> dict:
    """Judges and times one case. `stopwatch` None: errors alone. `twin`: the lesson's twin in Triton, too.

    @throws RuntimeError if the GPU was lost to a fault
    """
    start = time.monotonic()
    found = {**case.as_json(), "operations": case.operations(), "bytes": case.bytes(), "ours": {}, "torch": {}}

    def prepare():
        inputs = make_inputs(case)
        saved = saved_of_forward(case, inputs) if case.direction == BACKWARD else {}
        return {"inputs": inputs, "saved": saved, "expected": Expected(case, inputs, saved)}

    ready = attempt(prepare)
    if "failed" in ready:
        found["ours"] = {"failed": f"the reference: {ready['failed']}"}
        return found
    inputs, saved, expected = ready["inputs"], ready["saved"], ready["expected"]
    for name, way in (baselines.ways_of(case) if ways is None else ways).items():
        with baselines.same_bits(name.endswith(baselines.SAME_BITS)):
            found["torch"][name] = attempt(lambda way=way: time_way(case, way, inputs, expected, stopwatch))
    expected.learn_from(found["torch"])
    found["ours"] = attempt(lambda: Ours(case, loaded, inputs, saved).measure(expected, stopwatch))
    if twin and twins.has_twin(case):
        found["triton"] = attempt(lambda: measure_twin(case, inputs, saved, expected, stopwatch))
    found["seconds"] = round(time.monotonic() - start, 1)
    return found
