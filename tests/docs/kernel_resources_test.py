#!/usr/bin/env python3
"""Tests of scripts/kernel_resources.py, but for nvcc: what it reads out of the compiler's and the disassembler's lines."""

import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "scripts/kernel_resources.py"
sys.path.insert(0, str(ROOT / "scripts"))

import kernel_resources  # noqa: E402

# Two loops, the second with one within, and the padding after a kernel's end.
LISTING = """
        /*0000*/                   LDC R1, c[0x0][0x28] ;
.L_x_0:
        /*0010*/                   LDS.128 R4, [R2] ;
        /*0020*/              @!P0 BRA `(.L_x_0) ;
.L_x_1:
        /*0030*/                   LDGSTS.E.BYPASS.128 [R3], [R6.64] ;
        /*0040*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_2:
        /*0050*/                   LDSM.16.M88.4 R8, [R2] ;
        /*0060*/                   HMMA.16816.F32.BF16 R12, R8, R4, R12 ;
        /*0070*/              @!UP0 HMMA.16816.F32.BF16 R12, R8, R4, R12 ;
        /*0080*/               @P1 BRA `(.L_x_2) ;
        /*0090*/                   MUFU.EX2 R9, R9 ;
        /*00a0*/                   STL [R1], R9 ;
        /*00b0*/                   BRA `(.L_x_1) ;
        /*00c0*/                   EXIT ;
.L_x_3:
        /*00d0*/                   BRA `(.L_x_3);
        /*00e0*/                   NOP;
""".splitlines()

COMPILER = """ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function '_ZN6course6kernelILi4EEEvPf' for 'sm_90a'
ptxas info    : Function properties for _ZN6course6kernelILi4EEEvPf
    16 bytes stack frame, 12 bytes spill stores, 20 bytes spill loads
ptxas info    : Used 128 registers, used 1 barriers, 16 bytes cumulative stack size, 33792 bytes smem
ptxas info    : Compile time = 481.589 ms
ptxas info    : Compiling entry function '_ZN6course5otherEv' for 'sm_90a'
ptxas info    : Function properties for _ZN6course5otherEv
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 8 registers, used 0 barriers
"""


class KernelResources(unittest.TestCase):
    def test_loops_are_outermost(self):
        loops = kernel_resources.loops_of(LISTING)
        self.assertEqual([loop.total() for loop in loops], [2, 9])

    def test_the_main_loop_has_the_arithmetic(self):
        self.assertEqual(kernel_resources.main_loop(LISTING),
                         {"HMMA": 2, "LDSM": 1, "LDS": 0, "MUFU": 1, "FFMA": 0, "LDGSTS": 1, "BAR": 1, "local": 1,
                          "instructions": 9})
        self.assertEqual(kernel_resources.main_loop(LISTING[:2]), {})

    def test_what_the_compiler_says(self):
        entries = kernel_resources.ENTRY.findall(COMPILER)
        self.assertEqual([entry[:5] for entry in entries],
                         [("_ZN6course6kernelILi4EEEvPf", "16", "12", "20", "128"), ("_ZN6course5otherEv", "0", "0", "0", "8")])
        self.assertIn("33792 bytes smem", entries[0][5])

    def test_names_are_short(self):
        symbols = ["_ZN6course20matmul_staged_kernelILi4EEEvNS_4ViewIKfLi2EEES3_NS1_IfLi2EEEj",
                   "_ZN6course21flash2_forward_kernelINS_6device14AttentionShapeILi128ELi64ELi64EEEEEvf",
                   "_ZN6course6kernelILNS_5MajorE1EEEvv", "_Z3addPf"]
        self.assertEqual(list(kernel_resources.short_names(symbols).values()),
                         ["matmul_staged_kernel<4>", "flash2_forward_kernel<AttentionShape<128, 64, 64> >", "kernel<1>",
                          "add"])

    def test_wrong_usage(self):
        for arguments, words in ((["99"], "There is no lesson 99"), (["--file", "x.cu"], "--file needs one lesson"),
                                 (["01", "--file", "none.cu"], "There is no file none.cu")):
            with self.subTest(arguments):
                done = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)


if __name__ == "__main__":
    unittest.main()
