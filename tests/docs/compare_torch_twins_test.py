#!/usr/bin/env python3
"""Judges the lessons' twins in Triton as scripts/compare_torch.py --triton does, in Triton's interpreter and without times.
The interpreter multiplies no bfloat16.

Where PyTorch or Triton is not installed, the test says "skipped" and why.
"""

import os
import pathlib
import sys
import unittest

os.environ["TRITON_INTERPRET"] = "1"
try:
    import torch
    import triton  # noqa: F401  (what the twins import)
except ImportError as missing:
    sys.exit(print(f"skipped: {missing}") or 0)

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "triton_twins")]
import attention_backward  # noqa: E402
import attention_forward  # noqa: E402
from torch_comparison import judge, twins  # noqa: E402
from torch_comparison.cases import Case  # noqa: E402

ALIKE, GROUPED = {"H": 2, "H_kv": 2}, {"H": 4, "H_kv": 2}


def case_of(lesson, direction="forward", heads=ALIKE, **settings):
    return Case(lesson, direction, B=2, N=24, D=16, **heads, **settings)


class Twins(unittest.TestCase):
    def setUp(self):
        attention_forward.tile_of = lambda D, bits=32: (16, 16, 4, 2)
        attention_backward.tile_of = lambda D, of_keys: (16, 16, 4)

    def judge(self, case):
        inputs = judge.make_inputs(case, "cpu")
        saved = judge.saved_of_forward(case, inputs) if case.direction == "backward" else {}
        expected = judge.Expected(case, inputs, saved)
        expected.learn_from({"naive": {"error": max(filter(None, expected.float32_error.values()))}})
        return judge.attempt(lambda: judge.measure_twin(case, inputs, saved, expected, None))

    def test_every_twin_is_right_on_its_lessons_cases(self):
        window = {"causal": True, "window": 7}
        for case in (case_of(9), case_of(10, causal=True), case_of(11, heads=GROUPED), case_of(11, heads=GROUPED, causal=True),
                     case_of(12, **window), case_of(13, sinks=4, **window), case_of(17, causal=True),
                     case_of(22, heads=GROUPED, dtype="float16"), case_of(22, causal=True, dtype="float16"),
                     *(case_of(lesson, "backward", GROUPED if lesson > 15 else ALIKE, causal=True) for lesson in (15, 16)),
                     case_of(15, "backward"), case_of(17, "backward", GROUPED, sinks=4, **window)):
            for layout in ("bhnd", "bnhd") if case.lesson in (9, 15) else ("bnhd",):
                case = Case(**{**case.as_json(), "layout": layout})
                with self.subTest(case.label()):
                    found = self.judge(case)
                    self.assertNotIn("failed", found)
                    wanted = {"dQ", "dK", "dV"} if case.direction == "backward" else {"O", "lse"}
                    self.assertLessEqual(wanted, set(found["errors"]))
                    self.assertIn("first_call_seconds", found)

    def test_what_a_twin_does_not_do_is_said_in_a_sentence(self):
        grouped = self.judge(case_of(17, heads=GROUPED, causal=True, window=7))
        self.assertEqual(grouped, {"failed": "The twin of lessons 12 and 13 takes no grouped heads."})
        masks = self.judge(case_of(22, causal=True, window=7, dtype="bfloat16"))
        self.assertEqual(masks, {"failed": "Of lesson 22's masks, its twin has the causal one."})

    def test_a_twin_that_is_wrong_is_not_timed(self):
        before = attention_forward.flash2_forward
        self.addCleanup(setattr, attention_forward, "flash2_forward", before)
        attention_forward.flash2_forward = lambda Q, K, V, O, lse, scale: before(Q, K, V, O, lse, 1.01 * scale)
        self.assertRegex(self.judge(case_of(9))["failed"], "wrong, so not timed: O is off by")
        attention_forward.flash2_forward = lambda *tensors: None
        self.assertRegex(self.judge(case_of(9))["failed"], "O is not finite everywhere")

    def test_what_the_compiler_throws_is_an_entry(self):
        class CompilationError(Exception):
            pass

        def fail(*tensors):
            raise CompilationError("at 12:4: a tile is too large\nand more")

        before = attention_forward.flash2_forward
        self.addCleanup(setattr, attention_forward, "flash2_forward", before)
        attention_forward.flash2_forward = fail
        self.assertEqual(self.judge(case_of(9)), {"failed": "Triton failed: at 12:4: a tile is too large"})

    def test_lessons_without_a_twin(self):
        self.assertEqual([lesson for lesson in (7, 8, 18, 19, 24) if twins.has_twin(case_of(lesson))], [])


if __name__ == "__main__":
    unittest.main()
