"""Results of a comparison in words and tables. Needs no PyTorch."""

from .cases import Case

BASELINES = ("naive", "math", "efficient", "flash", "cudnn", "flex")  # that the table has a column for


def case_of(found: dict) -> Case:
    """The case that a result is of."""
    return Case(**{name: found[name] for name in Case.__dataclass_fields__ if name in found})  # older ones have fewer


def way_of(found: dict, name: str) -> dict:
    """What one of PyTorch's ways came to; where it takes no grouped heads, the same with heads repeated."""
    way, repeated = found["torch"].get(name, {}), found["torch"].get(f"{name}, heads repeated", {})
    return repeated if "failed" in way and repeated else way


def milliseconds(found: dict) -> float | None:
    return found.get("milliseconds")


def floor_milliseconds(found: dict, ceilings: dict | None) -> tuple[float, str] | None:
    """The least time by what the device was seen to do, and which of both it is: "bytes" or "operations"."""
    if not ceilings:
        return None
    by_bytes = found["bytes"] / ceilings["copy_gigabytes_per_second"] * 1e-6
    product = "matmul_teraflops" if found.get("dtype", "float32") == "float32" else "matmul_bfloat16_teraflops"
    by_operations = found["operations"] / ceilings[product] * 1e-9
    return max((by_bytes, "bytes"), (by_operations, "operations"))


def three_digits(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


HEADER = f"{'case':64} {'ms':>8} {'TFLOP/s':>8} {'floor':>6} " + " ".join(f"{name:>9}" for name in BASELINES)
TWIN = "twin"  # one more column, where the lesson's twin in Triton was timed


def line_of(found: dict, ceilings: dict | None = None) -> str:
    """One line: time, rate, share of the floor, and how many times as long each of PyTorch's ways takes."""
    ours, label = found["ours"], case_of(found).label()
    own = milliseconds(ours)
    if own is None:
        return f"{label:64} {ours.get('failed', 'not timed')}"
    floor = floor_milliseconds(found, ceilings)
    share = f"{100 * floor[0] / own:.0f} %" if floor else "-"
    columns = []
    for name in BASELINES:
        theirs = milliseconds(way_of(found, name))
        columns.append(f"x{three_digits(theirs / own)}" if theirs else "-")
    if "triton" in found:
        theirs = milliseconds(found["triton"])
        columns.append(f"x{three_digits(theirs / own)}" if theirs else "-")
    rate = found["operations"] / own * 1e-9
    return f"{label:64} {three_digits(own):>8} {three_digits(rate):>8} {share:>6} " + \
        " ".join(f"{column:>9}" for column in columns)


def error_line(found: dict) -> str:
    """One line: the errors of kernel and plain float32 against float64, for each result."""
    label, errors = case_of(found).label(), found["ours"].get("errors")
    if not errors:
        return f"{label:64} {found['ours'].get('failed', 'nothing')}"
    words = []
    for name, verdict in errors.items():
        error = float("nan") if verdict["error"] is None else verdict["error"]
        words.append(f"{name} {error:.2g}/{verdict['float32_error']:.2g}{'' if verdict['right'] else ' WRONG'}")
    return f"{label:64} {', '.join(words)}"


def is_right(found: dict) -> bool:
    return "failed" not in found["ours"]
