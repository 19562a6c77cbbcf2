#!/usr/bin/env python3
"""Lets bash and zsh complete words of ./course.

    completion_test.py COURSE [unittest arguments]

COURSE is the built program.
"""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COURSE = pathlib.Path()
PATIENCE_SECONDS = 60
SCREEN_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|[\x00\x07\r]")  # colours, padding, bells
# Calls the function as bash would, for the words that are its arguments; what it would ask readline for is shown, too.
AS_BASH_DOES = """
compopt() { echo "compopt $*"; }
eval "$(sh "$ROOT/scripts/completion.sh" bash "$BUILD")"
complete -p course >/dev/null || exit 1
COMP_WORDS=(./course "$@")
COMP_CWORD=$#
_course
if [ "${#COMPREPLY[@]}" -gt 0 ]; then printf '%s\\n' "${COMPREPLY[@]}"; fi
"""


def script(shell, build):
    return subprocess.run(["sh", ROOT / "scripts/completion.sh", shell, build], capture_output=True, text=True,
                          check=True).stdout


def complete(*words, build=None):
    """What bash offers for the last of the words behind ./course."""
    bash = shutil.which("bash")
    if bash is None:
        raise unittest.SkipTest("no bash here")
    environment = {**os.environ, "ROOT": str(ROOT), "BUILD": str(build or COURSE.parent.parent)}
    result = subprocess.run([bash, "--norc", "-c", AS_BASH_DOES, "bash", *words], capture_output=True, text=True,
                            env=environment, timeout=PATIENCE_SECONDS, check=True)
    if result.stderr:
        raise AssertionError(result.stderr)
    return result.stdout.splitlines()


class Bash(unittest.TestCase):
    def test_commands(self):
        self.assertEqual(complete("ch"), ["check"])
        self.assertEqual(complete("simu"), ["simulate"])
        self.assertEqual(complete("xyz"), [])
        shown = complete("")
        help_text = subprocess.run([COURSE, "--help"], capture_output=True, text=True, check=True).stdout
        for command in shown:
            self.assertRegex(help_text, rf"\b{command}\b")
        self.assertGreater(len(shown), 10)
        self.assertNotIn("__complete", shown)

    def test_options_of_each_command(self):
        self.assertEqual(complete("check", "09", "--b"), ["--backend"])
        self.assertEqual(complete("grade", "--si"), ["--similarity"])
        self.assertEqual(complete("check", "--solution", "--so"), [])
        self.assertIn("--yes", complete("--"))
        self.assertEqual(complete("--yes", "check", "09", "--b"), ["--backend"])

    def test_the_script_knows_each_of_them_before_the_first_build(self):
        # It reads them in the sources. A build folder that cannot be made ends it where the build would begin.
        environment = {**os.environ, "COURSE_BUILD_DIR": "/dev/null/build"}
        tried = 0
        for command in complete(""):
            options = [word for word in complete(command, "--") if word.startswith("--")]
            tried += len(options)
            result = subprocess.run(["sh", ROOT / "course", command, *options], capture_output=True, text=True,
                                    env=environment, timeout=PATIENCE_SECONDS, check=False)
            if command not in ("completion", "docs"):
                self.assertEqual((result.returncode, "cannot be made" in result.stderr), (3, True), result.stderr)
        self.assertGreater(tried, 40)

    def test_lessons_by_name_and_by_number(self):
        self.assertEqual(complete("check", "fl"), ["flash1_forward", "flash2_forward", "flash2_backward"])
        self.assertEqual(complete("check", "09"), ["09_flash2_forward"])
        self.assertEqual(complete("profile", "vec"), ["vector_add"])
        self.assertEqual(complete("check", "01_vector_add", "02"), ["02_matrix_strides"])
        self.assertEqual(complete("profile", "01", "02"), [])
        self.assertEqual(complete("grade", "--lessons", "safe"), ["safe_softmax"])
        self.assertEqual(complete("check", "")[0], "01_vector_add")

    def test_diagnostics(self):
        self.assertIn("race", complete("explain", "ra"))
        self.assertEqual(complete("explain", "bad"), ["bad_copy", "bad_memset", "bad_free"])

    def test_values(self):
        self.assertEqual(complete("check", "--backend", ""), ["auto", "cpu", "gpu"])
        self.assertEqual(complete("check", "--backend", "=", "c"), ["cpu"])
        self.assertEqual(complete("check", "--backend", "="), ["auto", "cpu", "gpu"])
        self.assertEqual(complete("completion", ""), ["bash", "zsh"])

    def test_files_where_files_are_wanted(self):
        for words in (("check", "01", "--file", ""), ("simulate", "ide"), ("simulate", "idea.cu", "--", ""),
                      ("grade", "sub"), ("check", "01", "--json", "")):
            self.assertEqual(complete(*words), ["compopt -o default"], words)
        for words in (("run", "01", "--in", ""), ("docs", "--out", "x"), ("grade", "s", "--out", "")):
            self.assertEqual(complete(*words), ["compopt -o dirnames"], words)

    def test_without_a_build_the_same_commands_are_completed(self):
        with tempfile.TemporaryDirectory(prefix="it's empty ") as empty:
            self.assertEqual(complete("ch", build=empty), ["check"])
            self.assertEqual(sorted(complete("", build=empty)), sorted(complete("")))
            self.assertEqual(complete("check", "fl", build=empty), [])

    def test_it_is_fast(self):
        best = min(self.seconds() for _ in range(10))
        self.assertLess(best, 0.1)

    def seconds(self):
        started = time.monotonic()
        subprocess.run([COURSE, "__complete", "check", "fl"], stdout=subprocess.DEVNULL, check=True)
        return time.monotonic() - started


