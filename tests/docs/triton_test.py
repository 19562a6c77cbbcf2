#!/usr/bin/env python3
"""Holds the lessons' twins in Triton against NumPy and the golden cases.

They run in Triton's interpreter, on tiles so small that the cases have several; with --gpu they are compiled, and run
on one. Triton compiles a kernel again for sizes and strides that are 1 or multiples of 16 where others were not, so
there the attention kernels get a few of the cases. Where PyTorch or Triton is not installed, the test says "skipped" and
why.
"""

import importlib
import os
import pathlib
import sys
import time
import unittest

GPU = "--gpu" in sys.argv
if not GPU:
    os.environ["TRITON_INTERPRET"] = "1"
try:
    import torch
    import triton  # noqa: F401  (what the twins import)
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 0)

import numpy as np

from algorithms_test import CASES, is_plain

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "scripts" / "triton_twins"))
forward, backward, softmax, products, sums, decoding = map(importlib.import_module, (
    "attention_forward", "attention_backward", "online_softmax", "block_matmul", "vector_add", "split_kv_decoding"))  # fmt: skip
DEVICE = "cuda" if GPU else "cpu"
BOUND = 2e-5  # of float32, beside results in float64
# What is compiled on a GPU: every mask, kind of heads and sink, and both ways in which lengths can differ.
COMPILED = {"fewer_queries", "more_queries", "causal", "causal_fewer_queries", "grouped_causal", "window_more_queries",
            "sink_tokens_4", "both_sinks", "everything"}


def bound_at(arrays):
    """P = e^(S - lse) is as wrong, in relation to itself, as S and lse are in float32."""
    lse = arrays["lse"]
    return BOUND + np.abs(lse[np.isfinite(lse)]).max(initial=0) * 2.0**-22


def tensor(array, dtype=torch.float32):
    return torch.tensor(array, dtype=dtype, device=DEVICE)


def cases(wanted, gradients=False):
    for case, arrays in CASES:
        if wanted(case) and (case["gradients"] or not gradients) and (not GPU or case["name"] in COMPILED):
            yield case, arrays


