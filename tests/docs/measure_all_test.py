#!/usr/bin/env python3
"""What scripts/measure_all.py plans and how it keeps its time, with steps of this test and without a GPU.

Usage: measure_all_test.py
"""

import contextlib
import io
import json
import os
import pathlib
import re
import shlex
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "scripts"), str(pathlib.Path(__file__).resolve().parent)]
import compare_torch  # noqa: E402
import compare_triton  # noqa: E402
import measure_all  # noqa: E402
import torch_example  # noqa: E402
from measure_all import Step  # noqa: E402
from torch_comparison import cases  # noqa: E402

WRITE = "import json, pathlib, sys; pathlib.Path(sys.argv[1]).write_text(json.dumps({'cases': json.loads(sys.argv[2])}))"


def python(code: str, *words: str) -> str:
    return "{python} -c " + " ".join([shlex.quote(code.replace("{", "{{").replace("}", "}}")), *words])


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = pathlib.Path(folder.name)
        for name, value in (("LEAST", 0), ("RESERVE", 0)):
            self.addCleanup(setattr, measure_all, name, getattr(measure_all, name))
            setattr(measure_all, name, value)

    def run_steps(self, steps, *words):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            status = measure_all.main(["--out", str(self.out), "--gpu", "h100", *words], steps)
        return status, said.getvalue()


class Steps(Folder):
    def test_every_command_is_one_that_its_program_takes(self):
        runs = measure_all.Runs(self.out, "h100")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(ROOT)  # where they run
        for step in measure_all.STEPS:
            words = measure_all.command_of(step, runs, 100)
            with self.subTest(step.name):
                self.assertNotRegex(" ".join(words), r"[{}]")
                name = pathlib.Path(words[1]).name
                program = {"compare_torch.py": compare_torch, "compare_triton.py": compare_triton}.get(name)
                if program is not None:
                    program.parse_arguments(words[2:])
                elif words[0] == sys.executable:
                    self.assertTrue((ROOT / [word for word in words if word.endswith(".py")][0]).is_file())
                if step.file:
                    (self.out / step.file.format(gpu="h100")).write_text("{}", encoding="utf-8")
                    self.assertEqual("--resume" in measure_all.command_of(step, runs, 100), "{resume}" in step.command)

    def test_the_most_telling_come_first(self):
        first = [step.cases[0] for step in measure_all.STEPS[:3]]
        self.assertEqual([(case.N, case.lesson) for case in first], [(4096, 22), (4096, 15), (4096, 7)])
        names = [step.name for step in measure_all.STEPS]
        self.assertLess(names.index("triton"), names.index("16bit"))
        self.assertLess(names.index("bench30"), names.index("check"))

    def test_both_runs_into_a_file_are_of_the_same_lessons(self):
        for quick in (step for step in measure_all.STEPS if step.name.endswith("-quick")):
            for whole in (step for step in measure_all.STEPS if step.file == quick.file):
                self.assertLessEqual(set(quick.cases), set(whole.cases))


class Plan(Folder):
    def test_it_adds_up_what_recorded_cases_took_and_shows_where_the_time_ends(self):
        status, said = self.run_steps(None, "--plan")
        self.assertEqual(status, 0)
        totals = [float(number) for number in re.findall(r"in all +([\d.]+) min", said)]
        self.assertEqual(len(totals), len(measure_all.STEPS))
        self.assertEqual(totals, sorted(totals))
        before = said.split("-- here 25 minutes end")[0]
        self.assertEqual(len(re.findall("in all", before)), sum(total <= 25 for total in totals))
        self.assertEqual(list(self.out.iterdir()), [])

    def test_an_estimate_is_what_the_same_case_took_or_similar_ones(self):
        known, similar = cases.problem(9, "forward", 4096, 64), cases.problem(9, "forward", 4096, 128)
        found = {**torch_example.comparison([known]), "program": "compare_torch"}
        found["cases"][0]["seconds"] = 7
        (self.out / "r.json").write_text(json.dumps(found), encoding="utf-8")
        estimates = measure_all.Estimates(self.out)
        self.assertEqual([estimates.of(case, False) for case in (known, similar)], [7, 7])
        self.assertEqual(estimates.of(known, True), 7 + measure_all.TWIN)
        self.assertEqual(estimates.of(cases.problem(9, "forward", 1024, 64), False), 12)

    def test_what_is_measured_is_not_planned_again_unless_its_twin_is_missing(self):
        chosen = cases.choose_cases([22, 24], quick=True)
        content = torch_example.comparison(chosen)
        file = self.out / "compare_torch_16bit_h100.json"
        for case in content["cases"]:
            case["triton"] = {"milliseconds": 1.0}
        file.write_text(json.dumps(content), encoding="utf-8")
        self.assertRegex(self.run_steps(None, "--plan")[1], r"16bit-quick +complete +0 s")
        del content["cases"][0]["triton"]
        file.write_text(json.dumps(content), encoding="utf-8")
        self.assertRegex(self.run_steps(None, "--plan")[1], r"16bit-quick +1 of 28 cases")


