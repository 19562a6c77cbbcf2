#!/usr/bin/env python3
"""What scripts/compare_triton.py says and computes: the lessons' kernels in the simulator and their twins in Triton's
interpreter, on PyTorch's tensors, without times. Where PyTorch or Triton is not installed, only what needs neither is tested.

Usage: compare_triton_test.py COURSE LIBSIMT
"""

import contextlib
import ctypes
import importlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

os.environ["TRITON_INTERPRET"] = "1"
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(ROOT / "scripts" / "triton_twins")]
import compare_triton  # noqa: E402
from torch_comparison import library  # noqa: E402
from torch_comparison.small_cases import CASES, SmallCase  # noqa: E402

COURSE, LIBSIMT = None, None
MISSING = ""
try:
    import torch  # noqa: F401
    import triton  # noqa: F401
except ImportError as error:
    MISSING = str(error)


class Cases(unittest.TestCase):
    def test_labels_tell_all_cases_apart_and_the_first_of_each_lesson_come_early(self):
        self.assertEqual(len({case.label() for case in CASES}), len(CASES))
        self.assertEqual({case.lesson for case in CASES[:4]}, {1, 5, 6, 30})

    def test_bytes_and_operations(self):
        self.assertEqual(SmallCase(1, (10,)).bytes(), 120)
        self.assertEqual(SmallCase(6, (2, 3, 5)).operations(), 60)
        self.assertEqual(SmallCase(6, (2, 3, 5)).bytes(), 4 * (10 + 15 + 6))
        self.assertEqual(SmallCase(30, (2, 8, 4, 100, 16), "bfloat16").bytes(), 2 * 2 * 4 * 100 * 16 * 2)


class Words(unittest.TestCase):
    def says(self, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as ended:
            compare_triton.parse_arguments(words)
        self.assertEqual(ended.exception.code, 2)
        return said.getvalue()

    def test_arguments(self):
        self.assertEqual(compare_triton.parse_arguments(["--lessons", "30,1"]).lessons, [1, 30])
        self.assertIn("9 is none of 1, 5, 6 and 30", self.says("--lessons", "1,9"))
        self.assertIn("compare_torch.py --triton", self.says("--lessons", "x"))
        self.assertIn("above 0", self.says("--time-budget", "0"))
        self.assertIn("there is no such folder", self.says("--json", "/nowhere/at/all.json"))

    def test_a_line_has_time_rate_and_factors(self):
        found = {"label": "01, n 8", "operations": 0, "bytes": 3_000_000_000, "ours": {"milliseconds": 1.0},
                 "triton": {"milliseconds": 1.25}, "torch": {"add": {"failed": "out of memory"}}}
        self.assertRegex(compare_triton.line_of(found), r"01, n 8 +1\.00 ms +3000 GB/s +Triton twin x1\.25, torch\.add: out of memory$")
        found.update(operations=5_000_000_000)
        self.assertIn("5.00 TFLOP/s", compare_triton.line_of(found))
        found["ours"] = {"failed": "It does not compile."}
        self.assertTrue(compare_triton.line_of(found).endswith("It does not compile."))
        self.assertFalse(compare_triton.is_right(found))

    def test_the_file_is_whole_or_not_there(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "r.json"
            self.assertEqual(compare_triton.write(compare_triton.parse_arguments(["--json", str(file)]), {"cases": []}), "")
            self.assertEqual(json.loads(file.read_text(encoding="utf-8")), {"cases": []})
            self.assertEqual(list(file.parent.iterdir()), [file])


@unittest.skipIf(MISSING, MISSING)
class Kernels(unittest.TestCase):
    SMALL = (SmallCase(1, (100,)), SmallCase(5, (3, 40)), SmallCase(6, (20, 17, 33)), SmallCase(30, (2, 4, 2, 130, 16), "float32"),
             SmallCase(30, (1, 4, 1, 130, 16), "float16"))  # the interpreter multiplies no bfloat16

    def setUp(self):
        from torch_comparison import judge, small_problems
        cuda = ctypes.CDLL(LIBSIMT, mode=ctypes.RTLD_GLOBAL)
        self.addCleanup(setattr, judge, "synchronize", judge.synchronize)
        judge.synchronize = cuda.cudaDeviceSynchronize
        self.problems = small_problems
        for name in ("vector_add", "online_softmax", "split_kv_decoding", "block_matmul"):
            twin = importlib.import_module(name)
            for block in ("BLOCK", "BLOCK_M", "BLOCK_N", "BLOCK_K"):
                if hasattr(twin, block):
                    setattr(twin, block, 16)

    def test_kernels_and_twins_are_right_and_a_wrong_one_is_told(self):
        built = library.build_libraries(COURSE, [1, 5, 6, 30], "cpu")
        loaded = {lesson: library.Library(path) for lesson, path in built.items()}
        for case in self.SMALL:
            with self.subTest(case.label()):
                found = self.problems.compare(case, loaded[case.lesson], None, "cpu")
                for way in (found["ours"], found["triton"], *found["torch"].values()):
                    self.assertNotIn("failed", way)
                    self.assertTrue(way["errors"])
        import vector_add
        self.addCleanup(setattr, vector_add, "vector_add", vector_add.vector_add)
        vector_add.vector_add = lambda a, b, c: c.copy_(a)
        found = self.problems.compare(self.SMALL[0], loaded[1], None, "cpu")
        self.assertNotIn("failed", found["ours"])
        self.assertIn("wrong, so not timed: c is off by", found["triton"]["failed"])
        found = self.problems.compare(self.SMALL[0], loaded[5], None, "cpu")
        self.assertIn("has no entry vector_add", found["ours"]["failed"])


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    COURSE, LIBSIMT = sys.argv[1:3]
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
