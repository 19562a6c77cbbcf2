#!/usr/bin/env python3
"""Drives ./course and scripts/setup.sh on machines that lack one thing or another.

cmake, ninja, apt-get and the rest are small stand-ins, so that each case takes milliseconds: what is tested is what
the scripts do with their answers.
"""

import fcntl
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHELL_TOOLS = ("sh", "dash", "mkdir", "grep", "tail", "cmp", "cp", "rm", "id", "cat", "flock", "sleep", "chmod", "dirname",
               "readlink")
# What `cmake` makes, and what `ninja` makes of it: a program that shows its arguments.
CMAKE = 'for last; do :; done\necho configured >>"$CALLS"\n: >"$BUILD/build.ninja"\n'
NINJA = ('echo built >>"$CALLS"\nmkdir -p "$BUILD/bin"\n'
         'printf \'#!/bin/sh\\nfor a; do echo "[$a]"; done\\n\' >"$BUILD/bin/course"\nchmod +x "$BUILD/bin/course"\n')
SETUP_OK = "exit 0\n"


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.project = self.folder / "a project"
        (self.project / "scripts").mkdir(parents=True)
        shutil.copy(ROOT / "course", self.project)
        (self.project / "scripts/setup.sh").write_text(SETUP_OK, encoding="utf-8")
        self.build = self.project / "build"
        self.bin = self.folder / "bin"
        self.bin.mkdir()
        for tool in SHELL_TOOLS:
            if where := shutil.which(tool):
                (self.bin / tool).symlink_to(where)
        self.calls = self.folder / "calls"
        self.program("c++", "exit 0\n")
        self.program("cmake", CMAKE)
        self.program("ninja", NINJA)

    def program(self, name, text):
        path = self.bin / name
        path.unlink(missing_ok=True)
        path.write_text("#!/bin/sh\n" + text, encoding="utf-8")
        path.chmod(0o755)

    def environment(self, **extra):
        return {"PATH": str(self.bin), "CALLS": str(self.calls), "BUILD": str(self.build), "HOME": "/", **extra}

    def course(self, *arguments, cwd=None, script=None, **extra):
        return subprocess.run([script or self.project / "course", *arguments], cwd=cwd or self.folder, timeout=30,
                              capture_output=True, text=True, env=self.environment(**extra), check=False)

    def called(self):
        return self.calls.read_text(encoding="utf-8").split() if self.calls.exists() else []