class Runs(Folder):
    def test_a_step_that_is_complete_does_not_run_again(self):
        once = Step("once", python("import sys; open(sys.argv[1], 'a').write('x')", "{out}/trace"))
        wrong = Step("wrong", python("import sys; open(sys.argv[1], 'a').write('y'); sys.exit(1)", "{out}/trace"))
        broken = Step("broken", python("import sys; open(sys.argv[1], 'a').write('z'); sys.exit(3)", "{out}/trace"))
        status, said = self.run_steps([once, wrong, broken])
        self.assertEqual(status, 1)
        self.assertIn("wrong: ended with status 1, not run again", said)
        self.assertIn("broken: ended with status 3", said)
        self.assertIn("1 of 3 steps are complete", said)
        self.run_steps([once, wrong, broken])
        self.assertEqual((self.out / "trace").read_text(encoding="utf-8"), "xyzz")
        self.assertEqual(self.run_steps([once])[0], 0)

    def test_a_step_is_complete_when_its_file_has_all_cases(self):
        case = cases.problem(8, "forward", 4096, 64)
        found = json.dumps([torch_example.result_of(case)])
        step = Step("some", python(WRITE, "{out}/r_{gpu}.json", "'[]'"), "r_{gpu}.json", [case])
        self.assertIn("some: ended with status 0, 1 of 1 cases are left", self.run_steps([step])[1])
        step = Step("some", python(WRITE, "{out}/r_{gpu}.json", shlex.quote(found).replace("{", "{{").replace("}", "}}")),
                    "r_{gpu}.json", [case])
        self.assertEqual(self.run_steps([step])[0], 0)
        self.assertIn("some: complete", self.run_steps([step])[1])

    def test_it_ends_in_time_with_all_that_it_has_started(self):
        child = "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[2], sys.argv[1]])"
        late = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(300)"
        slow = Step("slow", python(child, "{out}/pid", shlex.quote(late)), seconds=1)
        start = time.monotonic()
        status, said = self.run_steps([slow, Step("next", "true", seconds=30)], "--minutes", "0.1")
        self.assertLess(time.monotonic() - start, 60)
        self.assertEqual(status, 1)
        self.assertIn("slow: ended with status 124 (out of time)", said)
        self.assertIn("next: not begun, about 30 s", said)
        state = pathlib.Path("/proc", (self.out / "pid").read_text(encoding="utf-8"), "stat")
        ended = time.monotonic() + 30
        while state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] != "Z":
            self.assertLess(time.monotonic(), ended)  # killed, but not gone yet
            time.sleep(0.1)

    def test_a_step_that_does_not_fit_is_left_and_a_shorter_one_runs(self):
        steps = [Step("long", "true", seconds=100), Step("short", "true", seconds=1)]
        status, said = self.run_steps(steps, "--minutes", "1.5")
        self.assertEqual(status, 1)
        self.assertIn("long: not begun, about 100 s", said)
        self.assertIn("1 of 2 steps are complete", said)

    def test_wrong_words(self):
        for words, sentence in ((["--minutes", "0"], "above 0"), (["--only", "nothing"], "there is no step nothing; there are 16bit-quick")):
            said = io.StringIO()
            with self.assertRaises(SystemExit) as ended, contextlib.redirect_stderr(said):
                measure_all.main(words)
            self.assertEqual(ended.exception.code, 2)
            self.assertIn(sentence, said.getvalue())


if __name__ == "__main__":
    unittest.main()