class Twins(unittest.TestCase):
    def setUp(self):
        self.started = time.monotonic()
        forward.tile_of = lambda D, bits=32: (16, 16, 4, 2)
        backward.tile_of = lambda D, of_keys: (16, 16, 4)
        softmax.BLOCK = sums.BLOCK = decoding.BLOCK_N = 16
        products.BLOCK_M = products.BLOCK_N = products.BLOCK_K = 16
        self.checked = 0
        settings = np.errstate(divide="ignore", invalid="ignore", over="ignore")
        settings.__enter__()
        self.addCleanup(settings.__exit__, None, None, None)

    def tearDown(self):
        print(f"{self.checked} results, {time.monotonic() - self.started:.1f} s: ", end="", file=sys.stderr, flush=True)
        self.assertGreater(self.checked, 2)  # or this was no test

    def assert_near(self, name, got, wanted, bound=BOUND):
        self.checked += 1
        with self.subTest(name):
            size = max(1.0, np.abs(wanted[np.isfinite(wanted)]).max(initial=0))
            np.testing.assert_allclose(got.double().cpu().numpy(), wanted, rtol=bound, atol=bound * size)

    def test_01(self):
        for n in (1, 16, 33, 1000):
            a, b = torch.randn(n, device=DEVICE), torch.randn(n, device=DEVICE)
            c = torch.full((n,), float("nan"), device=DEVICE)
            sums.vector_add(a, b, c)
            self.assert_near(n, c, (a + b).double().cpu().numpy())

    def test_05(self):
        for rows, cols in ((1, 1), (3, 16), (5, 100)):
            X = torch.randn(rows, cols, device=DEVICE) * 20
            Y = torch.full_like(X, float("nan"))
            softmax.online_softmax(X, Y)
            self.assert_near((rows, cols), Y, X.double().softmax(1).cpu().numpy())

    def test_06(self):
        for M, N, K in ((1, 1, 1), (17, 40, 33), (50, 16, 5)):
            A, B = torch.randn(M, K, device=DEVICE), torch.randn(N, K, device=DEVICE).T
            C = torch.full((M, N), float("nan"), device=DEVICE)
            products.matmul(A, B, C)
            self.assert_near((M, N, K), C, (A.double() @ B.double()).cpu().numpy())

    def attend(self, case, arrays, twin, *settings, dtype=torch.float32, sink=None):
        q, k, v = (tensor(arrays[name], dtype) for name in "qkv")
        O = torch.full_like(q, float("nan"))
        lse = torch.full(q.shape[:3], float("nan"), device=DEVICE)
        if sink is None:
            twin(q, k, v, O, lse, case["scale"], *settings)
        else:
            twin(q, k, v, sink[0], O, lse, case["scale"], *settings)
        bound = bound_at(arrays) if dtype is torch.float32 else 8e-3
        self.assert_near(case["name"], O, arrays["o"], bound)
        self.assert_near(case["name"], lse, arrays["lse"], bound)

    def test_09(self):
        for case, arrays in cases(lambda case: is_plain(case) and not case["causal"] and case["H"] == case["H_kv"]):
            self.attend(case, arrays, forward.flash2_forward)

    def test_10(self):
        for case, arrays in cases(lambda case: is_plain(case) and case["causal"] and case["H"] == case["H_kv"]):
            self.attend(case, arrays, forward.causal)

    def test_11(self):
        for case, arrays in cases(is_plain):
            self.attend(case, arrays, forward.grouped_query, case["causal"])

    def test_12_and_13(self):
        for case, arrays in cases(lambda case: case["causal"] and case["H"] == case["H_kv"]):
            sink = tensor(arrays["sink"]) if case["sink"] else None
            self.attend(case, arrays, forward.attention_sinks, case["window"], case["sinks"], sink=[sink])

    def test_22(self):
        for case, arrays in cases(is_plain):
            self.attend(case, arrays, forward.tensor_core_attention, case["causal"], dtype=torch.float16)

    def test_30(self):
        for case, arrays in cases(lambda case: is_plain(case) and (case["causal"] or case["Nq"] == 1)):
            q, k, v = (tensor(arrays[name]) for name in "qkv")
            (B, H_kv, length, D), size = k.shape, 4
            columns = -(-length // size)
            table = torch.randperm(B * columns, dtype=torch.int32).reshape(B, columns).to(DEVICE)
            caches = []
            for x in (k, v):
                pages = torch.full((B * columns, H_kv, size, D), float("nan"), device=DEVICE)
                for b in range(B):
                    for t in range(length):
                        pages[table[b, t // size], :, t % size] = x[b, :, t]
                caches.append(pages)
            lengths = torch.full((B,), length, dtype=torch.int32, device=DEVICE)
            for splits in (1, 3):
                O = torch.full_like(q, float("nan"))
                lse = torch.full(q.shape[:3], float("nan"), device=DEVICE)
                decoding.decode(q, *caches, table, lengths, O, lse, case["scale"], splits)
                self.assert_near(case["name"], O, arrays["o"], bound_at(arrays))
                self.assert_near(case["name"], lse, arrays["lse"], bound_at(arrays))

    def test_15_and_17(self):
        for case, arrays in cases(lambda case: True, gradients=True):
            q, k, v, O, lse, dO = (tensor(arrays[name]) for name in ("q", "k", "v", "o", "lse", "dout"))
            dQ, dK, dV = (torch.full_like(x, float("nan")) for x in (q, k, v))
            masks = case["causal"], min(case["window"], 2**31 - 1), case["sinks"]
            backward.attention_backward(q, k, v, O, lse, dO, dQ, dK, dV, case["scale"], *masks)
            for got, name in ((dQ, "dq"), (dK, "dk"), (dV, "dv")):
                self.assert_near(f"{case['name']} {name}", got, arrays[name], bound_at(arrays))
            if case["sink"]:
                dsink = backward.gradient_of_sink(tensor(arrays["sink"]), O, lse, dO)
                self.assert_near(f"{case['name']} dsink", dsink, arrays["dsink"])


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--gpu"], verbosity=2)  # each test as it ends