class Script(Case):
    def test_first_run_configures_and_builds_and_later_ones_only_build(self):
        self.assertEqual(self.course("list").returncode, 0)
        self.assertEqual(self.called(), ["configured", "built"])
        self.course("list")
        self.assertEqual(self.called(), ["configured", "built", "built"])

    def test_arguments_arrive_as_they_were_without_yes(self):
        result = self.course("check", "a b", "--yes", "", "--file", "it's", "*")
        self.assertEqual(result.stdout, "[check]\n[a b]\n[]\n[--file]\n[it's]\n[*]\n")

    def test_before_the_first_build_an_unknown_command_or_option_is_refused_at_once(self):
        (self.project / "common").mkdir()
        shutil.copytree(ROOT / "common/cli", self.project / "common/cli")
        for arguments, name in ((("check", "01", "--no-color"), "option --no-color"), (("checked", "01"), "command checked"),
                                (("check", "--jsn=x"), "option --jsn"), (("--version",), "option --version")):
            result = self.course(*arguments)
            self.assertEqual((result.returncode, self.called()), (2, []))
            command = arguments[0] + " " if arguments[0] == "check" else ""
            self.assertEqual(result.stderr,
                             f"course: There is no {name}. `./course {command}--help` says what there is.\n")
        for arguments in (("check", "--json=x", "--list-cases", "--help"), ("simulate", "--use_fast_math"), ("--help",)):
            self.assertEqual(self.course(*arguments).returncode, 0)
            shutil.rmtree(self.build)
        self.course("list")
        self.assertEqual(self.course("checked", "--no-color").returncode, 0)  # the program's business

    def test_the_site_takes_no_course_program(self):
        self.program("ninja", 'echo "$@" >>"$CALLS"\n')
        site = self.project / "scripts/build_site.py"
        site.write_text('#!/bin/sh\nfor a; do echo "[$a]"; done\nexit 3\n', encoding="utf-8")
        site.chmod(0o755)
        steps = f"[--steps]\n[{self.build}/bin/export_steps]\n"
        for arguments, out in (((), self.build / "site"), (("--out", "a b"), "a b"), (("--out=x", "--yes"), "x")):
            result = self.course("docs", *arguments)
            self.assertEqual((result.stdout, result.returncode), (f"[--out]\n[{out}]\n{steps}", 3))
            self.assertEqual(self.called()[-3:], [str(self.build).split()[0], str(self.build).split()[1], "export_steps"])
            self.assertNotIn("some minutes", result.stderr)

    def test_what_else_docs_is_called_with_goes_to_the_course_program(self):
        for arguments in (("--help",), ("--out",), ("--out", ""), ("x",), ("--out", "a", "b")):
            result = self.course("docs", *arguments)
            self.assertEqual(result.stdout, "".join(f"[{a}]\n" for a in ("docs", *arguments)))

    def test_relative_call_and_relative_build_folder(self):
        self.build = self.folder / "elsewhere"
        result = self.course("list", script="a project/course", COURSE_BUILD_DIR="elsewhere")
        self.assertEqual(result.stdout, "[list]\n")
        self.assertTrue((self.folder / "elsewhere/build.ninja").exists())
        self.assertFalse((self.project / "build").exists())

    def test_call_by_name_in_its_own_folder(self):
        result = subprocess.run(["sh", "course", "list"], cwd=self.project, capture_output=True, text=True,
                                env=self.environment(), check=False)
        self.assertEqual(result.stdout, "[list]\n")

    def test_new_list_of_packages_is_looked_at_again(self):
        self.course("list")
        (self.project / "scripts/setup.sh").write_text(SETUP_OK + "# changed\n", encoding="utf-8")
        self.course("list")
        self.assertEqual(self.called(), ["configured", "built", "configured", "built"])

    def test_compiler_that_is_gone_is_missing_again(self):
        self.course("list")
        (self.bin / "c++").unlink()
        (self.project / "scripts/setup.sh").write_text("echo no compiler >&2\nexit 3\n", encoding="utf-8")
        result = self.course("list")
        self.assertEqual((result.returncode, result.stderr), (3, "no compiler\n"))

    def test_moved_project_is_configured_afresh(self):
        self.course("list")
        (self.build / "CMakeCache.txt").write_text("CMAKE_HOME_DIRECTORY:INTERNAL=/old\n", encoding="utf-8")
        self.course("list")
        self.assertEqual(self.called().count("configured"), 2)

    def test_failed_configuration_shows_its_end(self):
        self.program("cmake", "echo head; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do echo line $i; done; exit 1\n")
        result = self.course("list")
        self.assertEqual(result.returncode, 3)
        self.assertIn("could not be configured", result.stderr)
        self.assertIn("line 16", result.stderr)
        self.assertNotIn("head", result.stderr)
        self.assertIn("course.log", result.stderr)

    def test_failed_build_shows_its_end(self):
        self.program("ninja", "echo FAILED: x.o; exit 1\n")
        result = self.course("list")
        self.assertEqual(result.returncode, 3)
        self.assertIn("FAILED: x.o", result.stderr)

    def test_full_disk_is_named(self):
        self.program("ninja", "echo 'x.o: No space left on device'; exit 1\n")
        result = self.course("list")
        self.assertEqual(result.returncode, 3)
        self.assertIn("the disk is full", result.stderr)
        self.assertIn("COURSE_BUILD_DIR", result.stderr)

    def test_really_full_disk(self):
        self.build.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,nr_inodes=3", "none", self.build], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("mounting takes root")
        self.addCleanup(subprocess.run, ["umount", self.build], check=False)
        (self.build / "filler").write_text("x" * 4096, encoding="utf-8")
        result = self.course("list")
        self.assertEqual(result.returncode, 3, result.stderr)
        self.assertIn("cannot be written", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)

    def test_read_only_build_folder(self):
        self.build.mkdir()
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "none", self.build], capture_output=True,
                          check=False).returncode != 0:
            self.skipTest("mounting takes root")
        self.addCleanup(subprocess.run, ["umount", self.build], check=False)
        result = self.course("list")
        self.assertEqual(result.returncode, 3)
        self.assertIn("cannot be written", result.stderr)
        self.assertEqual(len(result.stderr.splitlines()), 2, result.stderr)

    def test_through_a_symbolic_link(self):
        link = self.folder / "link"
        link.symlink_to(self.project / "course")
        self.assertEqual(self.course("list", script=link).stdout, "[list]\n")

    def test_on_a_terminal_the_steps_of_the_build_are_counted(self):
        self.program("ninja", 'echo "[3/7] Building x"\n' + NINJA)
        reader, writer = os.openpty()
        self.addCleanup(os.close, reader)
        result = subprocess.run([self.project / "course", "list"], stdout=subprocess.PIPE, stderr=writer, timeout=30,
                                env=self.environment(), check=False)
        os.close(writer)
        self.assertEqual((result.returncode, result.stdout), (0, b"[list]\n"))
        self.assertIn(b"\rbuilding the course program, step 3/7\033[K", os.read(reader, 4096))

    def test_without_a_terminal_a_line_tells_of_the_build_now_and_then(self):
        self.program("ninja", 'for i in 1 19 20 21 40; do echo "[$i/45] Building x"; done\n' + NINJA)
        said = self.course("list").stderr.splitlines()
        self.assertEqual(said[-2:], ["course: building the course program, step 20/45",
                                     "course: building the course program, step 40/45"])

    def test_one_that_waits_for_another_says_so(self):
        self.build.mkdir()
        with open(self.build / ".lock", "w", encoding="utf-8") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            process = subprocess.Popen([self.project / "course", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       text=True, env=self.environment())  # fmt: skip
            self.assertIn("another ./course is building here", process.stderr.readline())
        self.assertEqual(process.communicate(timeout=30)[0], "[list]\n")
        self.assertEqual(self.called(), ["configured", "built"])

    def test_interrupted_while_building(self):
        self.program("ninja", 'echo started >>"$CALLS"\nsleep 20\n')
        process = subprocess.Popen([self.project / "course", "list"], stderr=subprocess.PIPE, text=True,
                                   env=self.environment(), start_new_session=True)
        for _ in range(100):
            if "started" in self.called():
                break
            time.sleep(0.05)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        _, errors = process.communicate(timeout=10)
        self.assertEqual(process.returncode, 130)
        self.assertEqual(errors.splitlines()[-1], "course: interrupted")


class Doctor(Case):
    """./course doctor where there is no program yet; setup.sh is a stand-in that knows what is missing."""

    def setUp(self):
        super().setUp()
        shutil.copy(ROOT / "scripts/doctor.sh", self.project / "scripts")
        for tool in ("head",):
            (self.bin / tool).symlink_to(shutil.which(tool))
        self.program("cmake", f'[ "$1" = --version ] && {{ echo "cmake version 3.25.1"; exit 0; }}\n{CMAKE}')
        self.program("c++", "echo 12.2.0\n")
        self.program("apt-get", 'echo "apt $*" >>"$CALLS"\n')

    def lacks(self, *lines):
        status = "".join(f"echo '{line}'\n" for line in lines)
        (self.project / "scripts/setup.sh").write_text(
            f'if [ "$2" = --status ]; then\n{status}exit 0\nfi\necho "setup $*" >>"$CALLS"\n', encoding="utf-8")

    def test_what_is_missing_is_said_and_nothing_is_installed(self):
        self.lacks("there g++ compiles", "missing cmake configures the build", "missing libfmt-dev writes numbers")
        result = self.course("doctor", "--yes")
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertEqual(result.stderr.splitlines(), [
            "course: cmake is missing: configures the build",
            "course: libfmt-dev is missing: writes numbers",
            "course: this installs what is missing: sudo apt-get install -y cmake libfmt-dev"])
        self.assertEqual(self.called(), [])

    def test_what_is_too_old_is_said(self):
        self.lacks("there g++ compiles")
        for compiler, cmake, words in (("11.4.0", "3.25.1", "g++ 11.4.0 is too old"),
                                       ("12.2.0", "3.18.4", "cmake 3.18.4 is too old"),
                                       ("9", "2.8.12", "cmake 2.8.12 is too old")):
            self.program("c++", f"echo {compiler}\n")
            self.program("cmake", f"echo cmake version {cmake}\n")
            result = self.course("doctor")
            self.assertEqual(result.returncode, 3)
            self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
            self.assertIn(words, result.stderr)

    def test_a_program_that_is_there_tells_the_rest(self):
        self.lacks("missing ninja-build runs the build")
        (self.build / "bin").mkdir(parents=True)
        program = self.build / "bin/course"
        program.write_text('#!/bin/sh\necho "examined $*"\n', encoding="utf-8")
        program.chmod(0o755)
        result = self.course("doctor", "--json")
        self.assertEqual((result.returncode, result.stdout), (0, "examined doctor --json\n"))
        self.assertIn("ninja-build is missing", result.stderr)

    def test_with_all_that_it_takes_the_program_is_built(self):
        self.lacks("there g++ compiles")
        self.program("c++", "echo 13.2.0\n")
        result = self.course("doctor")
        self.assertEqual((result.returncode, result.stdout, result.stderr.count("missing")), (0, "[doctor]\n", 0))
        self.assertIn("built", self.called())

    def test_completion_needs_no_build(self):
        shutil.copy(ROOT / "scripts/completion.sh", self.project / "scripts")
        shutil.copytree(ROOT / "common/cli", self.project / "common/cli")
        for tool in ("sed", "tr"):
            (self.bin / tool).symlink_to(shutil.which(tool))
        result = self.course("completion", "bash")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn("complete -F _course course", result.stdout)
        self.assertRegex(result.stdout, r"compgen -W '.*\bcheck\b")
        self.assertIn(f"{self.build}/bin/course", result.stdout)
        self.assertFalse(self.build.exists())
        self.assertEqual(self.called(), [])


class Setup(Case):
    """scripts/setup.sh on a machine where nothing is found, because PATH holds only stand-ins."""

    def setup(self, *arguments, **extra):
        # The headers of this machine are out of its sight.
        text = (ROOT / "scripts/setup.sh").read_text(encoding="utf-8").replace("/usr/include", str(self.folder / "include"))
        script = self.folder / "setup.sh"
        script.write_text(text.replace("/usr/local/include", "/none"), encoding="utf-8")
        return subprocess.run(["sh", script, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              env=self.environment(CXX="c++", **extra), timeout=30, check=False)

    def test_lists_what_is_missing(self):
        (self.bin / "c++").unlink()
        missing = self.setup("check", "--list").stdout.split()
        self.assertIn("g++", missing)
        self.assertIn("nlohmann-json3-dev", missing)
        self.assertNotIn("cmake", missing)
        self.assertNotIn("libbenchmark-dev", missing)
        self.assertIn("libbenchmark-dev", self.setup("test", "--list").stdout.split())

    def test_says_of_each_package_whether_it_is_there_and_what_it_gives(self):
        lines = self.setup("check", "--status").stdout.splitlines()
        states = {line.split()[1]: line.split()[0] for line in lines}
        self.assertEqual((states["cmake"], states["libfmt-dev"]), ("there", "missing"))
        self.assertIn("missing libfmt-dev writes numbers and words", lines)
        for group in ("check", "docs", "grade", "test"):
            missing = [line.split()[1] for line in self.setup(group, "--status").stdout.splitlines()
                       if line.startswith("missing ")]
            self.assertEqual(sorted(missing), sorted(self.setup(group, "--list").stdout.split()))

    def test_the_site_needs_packages_of_its_own(self):
        self.assertNotIn("doxygen", self.setup("check", "--list").stdout.split())
        self.assertIn("doxygen", self.setup("docs", "--list").stdout.split())
        self.assertNotIn("libbenchmark-dev", self.setup("docs", "--list").stdout.split())
        self.assertIn("doxygen", self.setup("test", "--list").stdout.split())

    def test_a_package_that_apt_does_not_know_leaves_out_only_itself(self):
        self.program("id", "echo 0\n")
        self.program("apt-get", 'case " $* " in *" chromium "*) exit 100 ;; esac\necho "$*" | tr " " "\n" >>"$CALLS"\n')
        self.program("tr", f'exec {shutil.which("tr")} "$@"\n')
        result = self.setup("test")
        self.assertEqual(result.returncode, 0)
        self.assertIn("apt has no chromium; what uses it is left out", result.stderr)
        self.assertIn("codespell", self.called())

    def test_without_root_prints_the_one_line(self):
        (self.bin / "c++").unlink()
        self.program("id", "echo 1000\n")
        self.program("apt-get", 'echo "apt $*" >>"$CALLS"\n')
        result = self.setup("check", "--yes")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stderr.splitlines()[-1], r"^sudo apt-get install -y g\+\+ .*libfmt-dev")
        self.assertEqual(self.called(), [])

    def test_root_installs_at_once(self):
        self.program("id", "echo 0\n")
        self.program("apt-get", 'echo "$1" >>"$CALLS"\n')
        self.assertEqual(self.setup("check").returncode, 0)
        self.assertEqual(self.called(), ["install"])

    def test_package_index_is_fetched_when_needed(self):
        self.program("id", "echo 0\n")
        self.program("apt-get", 'echo "$1" >>"$CALLS"\n[ "$1" = update ] || grep -q update "$CALLS"\n')
        self.assertEqual(self.setup("check").returncode, 0)
        self.assertEqual(self.called(), ["install", "update", "install"])

    def test_apt_that_fails(self):
        self.program("id", "echo 0\n")
        self.program("apt-get", "echo no network; exit 100\n")
        result = self.setup("check", COURSE_SETUP_LOG=str(self.folder / "log"))
        self.assertEqual(result.returncode, 3)
        self.assertIn("no network", result.stderr)

    def test_sudo_without_password_is_used_with_yes(self):
        self.program("id", "echo 1000\n")
        self.program("sudo", '[ "$1" = -n ] && shift\nexec "$@"\n')
        self.program("true", "exit 0\n")
        self.program("apt-get", 'echo "$1" >>"$CALLS"\n')
        self.assertEqual(self.setup("check", "--yes").returncode, 0)
        self.assertEqual(self.called(), ["install"])
        self.assertEqual(self.setup("check").returncode, 3)  # nobody to ask, and nobody said yes

    def test_distribution_without_apt(self):
        result = self.setup("check")
        self.assertEqual(result.returncode, 3)
        self.assertIn("package manager", result.stderr)


if __name__ == "__main__":
    unittest.main()
