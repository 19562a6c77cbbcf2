#!/usr/bin/env python3
"""Writes golden cases of attention with inputs of 16 bits, forward and backward, that NumPy computed in float64.

usage: make_golden_rounding.py [--out FOLDER]

FOLDER is tests/reference/golden_16 unless given. Each case is a folder there; its README.md lists the files. Next to
the exact results stand those of a kernel for tensor cores, whose operands P and dS are rounded to 16 bits. Scores, masks
and gradients are written here once more, as whole matrices; float16 is NumPy's, and bfloat16 a matter of np.rint.

Needs NumPy.
"""

import argparse
import json
import pathlib
import sys
import zlib

from options import Parser

try:
    import numpy as np
except ImportError as error:
    sys.exit(f"make_golden_rounding.py needs NumPy (Debian and Ubuntu: apt-get install python3-numpy): {error}.")

ROOT = pathlib.Path(__file__).resolve().parent.parent
SEED = 20261124


def case(name, covers, Nq, Nk, *, B=1, H=2, H_kv=None, D=4, scale=None, causal=False, window=None, sinks=0, sink=None):
    return {"name": name, "covers": covers, "B": B, "H": H, "H_kv": H_kv or H, "Nq": Nq, "Nk": Nk, "D": D,
            "scale": D**-0.5 if scale is None else scale, "causal": causal, "window": window, "sinks": sinks,
            "sink": sink}


CASES = [
    case("plain", "no mask, two batches", 7, 9, B=2),
    case("causal", "causal, Nq > Nk: the first queries see no key", 9, 6, causal=True),
    case("grouped", "4 heads of Q share 2 of K and V, causal, a window of 4 and 2 sink tokens", 8, 12, H=4, H_kv=2,
         causal=True, window=4, sinks=2),
    case("learned_sink", "learned sinks, one above all scores", 6, 8, H=3, sink=[0.5, 9.0, -2.0]),
    case("large_scores", "scores that leave most weights subnormal in float16, or 0", 6, 20, D=8, scale=3.0),
]


def round_16(x, format):
    """x rounded to the nearest number of the format, half way to even, in float64. None: x."""
    if format is None:
        return x
    if format == "float16":
        return x.astype(np.float16).astype(np.float64)
    _, exponent = np.frexp(x)  # x = m * 2^exponent with 1/2 <= m < 1: 8 bits of m are kept
    step = np.exp2(np.maximum(exponent, -125) - 8.0)
    return np.rint(x / step) * step


def stored(x, format):
    """Numbers of the format as a file holds them."""
    if format == "float16":
        return x.astype(np.float16)
    return (x.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)


def inputs_of(c, format):
    rng = np.random.default_rng([SEED, zlib.crc32(c["name"].encode())])
    q_shape, k_shape = (c["B"], c["H"], c["Nq"], c["D"]), (c["B"], c["H_kv"], c["Nk"], c["D"])
    shapes = {"q": q_shape, "k": k_shape, "v": k_shape, "dout": q_shape}
    return {name: round_16(rng.standard_normal(shape), format) for name, shape in shapes.items()}


def visible(c):
    position = np.arange(c["Nq"])[:, None] + c["Nk"] - c["Nq"]
    key = np.arange(c["Nk"])[None, :]
    see = np.ones((c["Nq"], c["Nk"]), dtype=bool)
    if c["window"] is not None:
        see &= (position - key < c["window"]) | (key < c["sinks"])
    if c["causal"]:
        see &= key <= position
    return see


def attend(c, x, operands):
    """O, lse, the lse of rounded sums and P; `operands` is the format of P on its way into P·V."""
    k, v = (x[name].repeat(c["H"] // c["H_kv"], axis=1) for name in ("k", "v"))
    S = np.where(visible(c), np.einsum("bhid,bhjd->bhij", x["q"], k) * c["scale"], -np.inf)
    sink = np.full(c["H"], -np.inf) if c["sink"] is None else np.array(c["sink"])
    sink = sink[None, :, None, None]
    top = np.maximum(S.max(axis=-1, keepdims=True), sink)
    alive = top > -np.inf
    top = np.where(alive, top, 0.0)
    weights, of_sink = np.exp(S - top), np.exp(sink - top)
    narrow = round_16(weights, operands)
    l = np.where(alive, weights.sum(axis=-1, keepdims=True) + of_sink, 1.0)
    l_rounded = np.where(alive, narrow.sum(axis=-1, keepdims=True) + of_sink, 1.0)
    lse = np.where(alive, top + np.log(l), -np.inf)[..., 0]
    lse_rounded = np.where(alive, top + np.log(l_rounded), -np.inf)[..., 0]
    return np.einsum("bhij,bhjd->bhid", narrow / l, v), lse, lse_rounded, weights / l


def differentiate(c, x, O, lse, P, operands):
    k, v = (x[name].repeat(c["H"] // c["H_kv"], axis=1) for name in ("k", "v"))
    delta = (x["dout"] * O).sum(axis=-1)
    dS = P * (np.einsum("bhid,bhjd->bhij", x["dout"], v) - delta[..., None])
    dS_operand, P_operand = round_16(dS, operands), round_16(P, operands)

    def of_group(y):
        return y.reshape(c["B"], c["H_kv"], c["H"] // c["H_kv"], c["Nk"], c["D"]).sum(axis=2)

    results = {"dq": np.einsum("bhij,bhjd->bhid", dS_operand, k) * c["scale"],
               "dk": of_group(np.einsum("bhij,bhid->bhjd", dS_operand, x["q"]) * c["scale"]),
               "dv": of_group(np.einsum("bhij,bhid->bhjd", P_operand, x["dout"]))}
    if c["sink"] is not None:
        results["dsink"] = -(np.exp(np.array(c["sink"])[None, :, None] - lse) * delta).sum(axis=(0, 2))
    return results


def results_of(c, x, format):
    O, lse, _, P = attend(c, x, None)
    narrow_O, _, lse_rounded, _ = attend(c, x, format)
    exact = {"o": O, "lse": lse, **differentiate(c, x, O, lse, P, None)}
    narrow = differentiate(c, x, O, lse, P, format)
    rounded = {"o_operands": narrow_O, "lse_sums": lse_rounded,
               **{f"{name}_operands": narrow[name] for name in ("dq", "dk", "dv")}}
    in_16_bits = {f"{name}_results": stored(round_16(exact[name], format), format) for name in ("o", "dq", "dk", "dv")}
    return {**exact, **rounded, **in_16_bits}


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "tests" / "reference" / "golden_16", metavar="FOLDER")
    out = parser.parse_args().out
    listed, size = [], 0
    for c in CASES:
        for format in ("bfloat16", "float16"):
            folder = out / f"{c['name']}_{format}"
            folder.mkdir(parents=True, exist_ok=True)
            x = inputs_of(c, format)
            arrays = {name: stored(array, format) for name, array in x.items()}
            if c["sink"] is not None:
                arrays["sink"] = np.array(c["sink"], dtype=np.float32)
            arrays.update(results_of(c, x, format))
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", np.ascontiguousarray(array))
                size += (folder / f"{name}.npy").stat().st_size
            listed.append({**c, "name": folder.name, "format": format, "sink": c["sink"] is not None})
    rows = ",\n".join("  " + json.dumps(c) for c in listed)
    (out / "cases.json").write_text(f'{{"numpy": "{np.__version__}", "cases": [\n{rows}\n]}}\n')
    print(f"{len(listed)} cases, {size} bytes in {out}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
