#!/usr/bin/env python3
"""Writes golden cases of attention, forward and backward, that PyTorch computed on the CPU in float64.

usage: make_golden_attention.py [--sixteen-bits] [--out FOLDER]

FOLDER is tests/reference/golden unless given. Each case is a folder there: q, k, v, dout and (where there are learned
sinks) sink, in float32; o, lse, dq, dk, dv and dsink in float64. cases.json lists the cases and their settings. The
inputs depend only on a case's name. Scores, mask, softmax and gradients come from PyTorch's operations and its
autograd, and each case that scaled_dot_product_attention can express is held against that, too.

--sixteen-bits writes other cases, each with inputs of bfloat16 and of float16, to tests/reference/golden_16_torch.
Its gradients are also those of a kernel whose delta is made of O rounded to 16 bits.

Needs PyTorch 2.5 or later and NumPy.
"""

import argparse
import itertools
import json
import math
import pathlib
import sys
import zlib

from options import Parser

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.nn.attention.bias import causal_lower_right
except ImportError as error:
    sys.exit(f"make_golden_attention.py needs PyTorch 2.5 or later and NumPy: {error}.")

ROOT = pathlib.Path(__file__).resolve().parent.parent
INF = math.inf
SEED = 20261122


def case(name, covers, Nq, Nk, *, B=1, H=2, H_kv=None, D=4, scale=None, causal=False, window=None, sinks=0, sink=None,
         inputs=None):
    """One case: `sink` is a list of H logits, `inputs` a function that changes q, k, v (float32) in place."""
    settings = {"name": name, "covers": covers, "B": B, "H": H, "H_kv": H_kv or H, "Nq": Nq, "Nk": Nk, "D": D,
                "scale": D**-0.5 if scale is None else scale, "causal": causal, "window": window, "sinks": sinks}
    return settings, sink, inputs


def large(q, k, v):
    """Scores near 1000 and -1000, exactly representable: a rounded score of 1000 would cost 1e-13 by itself."""
    q[...] = np.round(q * 4) / 4
    k[...] = np.round(k * 4) / 4
    q[..., 0] = 32
    k[..., 0] = np.where(np.arange(k.shape[2]) % 3 == 0, -32, 32)


def no_score(heads, keys):
    """Scores of -inf, from the inputs, at these keys of these heads of k."""
    def change(q, k, v):
        q[..., 0] = np.abs(q[..., 0]) + np.float32(0.125)
        k[:, heads, keys, 0] = -np.inf
    return change


