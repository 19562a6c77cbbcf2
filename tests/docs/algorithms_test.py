#!/usr/bin/env python3
"""Holds docs/algorithms.py against the golden cases, with tiles so small that each case has several."""

import importlib.util
import json
import pathlib
import unittest

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "reference" / "golden"
MOST_LINES = 20  # of what a lesson shows

spec = importlib.util.spec_from_file_location("algorithms", ROOT / "docs" / "algorithms.py")
algorithms = importlib.util.module_from_spec(spec)
spec.loader.exec_module(algorithms)


class Head:
    """One head of Q in a golden case, with the head of K and V that it reads."""

    def __init__(self, case, arrays, b, h):
        group = case["H"] // case["H_kv"]
        self.Q, self.dO, self.O, self.dQ = (arrays[name][b, h] for name in ("q", "dout", "o", "dq"))
        self.K, self.V = (arrays[name][b, h // group] for name in ("k", "v"))
        self.lse, self.sink = arrays["lse"][b, h], arrays["sink"][h] if case["sink"] else -np.inf


def read_cases():
    for case in json.loads((GOLDEN / "cases.json").read_text(encoding="utf-8"))["cases"]:
        arrays = {file.stem: np.load(file).astype(np.float64) for file in (GOLDEN / case["name"]).glob("*.npy")}
        for name in ("dout", "dq", "dk", "dv"):
            arrays.setdefault(name, np.zeros_like(arrays["q" if name in ("dout", "dq") else "k"]))
        case["window"] = case["window"] or algorithms.NEVER
        yield case, arrays


CASES = list(read_cases())


def is_plain(case):
    return case["window"] == algorithms.NEVER and not case["sinks"] and not case["sink"]


def heads(wanted):
    """The heads of all cases of which that is true."""
    for case, arrays in CASES:
        if wanted(case):
            for b in range(case["B"]):
                for h in range(case["H"]):
                    yield case, Head(case, arrays, b, h)


class Algorithms(unittest.TestCase):
    def setUp(self):
        algorithms.QUERIES, algorithms.KEYS = 4, 3
        self.checked = 0
        settings = np.errstate(divide="ignore", over="ignore", invalid="ignore")  # log 0, and S - lse of hidden scores
        settings.__enter__()
        self.addCleanup(settings.__exit__, None, None, None)

    def tearDown(self):
        self.assertGreater(self.checked, 3)  # cases, or this was no test

    def assert_same(self, case, got, wanted, bound=1e-12):
        self.checked += 1
        scale = max(1.0, np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
        with self.subTest(case["name"]):
            np.testing.assert_allclose(got, wanted, rtol=bound, atol=bound * scale)

    def test_07(self):
        for case, head in heads(lambda case: is_plain(case) and not case["causal"]):
            seen = np.isfinite(head.lse)
            O = algorithms.naive_attention(head.Q, head.K, head.V, case["scale"])
            self.assert_same(case, O[seen], head.O[seen])

    def test_08(self):
        for case, head in heads(lambda case: is_plain(case) and not case["causal"]):
            O, l, m = algorithms.flash1_forward(head.Q, head.K, head.V, case["scale"])
            self.assert_same(case, O, head.O)
            self.assert_same(case, m + np.log(l), head.lse)

    def test_09(self):
        for case, head in heads(lambda case: is_plain(case) and not case["causal"]):
            O, lse = algorithms.flash2_forward(head.Q, head.K, head.V, case["scale"])
            self.assert_same(case, O, head.O)
            self.assert_same(case, lse, head.lse)

    def test_10(self):
        for case, head in heads(lambda case: is_plain(case) and case["causal"]):
            O, lse = algorithms.causal_attention(head.Q, head.K, head.V, case["scale"])
            self.assert_same(case, O, head.O)
            self.assert_same(case, lse, head.lse)

    def test_11(self):
        for case, arrays in CASES:
            for b in range(case["B"] if is_plain(case) else 0):
                Q, K, V = (arrays[name][b] for name in ("q", "k", "v"))
                O, lse = algorithms.grouped_query(Q, K, V, case["scale"], case["causal"])
                self.assert_same(case, O, arrays["o"][b])
                self.assert_same(case, lse, arrays["lse"][b])

    def test_12(self):
        for case, head in heads(lambda case: case["causal"] and not case["sinks"] and not case["sink"]):
            O, lse = algorithms.sliding_window(head.Q, head.K, head.V, case["scale"], min(case["window"], 10**6))
            self.assert_same(case, O, head.O)
            self.assert_same(case, lse, head.lse)

    def test_13(self):
        for case, head in heads(lambda case: case["causal"]):
            O, lse = algorithms.attention_sinks(head.Q, head.K, head.V, case["scale"], min(case["window"], 10**6),
                                                case["sinks"], head.sink)  # fmt: skip
            self.assert_same(case, O, head.O)
            self.assert_same(case, lse, head.lse)

    def test_15(self):
        for case, head in heads(lambda case: is_plain(case) and case["gradients"]):
            dQ, dK, dV = algorithms.flash2_backward(
                head.Q, head.K, head.V, head.O, head.lse, head.dO, case["scale"], case["causal"])  # fmt: skip
            self.assert_same(case, dQ, head.dQ)
            if not case["causal"]:
                unfused = algorithms.unfused_backward(head.Q, head.K, head.V, head.dO, case["scale"])
                for one, other in zip(unfused, (dQ, dK, dV)):
                    self.assert_same(case, one, other)

    def test_16(self):
        for case, arrays in CASES:
            for b in range(case["B"] if is_plain(case) and case["gradients"] else 0):
                given = (arrays[name][b] for name in ("q", "k", "v", "o", "lse", "dout"))
                got = algorithms.grouped_query_backward(*given, case["scale"], case["causal"])
                for gradient, name in zip(got, ("dq", "dk", "dv")):
                    self.assert_same(case, gradient, arrays[name][b])

    def test_17(self):
        for case, arrays in CASES:
            if not case["gradients"]:
                continue
            masks = case["causal"], case["window"], case["sinks"]
            group, dsink = case["H"] // case["H_kv"], np.zeros(case["H"])
            dK, dV = np.zeros_like(arrays["k"]), np.zeros_like(arrays["v"])
            for b in range(case["B"]):
                for h in range(case["H"]):
                    head = Head(case, arrays, b, h)
                    delta = (head.dO * head.O).sum(axis=1)
                    of_K, of_V = algorithms.full_keys_kernel(
                        head.Q, head.K, head.V, head.lse, head.dO, delta, case["scale"], *masks)  # fmt: skip
                    dK[b, h // group] += of_K
                    dV[b, h // group] += of_V
                    dsink[h] += algorithms.gradient_of_sink(head.sink, head.lse, delta)
            self.assert_same(case, dK, arrays["dk"])
            self.assert_same(case, dV, arrays["dv"])
            if case["sink"]:
                self.assert_same(case, dsink, arrays["dsink"])

    def test_18(self):
        for case, head in heads(lambda case: is_plain(case) and not case["causal"] and case["gradients"]):
            Z = np.random.default_rng(18).integers(0, 2, (len(head.Q), len(head.K))) * 2.0
            S = head.Q @ head.K.T * case["scale"]
            P = np.exp(S - head.lse[:, None])
            m, l, O = algorithms.begin(len(head.Q), head.V.shape[1])
            for j in algorithms.tiles(0, len(head.K), algorithms.KEYS):
                m, l, O = algorithms.fold_with_dropout(S[:, j], head.V[j], Z[:, j], m, l, O)
            O = algorithms.divided(O, l)
            self.assert_same(case, O, (P * Z) @ head.V)
            self.assert_same(case, m + np.log(l), head.lse)
            got = algorithms.backward_with_dropout(
                P, Z, head.Q, head.K, head.V, head.dO, (head.dO * O).sum(axis=1), case["scale"])  # fmt: skip
            for gradient, at in zip(got, (head.Q, head.K, head.V)):
                self.assert_derivative(case, gradient, at, head, Z)

    def assert_derivative(self, case, gradient, at, head, Z):
        """By the central difference of the loss whose gradient of O is dO, along one direction."""
        along, step = np.random.default_rng(19).standard_normal(at.shape), 1e-6

        def loss(by):
            Q, K, V = (x + by * along if x is at else x for x in (head.Q, head.K, head.V))
            S = Q @ K.T * case["scale"]
            P = np.exp(S - S.max(axis=1, keepdims=True))
            return (head.dO * ((P / P.sum(axis=1, keepdims=True) * Z) @ V)).sum()

        slope = (loss(step) - loss(-step)) / (2 * step)
        self.assert_same(case, (gradient * along).sum(), np.float64(slope), 1e-4)

    def fold_all(self, fold, case, head):
        m, l, O = algorithms.begin(len(head.Q), head.V.shape[1])
        for j in algorithms.tiles(0, len(head.K), algorithms.KEYS):
            m, l, O = fold(head.Q @ head.K[j].T, head.V[j], case["scale"] * np.log2(np.e), m, l, O)
        return algorithms.divided(O, l), m * case["scale"] + np.log(l)

    def test_19_and_22(self):
        for case, head in heads(lambda case: is_plain(case) and not case["causal"]):
            for fold, bound in ((algorithms.fold_in_powers_of_2, 1e-12), (algorithms.fold_in_16_bits, 2e-3)):
                O, lse = self.fold_all(fold, case, head)
                self.assert_same(case, O, head.O, bound)
                self.assert_same(case, lse, head.lse)

    def test_30(self):
        for case, arrays in CASES:
            if not is_plain(case) or (not case["causal"] and case["Nq"] > 1):
                continue
            (H, H_kv, Nq, length), size = (case[name] for name in ("H", "H_kv", "Nq", "Nk")), 4
            pages = -(-length // size) + 1
            table = np.roll(np.arange(pages), 2)
            for b in range(case["B"]):
                for h_kv in range(H_kv):
                    cache = []
                    for name in ("k", "v"):
                        tokens = np.full((pages * size, case["D"]), 1e6)
                        tokens[:length] = arrays[name][b, h_kv]
                        cache.append(np.empty((pages, size, case["D"])))
                        cache[-1][table] = tokens.reshape(pages, size, -1)
                    group = slice(h_kv * (H // H_kv), (h_kv + 1) * (H // H_kv))
                    rows = arrays["q"][b, group].reshape(-1, case["D"])
                    for splits in (1, 3, length + 2):
                        O, lse = algorithms.decode(rows, *cache, table, length, Nq, case["scale"], splits)
                        self.assert_same(case, O, arrays["o"][b, group].reshape(O.shape))
                        self.assert_same(case, lse, arrays["lse"][b, group].reshape(-1))

    def test_no_lesson_shows_more_than_twenty_lines(self):
        lines = (ROOT / "docs" / "algorithms.py").read_text(encoding="utf-8").splitlines()
        markers = [at for at, line in enumerate(lines) if line.startswith("# [")]
        for first, last in zip(markers[::2], markers[1::2]):
            with self.subTest(lines[first]):
                self.checked += 1
                self.assertEqual(lines[first], lines[last])
                code = [line for line in lines[first + 1 : last] if line.strip()]
                self.assertLessEqual(len(code), MOST_LINES)


if __name__ == "__main__":
    unittest.main()
