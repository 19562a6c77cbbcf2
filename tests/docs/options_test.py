#!/usr/bin/env python3
"""What scripts say of wrong options: all of them the same, in a sentence, with exit status 2.

Usage: options_test.py
"""

import contextlib
import io
import pathlib
import subprocess
import sys
import unittest

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"
sys.dont_write_bytecode = True
sys.path.insert(0, str(SCRIPTS))
from options import Parser  # noqa: E402

MODULES = {"options.py", "attention_tiles.py", "diagrams.py"}  # no programs


class Scripts(unittest.TestCase):
    def test_every_script_that_takes_words_says_what_is_wrong_with_them(self):
        said = 0
        for script in sorted(SCRIPTS.glob("*.py")):
            text = script.read_text(encoding="utf-8")
            if script.name in MODULES or not ("sys.argv" in text or "Parser(" in text):
                continue
            with self.subTest(script.name):
                self.assertNotIn("ArgumentParser(", text)
                run = subprocess.run([sys.executable, "-B", script, "--hlep"], capture_output=True, text=True, check=False)
                if "No module named" in run.stderr:
                    continue  # such as PyTorch
                self.assertEqual(run.stdout + run.stderr, f"{script.name}: There is no option --hlep. Did you mean --help? "
                                 f"`{script.name} --help` says what there is.\n")  # fmt: skip
                self.assertEqual(run.returncode, 2)
                said += 1
        self.assertGreater(said, 40)


class Sentences(unittest.TestCase):
    def said(self, *words):
        parser = Parser(prog="make")
        parser.add_argument("course")
        parser.add_argument("--jobs", type=int, metavar="N")
        parser.add_argument("--share", type=float)
        parser.add_argument("--kind", choices=["stub", "solution", "mutant"])
        group = parser.add_mutually_exclusive_group()
        group.add_argument("-l", "--list", action="store_true")
        group.add_argument("--all", action="store_true")
        told = io.StringIO()
        with self.assertRaises(SystemExit) as end, contextlib.redirect_stderr(told):
            parser.parse_args(words)
        self.assertEqual(end.exception.code, 2)
        return told.getvalue().removesuffix(" `make --help` says what there is.\n")

    def test_what_is_wrong(self):
        for words, sentence in {
            ("--jbos", "3"): "make: There is no option --jbos. Did you mean --jobs?",
            ("a", "--frob=3"): "make: There is no option --frob.",
            ("a", "--lis"): "make: There is no option --lis. Did you mean --list?",
            ("a", "-x"): "make: There is no option -x.",
            (): "make: COURSE is missing.",
            ("a", "b"): "make: It takes no further argument, such as b.",
            ("a", "--jobs"): "make: --jobs needs N after it.",
            ("a", "--jobs", "two"): "make: --jobs must be a whole number, not two.",
            ("a", "--share", "x"): "make: --share must be a number, not x.",
            ("a", "--kind", "stubs"): "make: --kind must be stub, solution or mutant, not stubs. Did you mean stub?",
            ("a", "--list=3"): "make: --list takes no value, such as 3.",
            ("a", "-l", "--all"): "make: --all and -l/--list exclude each other.",
        }.items():
            with self.subTest(words):
                self.assertEqual(self.said(*words), sentence)

    def test_what_is_right_is_taken(self):
        parser = Parser()
        parser.add_argument("--by", type=float)
        parser.add_argument("-j", type=int)
        parser.add_argument("words", nargs="*")
        taken = parser.parse_args(["--by", "-0.5", "-j4", "-", "--", "--word"])
        self.assertEqual((taken.by, taken.j, taken.words), (-0.5, 4, ["-", "--word"]))


if __name__ == "__main__":
    unittest.main()