ALL = slice(None)
CASES = [
    case("plain", "no mask at all, two batches", 7, 7, B=2, H=3),
    case("fewer_queries", "Nq < Nk without a mask, a scale that is no power of two", 5, 11, scale=0.37),
    case("more_queries", "Nq > Nk without a mask", 11, 5),
    case("one_query", "a single query", 1, 9, D=8),
    case("one_key", "a single key: O is its value", 6, 1),
    case("width_one", "D = 1", 9, 6, D=1),
    case("causal", "causal, equal lengths, two batches", 9, 9, B=2, causal=True),
    case("causal_fewer_queries", "causal, Nq < Nk: the last query stands beside the last key", 5, 12, D=8, causal=True),
    case("causal_more_queries", "causal, Nq > Nk: the first 7 queries see no key", 12, 5, causal=True),
    case("causal_one_query", "causal, a single query sees all keys", 1, 10, causal=True),
    case("causal_width_one", "causal, D = 1, a single head", 8, 8, H=1, D=1, causal=True),
    case("grouped_4_2", "4 heads of Q share 2 of K and V", 6, 8, H=4, H_kv=2),
    case("grouped_4_1", "4 heads of Q share one of K and V, two batches", 5, 7, B=2, H=4, H_kv=1, D=2),
    case("grouped_causal", "4 heads of Q share 2 of K and V, causal, Nq < Nk", 5, 8, H=4, H_kv=2, causal=True),
    case("window_1", "causal, a window of the query's own key", 8, 8, causal=True, window=1),
    case("window_3", "causal, a window of 3", 12, 12, causal=True, window=3),
    case("window_as_long_as_keys", "causal, a window of exactly Nk", 9, 9, causal=True, window=9),
    case("window_longer_than_keys", "causal, a window beyond Nk", 7, 7, causal=True, window=40),
    case("window_fewer_queries", "causal, a window of 4, Nq < Nk", 6, 14, causal=True, window=4),
    case("window_more_queries", "causal, a window of 4, Nq > Nk", 14, 6, causal=True, window=4),
    case("window_not_causal", "a window of 3 that leaves the future open", 10, 10, window=3),
    case("window_not_causal_fewer_queries", "a window of 5 that leaves the future open, Nq < Nk", 4, 12, window=5),
    case("window_24", "causal, a window of 8 in the longest case", 24, 24, H=1, causal=True, window=8),
    case("sink_token_1", "causal, a window of 3 and one sink token", 12, 12, causal=True, window=3, sinks=1),
    case("sink_tokens_4", "causal, a window of 6 and 4 sink tokens, Nq < Nk", 8, 14, causal=True, window=6, sinks=4),
    case("sink_tokens_beyond_window", "causal, more sink tokens (6) than the window (2)", 11, 11, causal=True,
         window=2, sinks=6),
    case("sink_tokens_beyond_keys", "causal, more sink tokens than keys: none is seen ahead of its time", 8, 8,
         causal=True, window=2, sinks=50),
    case("sink_tokens_more_queries", "causal, a window of 2 and 2 sink tokens, Nq > Nk", 12, 7, causal=True, window=2,
         sinks=2),
    case("sink_tokens_not_causal", "a window of 2 and 3 sink tokens, the future open, Nq < Nk", 6, 11, window=2,
         sinks=3),
    case("learned_sink", "a learned sink for each head", 6, 8, H=3, sink=[0.5, -1.25, 2.0]),
    case("learned_sink_extremes", "learned sinks of 100, -inf, 0 and -200", 5, 6, H=4, sink=[100.0, -INF, 0.0, -200.0]),
    case("learned_sink_causal", "a learned sink, causal, two batches, a scale other than 1", 7, 7, B=2, causal=True,
         scale=0.25, sink=[3.0, -0.75]),
    case("learned_sink_empty_rows", "a learned sink where the first 7 queries see no key: lse is the sink, or -inf",
         11, 4, H=3, causal=True, sink=[0.5, -INF, -1.75]),
    case("both_sinks", "causal, a window of 3, 2 sink tokens and a learned sink", 10, 10, causal=True, window=3,
         sinks=2, sink=[1.5, -0.5]),
    case("everything", "causal, window, sink tokens, learned sink, groups, Nq < Nk, two batches", 6, 13, B=2, H=4,
         H_kv=2, D=3, causal=True, window=4, sinks=2, sink=[0.25, -2.0, 1.0, 4.0]),
    case("everything_more_queries", "causal, window, sink tokens, learned sink, groups, Nq > Nk", 13, 8, H=4, H_kv=2,
         D=3, causal=True, window=3, sinks=1, sink=[0.25, -INF, 1.0, 4.0]),
    case("large_scores", "scores near 1000 and -1000", 6, 9, scale=1.0, inputs=large),
    case("large_scores_learned_sink", "scores near 1000 and -1000, causal, learned sinks of 1024 and -1024", 7, 7,
         scale=1.0, causal=True, sink=[1024.0, -1024.0], inputs=large),
    case("minus_infinity", "scores of -inf beside others", 5, 8, inputs=no_score(ALL, [0, 3, 7])),
    case("minus_infinity_only", "one head's scores are all -inf: O = 0, lse = -inf", 4, 6, inputs=no_score(1, ALL)),
    case("minus_infinity_causal", "causal, the first keys have scores of -inf: some queries are left without any",
         7, 7, causal=True, inputs=no_score(ALL, [0, 1, 4])),
    case("minus_infinity_learned_sink", "scores that are all -inf, with learned sinks of 0.75 and -inf", 4, 6,
         sink=[0.75, -INF], inputs=no_score(ALL, ALL)),
]


