#!/usr/bin/env python3
"""Grades a small class in parts: by hand, and on a cluster whose tasks and nodes die.

    cluster_test.py COURSE SOURCE_DIR [--slurm] [unittest arguments]

COURSE is the built program. With --slurm, Slurm itself does it, with a controller and two nodes on this machine; without,
a fake that keeps to its commands. Where that is not possible, a line that begins with "skipped" says why, and the exit
status is 0.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import class_tools as tools
import slurm_programs

SECONDS = 900  # that one run may take on a busy machine
SECRET = 987654321012345678
ROOT_OPTIONS = ["--as-root"] if os.geteuid() == 0 else []

COURSE = SOURCE = WORK = SLURM = None
SUBMISSIONS = WHOLE = None  # a class, and its results as one machine makes them


def words_of(out, *options):
    return [str(COURSE), "grade", str(SUBMISSIONS), "--out", str(out), *ROOT_OPTIONS, *options]


def start(out, *options, environment=None):
    return subprocess.Popen(words_of(out, *options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, encoding="utf-8", env=environment)  # fmt: skip


def end(process):
    output, _ = process.communicate(timeout=SECONDS)
    return process.returncode, output


def grade(out, *options, environment=None):
    return end(start(out, *options, environment=environment))


def wait_for(condition, process):
    while not condition():
        if process.poll() is not None:
            raise AssertionError(f"the run has ended: {process.communicate()[0]}")
        time.sleep(0.1)


def state_of(out, part):
    file = out / f".grading/parts/{part}.json"
    return json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"judged": 0}


def in_one_line(output):
    return " ".join(output.split())


class Case(unittest.TestCase):
    maxDiff = None

    def assert_ends(self, ended, status):
        self.assertEqual(ended[0], status, ended[1])
        self.assertEqual([line for line in ended[1].split("\n") if len(line) > 80 and "class-" not in line], [])

    def assert_same_results(self, out):
        self.assertEqual(tools.differences(tools.results_tree(out), tools.results_tree(WHOLE)), [])


class PartsByHand(Case):
    def test_put_together_give_the_same_bytes_and_judge_each_file_once(self):
        out = WORK / "by_hand"
        kept = set()
        for number in (2, 1):
            self.assert_ends(grade(out, "--part", f"{number}/2", "--jobs", "2"), 0)
            self.assertEqual([path.name for path in out.iterdir()], [".grading"])
            self.assertGreater(set(tools.verdicts(out)), kept)
            kept = set(tools.verdicts(out))
        before = tools.verdicts(out)
        self.assert_ends(grade(out), 0)
        self.assertEqual(tools.verdicts(out), before)
        self.assert_same_results(out)

    def test_are_numbered_from_1_to_their_count(self):
        for part in ("0/2", "3/2", "1", "1/0", "a/b", "1/2/3"):
            ended = grade(WORK / "wrong_part", "--part", part)
            self.assert_ends(ended, 2)
            self.assertIn(f"{part} is no part", ended[1])


class ACluster(Case):
    def grade(self, out, *options, **environment):
        return grade(out, "--cluster", "slurm", *options, environment={**SLURM.environment, **environment})

    def start(self, out, *options):
        return start(out, "--cluster", "slurm", *options, environment=SLURM.environment)


class AFakeCluster(ACluster):
    def test_interrupted_ends_its_tasks_and_goes_on_to_the_same_bytes(self):
        out = WORK / "interrupted"
        process = self.start(out, "--tasks", "2")
        wait_for(lambda: state_of(out, 1)["judged"] > 0 and state_of(out, 2)["judged"] > 0, process)
        process.send_signal(signal.SIGINT)
        status, output = end(process)
        self.assertEqual(status, 130, output)
        self.assertIn("The cluster's tasks are ended; the same command goes on", in_one_line(output))
        self.assertEqual(tools.left_over(set(), out, seconds=3), [])
        before = tools.verdicts(out)
        self.assert_ends(self.grade(out, "--tasks", "2"), 0)
        after = tools.verdicts(out)
        self.assertEqual({name: after[name] for name in before}, before)  # judged once
        self.assert_same_results(out)

    def test_has_the_part_of_a_task_that_died_run_again_and_no_other(self):
        out = self.half_judged("task_died")
        process = self.start(out, "--tasks", "2")
        wait_for(lambda: "conditions" in state_of(out, 2), process)
        SLURM.kill_task(2)
        ended = end(process)
        self.assert_ends(ended, 0)
        self.assertIn("Part 2 of 2 ended", in_one_line(ended[1]))
        self.assertNotIn("Part 1 of 2", ended[1])
        self.assert_same_results(out)

    def test_judges_again_what_it_is_told_to(self):
        out = self.copy("again")
        before = tools.verdicts(out)
        name = next(path.name for path in sorted(SUBMISSIONS.iterdir()) if path.is_dir() and list(path.rglob("*.cu")))
        self.assert_ends(self.grade(out, "--regrade", name), 0)
        after = tools.verdicts(out)
        self.assertEqual(sum(after[name]["version"] != before[name]["version"] for name in before), 1)
        self.assert_same_results(out)

    def test_keeps_the_secret_seed_out_of_the_job(self):
        out = WORK / "secret"
        process = self.start(out, "--secret-seed", str(SECRET), "--jobs", "3")
        wait_for((out / ".grading/parts/job.sh").exists, process)
        job = (out / ".grading/parts/job.sh").read_text(encoding="utf-8")
        process.send_signal(signal.SIGINT)
        end(process)
        self.assertNotIn(str(SECRET), job)
        self.assertIn("--secret-seed", job)
        self.assertIn("--cpus-per-task=3\n", job)
        self.assertEqual((out / ".grading/verdicts/seed").read_text(encoding="utf-8"), str(SECRET))

    def test_without_slurms_commands_says_so(self):
        ended = grade(WORK / "without", "--cluster", "slurm", environment={**os.environ, "PATH": "/nowhere"})
        self.assert_ends(ended, 3)
        self.assertIn("sbatch is not on PATH", in_one_line(ended[1]))

    def test_whose_nodes_do_not_share_the_folder_says_so(self):
        out = self.half_judged("not_shared")
        ended = self.grade(out, **{slurm_programs.LOST: "1"})
        self.assert_ends(ended, 3)
        self.assertIn("is this folder shared with all nodes", in_one_line(ended[1]))

    def test_whose_tasks_cannot_begin_says_why(self):
        out = self.half_judged("cannot_begin")
        ended = self.grade(out, **{slurm_programs.BROKEN: "1"})
        self.assert_ends(ended, 3)
        self.assertIn("was tried 3 times and", in_one_line(ended[1]))
        self.assertIn("libfmt", in_one_line(ended[1]))

    def copy(self, name):
        return pathlib.Path(shutil.copytree(WHOLE, WORK / name, symlinks=True))

    def half_judged(self, name):
        """Results of which only the worked solution's verdict and every third of a student's are there."""
        out = self.copy(name)
        solutions = [path.read_bytes() for path in (SOURCE / "solutions").glob("*/*.cu")]
        for number, (verdict, known) in enumerate(sorted(tools.verdicts(out).items())):
            if number % 3 and known["judged"] not in solutions:
                (out / f".grading/verdicts/{verdict}.json").unlink()
        return out


class ARealCluster(ACluster):
    def test_gives_the_same_bytes_as_one_machine_and_so_does_one_whose_node_dies(self):
        out = WORK / "nodes_alive"
        begin = time.monotonic()
        self.assert_ends(self.grade(out, "--tasks", "4"), 0)
        print(f"two nodes, four tasks: {time.monotonic() - begin:.0f} s", flush=True)
        self.assert_same_results(out)
        hosts = {state_of(out, part)["host"] for part in (1, 2, 3, 4)}
        self.assertEqual(hosts, {"node1", "node2"})

        out = WORK / "node_died"
        begin = time.monotonic()
        process = self.start(out, "--tasks", "4")
        on_node2 = lambda: [part for part in (1, 2, 3, 4) if state_of(out, part).get("host") == "node2"]  # noqa: E731
        wait_for(lambda: any(state_of(out, part)["judged"] for part in on_node2()), process)
        SLURM.kill_node("node2")
        ended = end(process)
        print(f"node2 killed in the middle: {time.monotonic() - begin:.0f} s; it said:\n{ended[1]}", flush=True)
        self.assert_ends(ended, 0)
        self.assertRegex(in_one_line(ended[1]), r"Part \d of 4 ended on node2 before its end\S* .*It runs again")
        self.assertEqual(SLURM.ask("sinfo", "--noheader", "--nodes=node2", "--format=%T").strip("*\n"), "down")
        self.assert_same_results(out)


def prepare(slurm):
    """Grades a class on this machine alone. Returns why that is not possible here, or nothing."""
    global SUBMISSIONS, WHOLE, SLURM
    for tool in ("bwrap", "setpriv", "prlimit"):
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if slurm and (why_not := slurm_programs.RealSlurm.why_not()):
        return why_not
    SUBMISSIONS, WHOLE = WORK / "few", WORK / "whole"
    options = "--students 7 --lessons 1 --variety 1 --tricks imports --seed 2".split()
    subprocess.run([sys.executable, "-B", SOURCE / "scripts/make_class.py", SUBMISSIONS, *options], check=True,
                   stdout=subprocess.DEVNULL)  # fmt: skip
    status, output = grade(WHOLE)
    if status == 3 and "The sandbox does not work" in output:
        return in_one_line(output)
    SLURM = (slurm_programs.RealSlurm if slurm else slurm_programs.FakeSlurm)(WORK)
    return ""


def main():
    global COURSE, SOURCE, WORK
    COURSE, SOURCE = (pathlib.Path(word).resolve() for word in sys.argv[1:3])
    slurm = "--slurm" in sys.argv
    rest = [word for word in sys.argv[3:] if word != "--slurm"]
    if not any(not word.startswith("-") for word in rest):
        rest += ["ARealCluster"] if slurm else ["AFakeCluster", "PartsByHand"]
    with tempfile.TemporaryDirectory(prefix="class-") as folder:
        WORK = pathlib.Path(folder)
        WORK.chmod(0o755)
        if why_not := prepare(slurm):
            print(f"skipped: {why_not}")
            return 0
        try:
            return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1
        finally:
            SLURM.stop()


if __name__ == "__main__":
    sys.exit(main())