class Interactive(unittest.TestCase):
    """A shell at a terminal, and somebody who presses the tab key."""

    def press_tab(self, command, begin, wanted):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        rc = pathlib.Path(folder.name) / "rc"
        rc.write_text(script(command[0], COURSE.parent.parent), encoding="utf-8")
        try:
            pid, terminal = pty.fork()
        except OSError as error:
            raise unittest.SkipTest(f"no pseudo-terminal here: {error}") from error
        if pid == 0:
            os.chdir(ROOT)
            os.environ.update(TERM="vt100", PS1="$ ", ZDOTDIR=folder.name, HOME=folder.name)
            os.execv(shutil.which(command[0]), command)
        self.addCleanup(os.waitpid, pid, 0)
        self.addCleanup(os.kill, pid, 9)
        os.write(terminal, f"source {rc}; echo rea''dy\n".encode())
        self.read_until(terminal, r"(?ms)^ready\n.*\$ ")
        os.write(terminal, begin.encode() + b"\t")
        self.read_until(terminal, wanted)

    def read_until(self, terminal, pattern):
        text, end = "", time.monotonic() + PATIENCE_SECONDS
        while not re.search(pattern, SCREEN_CODES.sub("", text)):
            if not select.select([terminal], [], [], max(0, end - time.monotonic()))[0]:
                self.fail(f"waited in vain for {pattern!r} in {text!r}")
            try:
                text += os.read(terminal, 4096).decode(errors="replace")
            except OSError:
                self.fail(f"the shell ended: {text!r}")

    def test_bash(self):
        if shutil.which("bash") is None:
            self.skipTest("no bash here")
        command = ["bash", "--norc", "--noprofile", "-i"]
        self.press_tab(command, "./course ch", "check ")
        self.press_tab(command, "./course explain mis\t\t", "missing_syncwarp +missing_wait")
        self.press_tab(command, "./course simulate docs/examples/fir", "first_kernel.cu")

    def test_zsh(self):
        if shutil.which("zsh") is None:
            self.skipTest("no zsh here")
        command = ["zsh", "-f", "-i"]
        self.press_tab(command, "./course ch", "check ")
        self.press_tab(command, "./course explain rac", "race ")
        self.press_tab(command, "./course check 01 --backend=c", "--backend=cpu ")
        self.press_tab(command, "./course simulate docs/examples/fir", "first_kernel.cu")


if __name__ == "__main__":
    COURSE = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