# Tiles have 64 keys or 32, blocks 128 queries or 64: most cases have more than one of either. D is a multiple of 8.
CASES_OF_16_BITS = [
    case("plain", "no mask, two batches", 7, 70, B=2, D=8),
    case("one_key", "a single key: O is its value", 3, 1, D=8),
    case("wide", "D = 64", 3, 35, H=1, D=64),
    case("wider", "D = 128", 3, 35, H=1, D=128),
    case("widest", "D = 256, causal", 3, 35, H=1, D=256, causal=True),
    case("causal", "causal, equal lengths", 140, 140, H=1, D=8, causal=True),
    case("causal_fewer_queries", "causal, Nq < Nk, two batches", 5, 70, H=1, B=2, D=16, causal=True),
    case("causal_more_queries", "causal, Nq > Nk: the first 30 queries see no key", 90, 60, H=1, D=8, causal=True),
    case("window", "causal, a window of 20", 70, 100, H=1, D=8, causal=True, window=20),
    case("window_not_causal", "a window of 30 that leaves the future open", 70, 90, H=1, D=8, window=30),
    case("sink_tokens", "causal, a window of 20 and 3 sink tokens", 20, 160, H=1, D=8, causal=True, window=20, sinks=3),
    case("grouped", "4 heads of Q share 2 of K and V, causal", 20, 24, H=4, H_kv=2, D=8, causal=True),
    case("learned_sink", "learned sinks, one above all scores", 7, 35, H=3, D=8, sink=[0.5, 9.0, -2.0]),
    case("learned_sink_empty_rows", "learned sinks where the first 20 queries see no key", 40, 20, H=3, D=8, causal=True,
         sink=[0.5, -INF, -1.75]),
    case("everything", "causal, window, sink tokens, learned sink, groups, Nq < Nk, two batches", 10, 70, B=2, H=4,
         H_kv=2, D=8, causal=True, window=30, sinks=2, sink=[0.25, -2.0, 1.0, 4.0]),
    case("large_scores", "scores near 1000 and -1000", 7, 70, H=1, scale=1.0, D=8, inputs=large),
    case("minus_infinity", "causal, scores of -inf: some queries are left without any", 20, 70, H=1, D=8, causal=True,
         inputs=no_score(ALL, slice(0, 55))),
    case("minus_infinity_learned_sink", "scores that are all -inf, with learned sinks of 0.75 and -inf", 4, 35, D=8,
         sink=[0.75, -INF], inputs=no_score(ALL, ALL)),
]
FORMATS = {"bfloat16": torch.bfloat16, "float16": torch.float16}


def visible(c):
    """(Nq, Nk), true where the mask shows a key. The diagonal joins the last query and the last key."""
    ones = torch.ones(c["Nq"], c["Nk"], dtype=torch.bool)
    last = c["Nk"] - c["Nq"]
    see = ones if c["window"] is None else torch.triu(ones, diagonal=last - c["window"] + 1)
    see = see | (torch.arange(c["Nk"]) < c["sinks"])
    return torch.tril(see, diagonal=last) if c["causal"] else see


def grouped(c, x):
    """Each head of K or V as often as heads of Q read it."""
    return x.repeat_interleave(c["H"] // c["H_kv"], dim=1)


def attend(c, q, k, v, sink):
    """O, lse and which rows have any weight to give."""
    scores = torch.matmul(q, grouped(c, k).transpose(-2, -1)) * c["scale"]
    logits = scores.masked_fill(~visible(c), -INF)
    if sink is not None:
        column = sink.view(1, -1, 1, 1).expand(c["B"], c["H"], c["Nq"], 1)
        logits = torch.cat([logits, column], dim=-1)
    # PyTorch gives NaN for a row of -inf only, forward and backward: such a row is set aside, before and after.
    dead = torch.isneginf(logits).all(dim=-1, keepdim=True)
    logits = logits.masked_fill(dead, 0.0)
    P = torch.softmax(logits, dim=-1).masked_fill(dead, 0.0)
    lse = torch.logsumexp(logits, dim=-1).masked_fill(dead.squeeze(-1), -INF)
    return torch.matmul(P[..., : c["Nk"]], grouped(c, v)), lse, ~dead.squeeze(-1)


def other_ways(c, q, k, v, sink):
    """The case's O from scaled_dot_product_attention, in each way that can express it, by name."""
    masked = c["causal"] or c["window"] is not None
    options = {"scale": c["scale"], "enable_gqa": c["H"] != c["H_kv"]}
    if sink is not None:
        # One more key of zeros: its score is what the additive mask says, and its value is 0.
        bias = torch.zeros(c["Nq"], c["Nk"], dtype=q.dtype).masked_fill(~visible(c), -INF).expand(
            c["B"], c["H"], c["Nq"], c["Nk"])
        bias = torch.cat([bias, sink.view(1, -1, 1, 1).expand(c["B"], c["H"], c["Nq"], 1)], dim=-1)
        more = [F.pad(grouped(c, x), (0, 0, 0, 1)) for x in (k, v)]
        yield "additive mask", F.scaled_dot_product_attention(q, *more, attn_mask=bias, scale=c["scale"])
        return
    yield "boolean mask", F.scaled_dot_product_attention(q, k, v, attn_mask=visible(c), **options)
    if not masked:
        yield "no mask", F.scaled_dot_product_attention(q, k, v, **options)
    window_hides = c["window"] is not None and c["window"] < c["Nk"] and c["sinks"] < c["Nk"]
    if c["causal"] and not window_hides:
        if c["Nq"] == c["Nk"]:
            yield "is_causal", F.scaled_dot_product_attention(q, k, v, is_causal=True, **options)
        if c["Nq"] <= c["Nk"]:
            mask = causal_lower_right(c["Nq"], c["Nk"])
            yield "causal_lower_right", F.scaled_dot_product_attention(
                q, grouped(c, k), grouped(c, v), attn_mask=mask, scale=c["scale"])


def require_close(what, got, want):
    off = ((got - want).abs() / want.abs().clamp(min=1)).max().item() if want.numel() else 0.0
    if not off <= 1e-11:
        sys.exit(f"{what} differs by {off}")


def inputs_of(c, sink, change, format=None):
    rng = np.random.default_rng([SEED, zlib.crc32(c["name"].encode())])
    shapes = {"q": (c["B"], c["H"], c["Nq"], c["D"]), "k": (c["B"], c["H_kv"], c["Nk"], c["D"]),
              "v": (c["B"], c["H_kv"], c["Nk"], c["D"]), "dout": (c["B"], c["H"], c["Nq"], c["D"])}
    arrays = {name: rng.standard_normal(shape).astype(np.float32) for name, shape in shapes.items()}
    if change is not None:
        change(arrays["q"], arrays["k"], arrays["v"])
    if format is not None:
        arrays = {name: torch.from_numpy(array).to(FORMATS[format]).float().numpy() for name, array in arrays.items()}
    if sink is not None:
        arrays["sink"] = np.array(sink, dtype=np.float32)
    return arrays


def gradients_by_hand(c, x, O, lse):
    """dQ, dK and dsink, with the O that delta is made of. No score is -inf."""
    k, v, dout = grouped(c, x["k"]), grouped(c, x["v"]), x["dout"]
    scores = (torch.matmul(x["q"], k.transpose(-2, -1)) * c["scale"]).masked_fill(~visible(c), -INF)
    base = lse.masked_fill(torch.isneginf(lse), 0.0).unsqueeze(-1)
    delta = (dout * O).sum(dim=-1)
    dS = torch.exp(scores - base) * (torch.matmul(dout, v.transpose(-2, -1)) - delta.unsqueeze(-1)) * c["scale"]
    dK = torch.matmul(dS.transpose(-2, -1), x["q"]).unflatten(1, (c["H_kv"], -1)).sum(dim=2)
    results = {"dq": torch.matmul(dS, k), "dk": dK}
    if "sink" in x:
        results["dsink"] = -(torch.exp(x["sink"].view(1, -1, 1) - base.squeeze(-1)) * delta).sum(dim=(0, 2))
    return results


def compute(c, arrays, format=None):
    """Results by name, and the names of the ways that agreed."""
    x = {name: torch.from_numpy(array).double() for name, array in arrays.items()}
    dout, names = x["dout"], [name for name in ("q", "k", "v", "sink") if name in x]

    def leaves():
        copies = {name: x[name].clone().requires_grad_() for name in names}
        return copies, [copies["q"], copies["k"], copies["v"], copies.get("sink")]

    own, own_arguments = leaves()
    O, lse, alive = attend(c, *own_arguments)
    results = {"o": O.detach(), "lse": lse.detach()}
    finite = all(bool(torch.isfinite(x[name]).all()) for name in ("q", "k", "v"))
    if finite:  # -inf in an input makes PyTorch's gradients NaN: a weight's 0 times the input
        gradients = torch.autograd.grad(O, list(own.values()), dout)
        results.update({f"d{name}": gradient for name, gradient in zip(names, gradients)})

    agreed = []
    other, other_arguments = leaves()
    for way, other_O in other_ways(c, *other_arguments):
        label = f"{c['name']}: {way}"
        require_close(label, other_O.detach()[alive], O.detach()[alive])
        if finite and bool(alive.all()):
            for name, gradient in zip(names, torch.autograd.grad(other_O, list(other.values()), dout)):
                require_close(f"{label}: d{name}", gradient, results[f"d{name}"])
        agreed.append(way)

    if finite and format is not None:
        for name, value in gradients_by_hand(c, x, results["o"], results["lse"]).items():
            require_close(f"{c['name']}: {name} by hand", value, results[name])
        rounded_O = results["o"].to(FORMATS[format]).double()
        by_hand = gradients_by_hand(c, x, rounded_O, results["lse"])
        results.update({f"{name}_of_rounded_o": value for name, value in by_hand.items()})

    for name, value in results.items():
        if torch.isnan(value).any() or (name != "lse" and torch.isinf(value).any()):
            sys.exit(f"{c['name']}: {name} is not finite")
    dead = ~alive
    if results["o"][dead].any() or (finite and results["dq"][dead].any()):
        sys.exit(f"{c['name']}: a query without keys has O or dQ other than 0")
    return {name: value.contiguous().numpy() for name, value in results.items()}, agreed


def stored(name, array, format):
    """An input as a file holds it: float16 is NumPy's, of bfloat16 there are the 16 bits."""
    if format is None or name == "sink":
        return array
    return array.astype(np.float16) if format == "float16" else (array.view(np.uint32) >> 16).astype(np.uint16)


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sixteen-bits", action="store_true", help="the cases with inputs of 16 bits")
    parser.add_argument("--out", type=pathlib.Path, metavar="FOLDER")
    arguments = parser.parse_args()
    cases, formats = (CASES_OF_16_BITS, FORMATS) if arguments.sixteen_bits else (CASES, [None])
    out = arguments.out or ROOT / "tests" / "reference" / ("golden_16_torch" if arguments.sixteen_bits else "golden")

    torch.set_num_threads(1)
    listed, size = [], 0
    for (c, sink, change), format in itertools.product(cases, formats):
        arrays = inputs_of(c, sink, change, format)
        with sdpa_kernel(SDPBackend.MATH):
            results, agreed = compute(c, arrays, format)
        of_format = {} if format is None else {"name": f"{c['name']}_{format}", "format": format}
        listed.append({**c, **of_format, "sink": sink is not None, "gradients": "dq" in results})
        folder = out / listed[-1]["name"]
        folder.mkdir(parents=True, exist_ok=True)
        for name, array in {**{name: stored(name, array, format) for name, array in arrays.items()}, **results}.items():
            np.save(folder / f"{name}.npy", array)
            size += (folder / f"{name}.npy").stat().st_size
        print(f"{folder.name}: {', '.join(agreed)}")
    rows = ",\n".join("  " + json.dumps(c) for c in listed)
    (out / "cases.json").write_text(f'{{"torch": "{torch.__version__}", "cases": [\n{rows}\n]}}\n')
    print(f"{len(listed)} cases, {size} bytes in {out}, PyTorch {torch.__version__}, NumPy {np.__version__}")


if __name__ == "__main__":
    main()
