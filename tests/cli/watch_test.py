#!/usr/bin/env python3
"""Drives `course watch` as a student does: a shell in a pseudo-terminal, keys, an editor that saves.

    watch_test.py COURSE [unittest arguments]

COURSE is the built program; its build folder is used. The files that are saved, and what is reached, lie in a folder of
the test, so that the checkout and a student's progress stay as they are.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COURSE = ""
STUB = (ROOT / "lessons/01_vector_add/vector_add.cu").read_text(encoding="utf-8")
SOLUTION = (ROOT / "solutions/01_vector_add/vector_add.cu").read_text(encoding="utf-8")
ADDS = "c[i] = a[i] + b[i];"
RACE = SOLUTION.replace(ADDS, ADDS + " c[0] = a[i];")  # every thread writes c[0]
BROKEN = STUB.replace("require_size(n);", "require_size(m);", 1)
KEYS = "h hint   f next failure   n next lesson   l list   q quit   ? keys"
PATIENCE = 120  # seconds: the machine may be busy


def wait_until(condition, what):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)


def children_of(pid):
    """Processes whose parent is `pid`."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        except (OSError, UnicodeDecodeError):
            continue
        if int(fields[1]) == pid and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


class Screen:
    """What a terminal shows, and what has left it at the top, for the few codes that the program writes."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.lines, self.scrollback = [[] for _ in range(rows)], []
        self.row = self.column = 0
        self.rest = ""

    def resize(self, rows, columns):
        while len(self.lines) > rows:
            self.scrollback.append(self.lines.pop(0))
            self.row = max(self.row - 1, 0)
        self.lines += [[] for _ in range(rows - len(self.lines))]
        self.rows, self.columns = rows, columns

    def feed(self, text):
        text = self.rest + text
        self.rest = ""
        for part in re.findall(r"\033\[[\d;?]*[A-Za-z]|\033[^\[]?|\033\[[\d;?]*$|[^\033]", text):
            if re.fullmatch(r"\033\[?[\d;?]*", part):
                self.rest = part
            elif part.startswith("\033"):
                self.control(part)
            else:
                self.write(part)

    def control(self, code):
        numbers, letter = [int(n) for n in re.findall(r"\d+", code)], code[-1]
        if letter == "H":
            row, column = (numbers + [1, 1])[:2] if numbers else (1, 1)
            self.row, self.column = min(row, self.rows) - 1, min(column, self.columns) - 1
        elif letter == "J":
            del self.lines[self.row][min(self.column, self.columns - 1):]
            self.lines[self.row + 1:] = [[] for _ in self.lines[self.row + 1:]]
        elif letter == "K":
            del self.lines[self.row][min(self.column, self.columns - 1):]
        elif letter != "m":
            raise AssertionError(f"the screen does not know {code!r}")

    def write(self, character):
        if character == "\r":
            self.column = 0
        elif character == "\n":
            self.down()
        elif character == "\b":
            self.column = max(self.column - 1, 0)
        elif character >= " ":
            if self.column == self.columns:  # only now the cursor leaves the last column
                self.column = 0
                self.down()
            line = self.lines[self.row]
            line += " " * (self.column - len(line))
            line[self.column:self.column + 1] = character
            self.column += 1

    def down(self):
        self.row += 1
        if self.row == self.rows:
            self.row -= 1
            self.scrollback.append(self.lines.pop(0))
            self.lines.append([])

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.lines).rstrip()

    def words(self):
        """All on one line, so that nobody asks where lines are broken."""
        return " ".join(self.text().split())

    def all_words(self):
        above = "\n".join("".join(line) for line in self.scrollback)
        return " ".join((above + "\n" + self.text()).split())


class Session:
    """A shell with job control in a terminal, in which a student types."""

    PROMPT = "ready> "

    def __init__(self, folder, rows=50, columns=80):
        self.folder = folder
        self.screen = Screen(rows, columns)
        environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "ENV", "COLUMNS", "LINES")}
        environment |= {"TERM": "xterm", "PS1": self.PROMPT, "COURSE_PROGRESS": str(folder / "progress.json"),
                        "COURSE": COURSE, "LC_ALL": "C"}
        try:
            self.shell, self.terminal = pty.fork()
        except OSError as error:
            raise unittest.SkipTest(f"no pseudo-terminal here: {error}") from error
        if self.shell == 0:
            os.chdir(folder)
            os.execvpe("sh", ["sh", "-i"], environment)
        self.set_size(rows, columns)
        self.wait_for(self.PROMPT.strip())

    def close(self):
        if self.terminal < 0:
            return
        for child in children_of(self.shell):
            os.kill(child, signal.SIGKILL)
        os.kill(self.shell, signal.SIGKILL)
        os.waitpid(self.shell, 0)
        os.close(self.terminal)
        self.terminal = -1

    def set_size(self, rows, columns):
        self.screen.resize(rows, columns)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self, seconds):
        if not select.select([self.terminal], [], [], seconds)[0]:
            return False
        try:
            self.screen.feed(os.read(self.terminal, 65536).decode(errors="replace"))
        except OSError:  # the shell has gone
            return False
        return True

    def wait_for(self, *words, gone=(), never=()):
        """Reads until all words are on the screen and others are not; fails if one is that must never be."""
        deadline = time.monotonic() + PATIENCE
        while True:
            shown = self.screen.words()
            for word in never:
                if word in shown:
                    raise AssertionError(f"{word!r} is on the screen:\n{self.screen.text()}")
            if all(word in shown for word in words) and not any(word in shown for word in gone):
                return shown
            if time.monotonic() > deadline:
                raise AssertionError(f"{words} never came, or {gone} never went; the screen:\n{self.screen.text()}")
            self.read(0.1)

    def stays_without(self, *words, seconds=0.6):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.read(0.05)
            for word in words:
                if word in self.screen.words():
                    raise AssertionError(f"{word!r} is on the screen:\n{self.screen.text()}")

    def settings(self):
        return termios.tcgetattr(self.terminal)

    def watch(self, *arguments):
        """Starts it, and says which process it is once it is there."""
        self.type("printf '\\033[H\\033[J'; \"$COURSE\" watch " + " ".join(map(str, arguments)) + '; echo "status $?"\n')
        wait_until(lambda: self.watcher() is not None, "the command to start")

    def watcher(self):
        for child in children_of(self.shell):
            try:
                if os.path.realpath(f"/proc/{child}/exe") == COURSE:
                    return child
            except FileNotFoundError:  # it has just ended
                continue
        return None


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name).resolve()
        self.file = self.folder / "kernel.cu"
        self.file.write_text(STUB, encoding="utf-8")
        self.session = None

    def open(self, **size):
        self.session = Session(self.folder, **size)
        self.addCleanup(self.session.close)
        return self.session

    def save(self, text):
        self.file.write_text(text, encoding="utf-8")


class Keys(Case):
    """One long session, as a student has it."""

    def test_a_session(self):
        session = self.open()
        before = session.settings()
        session.watch("01", "--file", self.file)

        with self.subTest("the stub fails, and leads to the notes"):
            session.wait_for("FAIL 01 Vector add 0 of 24 points", "Next: read lessons/01_vector_add/README.md",
                             "cases were run; answered after", KEYS.replace("   ", " "))
            self.assertNotEqual(session.settings()[3], before[3])

        with self.subTest("a file that does not compile shows the first error"):
            self.save(BROKEN)
            session.wait_for("CHECKING 01 Vector add", "Saved at", gone=["FAIL 01"])
            session.wait_for("DOES NOT COMPILE 01 Vector add", "'m' was not declared", "no case was run", never=["FAIL 01"])
            self.assertIn("FAIL 01 Vector add 0 of 24", session.screen.all_words())  # in the scrollback

        with self.subTest("a race is found"):
            self.save(RACE)
            session.wait_for("FAIL 01 Vector add", "error: race:", ADDS, "Next: edit", gone=["DOES NOT COMPILE"])

        with self.subTest("a hint is shown below, and c takes it away"):
            session.type("h")
            session.wait_for("Hint 1 of 5 for lesson 01", "Next: h shows hint 2 of 5.", "FAIL 01 Vector add")
            session.type("h")
            session.wait_for("Hint 2 of 5 for lesson 01")
            session.type("c")
            session.wait_for("FAIL 01 Vector add", "error: race:", gone=["Hint"])

        with self.subTest("the list and the keys are shown"):
            session.type("l")
            session.wait_for("matrix_strides", "dropout")
            session.type("?")
            session.wait_for("c clears the screen", "r runs the check again")
            session.type("\x0c")
            session.wait_for("error: race:", gone=["clears the screen"])

        with self.subTest("what function keys send means nothing"):
            session.type("\033[A\033OQ\033[1;5n\u00e4x")
            session.stays_without("CHECKING", "Hint", seconds=0.3)

        with self.subTest("another size is drawn anew"):
            session.set_size(50, 50)
            wait_until(lambda: not session.read(0.1) and max(map(len, session.screen.text().splitlines())) <= 50,
                       "lines of 50 columns")
            session.wait_for("FAIL 01 Vector add 0 of 24 points", "error: race:", "q quit ? keys")
            session.set_size(50, 80)
            wait_until(lambda: not session.read(0.1) and max(map(len, session.screen.text().splitlines())) > 50,
                       "lines of 80 columns")

        with self.subTest("on a small screen, what to do and the keys are there"):
            session.set_size(12, 40)
            session.type("r")
            session.wait_for("Run again at", "answered after", "Next: edit", "? keys", gone=["CHECKING"])
            session.type("h")
            session.wait_for("? keys")
            self.assertLessEqual(max(map(len, session.screen.text().splitlines())), 40)
            session.set_size(50, 80)
            session.type("c")
            session.wait_for("FAIL 01 Vector add", "error: race:", "Run again at", gone=["Hint"])

        with self.subTest("Ctrl-Z gives the terminal back, and fg takes it again"):
            session.type("\x1a")
            session.wait_for("ready>")
            self.assertEqual(session.settings(), before)
            session.type("fg\n")
            session.wait_for("FAIL 01 Vector add", "error: race:", "q quit", gone=["ready>"])
            self.assertNotEqual(session.settings()[3], before[3])

        with self.subTest("f shows another failed case in full"):
            first_case = lambda: session.screen.text().splitlines()[1]  # noqa: E731
            before_it = first_case()
            session.type("f")
            wait_until(lambda: not session.read(0.1) and first_case() != before_it, "another case")
            self.assertIn("FAIL 01 Vector add", session.screen.words())

        with self.subTest("r runs the check again"):
            session.type("r")
            session.wait_for("Run again at", "answered after", "FAIL 01 Vector add")

        with self.subTest("a pass names the next lesson"):
            self.save(SOLUTION)
            session.wait_for("PASS 01 Vector add 24 of 24 points", "Next: ./course solution 01 shows how the worked "
                             "solution does it; then lesson 02, Matrix strides: read "
                             "lessons/02_matrix_strides/README.md, and press n for it.")
            session.type("f")
            session.wait_for("No case has failed.")

        with self.subTest("n goes on"):
            session.type("n")
            session.wait_for("02 Matrix strides", "Started at", "lessons/02_matrix_strides/matrix_strides.cu",
                             "answered after")
            self.save(STUB)  # of a lesson that is not watched any more
            session.stays_without("CHECKING")

        with self.subTest("q quits"):
            session.type("q")
            wait_until(lambda: session.watcher() is None, "the end of the command")
            session.type("printf '\\033[H\\033[J'; stty -a; echo all right\n")
            session.wait_for("echoe", "all right ready>")
            self.assertEqual(session.settings(), before)

    def test_a_save_while_a_check_is_running_begins_again(self):
        session = self.open()
        session.watch("01", "--file", self.file)
        session.wait_for("FAIL 01 Vector add")
        endless = SOLUTION.replace("i += stride", "i += 0 * stride")
        self.assertNotEqual(endless, SOLUTION)
        self.save(endless)
        session.wait_for("CHECKING 01 Vector add", "running the tests")
        session.type("?")  # keys work meanwhile
        session.wait_for("? shows this")
        watcher = session.watcher()
        checker = children_of(watcher)
        below = [grandchild for child in checker for grandchild in children_of(child)]
        self.save(SOLUTION)
        session.wait_for("PASS 01 Vector add 24 of 24 points", never=["FAIL", "FAILS"])
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in checker + below), "the old check's end")

    def test_the_case_that_failed_last_time_is_run_first_if_it_comes_late(self):
        session = self.open()
        launch, copy = "  if (n == 0) return;  // CUDA refuses", "cudaMemcpyDeviceToHost"
        self.assertIn(launch, SOLUTION)
        self.assertIn(copy, SOLUTION)
        slow = "#include <chrono>\n" + SOLUTION.replace(
            launch, "  using Clock = std::chrono::steady_clock;\n"
                    "  for (const auto end = Clock::now() + std::chrono::milliseconds(80); Clock::now() < end;) {}\n" + launch).replace(
            copy, "cudaMemcpyDeviceToDevice")
        self.save(slow)
        session.watch("01", "--file", self.file)
        shown = session.wait_for("FAIL 01 Vector add", "answered after")
        case = re.search(r"points (host: .*?) \(", shown).group(1)
        self.save(slow + "// saved again\n")
        session.wait_for("FAILS 01 Vector add other cases are running " + case,
                         "the case that failed last time was run first, and fails again")
        session.wait_for("FAIL 01 Vector add", "was run first, then all 16 cases were run; answered after")

    def test_a_check_that_is_killed_is_told_and_the_next_one_runs(self):
        session = self.open()
        self.save(SOLUTION.replace("i += stride", "i += 0 * stride"))
        session.watch("01", "--file", self.file)
        session.wait_for("running the tests")
        os.kill(children_of(session.watcher())[0], signal.SIGKILL)
        session.wait_for("NOT CHECKED 01 Vector add", "ended before it had a result (signal 9)", "then press r")
        self.save(SOLUTION)
        session.wait_for("PASS 01 Vector add")


class Endings(Case):
    """However it ends, the terminal is as it was, and nothing is left running."""

    def end(self, how, status, words=()):
        session = self.open()
        before = session.settings()
        session.watch("01", "--file", self.file)
        session.wait_for("01 Vector add", "q quit")
        watcher = session.watcher()
        wait_until(lambda: children_of(watcher) or session.read(0.01) and "FAIL" in session.screen.words(), "a check")
        below = children_of(watcher)
        how(session, watcher)
        session.wait_for(f"status {status}", "ready>", *words)
        self.assertEqual(session.settings(), before)
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in below), "the end of the check")

    def test_ctrl_c(self):
        self.end(lambda session, _: session.type("\x03"), 130, ["course: interrupted"])

    def test_termination(self):
        self.end(lambda _, watcher: os.kill(watcher, signal.SIGTERM), 143, ["course: interrupted"])

    def test_hang_up(self):
        self.end(lambda _, watcher: os.kill(watcher, signal.SIGHUP), 129)

    def test_ctrl_d(self):
        self.end(lambda session, _: session.type("\x04"), 0)

    def test_killed_while_a_check_is_running(self):
        session = self.open()
        session.watch("01", "--file", self.file)
        session.wait_for("01 Vector add")
        watcher = session.watcher()
        wait_until(lambda: children_of(watcher), "a check")
        below = children_of(watcher)
        os.kill(watcher, signal.SIGKILL)
        wait_until(lambda: not any(os.path.exists(f"/proc/{pid}/exe") for pid in below), "the end of the check")

    def test_a_closed_terminal(self):
        session = self.open()
        session.watch("01", "--file", self.file)
        session.wait_for("01 Vector add")
        watcher = session.watcher()
        os.close(session.terminal)
        session.terminal = -1
        wait_until(lambda: not os.path.exists(f"/proc/{watcher}/exe"), "the end of the command")
        os.waitpid(session.shell, 0)


class Editors(Case):
    """Each way in which editors save is one save, and what they leave beside the file is none."""

    def in_place(self, text):
        self.save(text)

    def rename_over(self, text):
        temporary = self.folder / ".kernel.cu.tmp"
        temporary.write_text(text, encoding="utf-8")
        temporary.rename(self.file)

    def backup_and_create(self, text):
        (self.folder / "4913").write_text("", encoding="utf-8")
        (self.folder / "4913").unlink()
        self.file.rename(self.folder / "kernel.cu~")
        self.save(text)
        (self.folder / "kernel.cu~").unlink()

    def delete_and_create(self, text):
        self.file.unlink()
        time.sleep(0.2)  # long enough to be seen
        self.save(text)

    def folder_anew(self, text):
        shutil.rmtree(self.folder / "lesson")
        time.sleep(0.2)
        (self.folder / "lesson").mkdir()
        self.save(text)

    def test_each_way_to_save(self):
        (self.folder / "lesson").mkdir()
        self.file = self.folder / "lesson" / "kernel.cu"
        self.save(STUB)
        session = self.open()
        session.watch("01", "--file", self.file)
        session.wait_for("FAIL 01 Vector add", "answered after")
        passes = True
        for way in (self.in_place, self.rename_over, self.backup_and_create, self.delete_and_create, self.folder_anew):
            with self.subTest(way.__name__):
                way(SOLUTION if passes else STUB)
                session.wait_for("PASS 01 Vector add" if passes else "FAIL 01 Vector add", "answered after")
                session.stays_without("CHECKING", seconds=0.4)  # once
                passes = not passes
        with self.subTest("what changes nothing"):
            os.utime(self.file)
            session.wait_for("without a change")
            for name in (".kernel.cu.swp", "kernel.cu~", "#kernel.cu#", "other.cu"):
                (self.file.parent / name).write_text("x", encoding="utf-8")
            (self.file.parent / ".#kernel.cu").symlink_to("somebody@host.1")
            session.stays_without("CHECKING")
        with self.subTest("a file that is missing"):
            self.file.unlink()
            session.wait_for("NO FILE 01 Vector add", "It is checked as soon as it is there.")


class Plain(Case):
    """Where output is no terminal: no keys, no codes, one block a check."""

    def start(self, *arguments, lesson=("01",), **streams):
        environment = {**os.environ, "COURSE_PROGRESS": str(self.folder / "progress.json")}
        output = self.folder / "output"
        terminal, keyboard = pty.openpty()  # somebody is there who can end it
        self.addCleanup(os.close, terminal)
        self.addCleanup(os.close, keyboard)
        with output.open("w", encoding="utf-8") as file:
            streams = {"stdin": keyboard, "stdout": file, "stderr": subprocess.STDOUT, **streams}
            process = subprocess.Popen([COURSE, "watch", *lesson, *map(str, arguments)], env=environment, **streams)
        self.addCleanup(process.kill)
        return process, output

    def test_one_block_a_check(self):
        for number, status in ((signal.SIGINT, 130), (signal.SIGTERM, 143)):
            with self.subTest(number.name):
                self.save(STUB)
                process, output = self.start("--file", self.file)
                text = lambda: output.read_text(encoding="utf-8")  # noqa: E731
                wait_until(lambda: "answered after" in text(), "the first block")
                self.save(SOLUTION)
                wait_until(lambda: text().count("answered after") == 2, "the second block")
                os.utime(self.file)
                time.sleep(0.3)
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), status)
                blocks = text().split("\n\n")
                self.assertEqual(len(blocks), 2, text())
                self.assertRegex(blocks[0], r"^FAIL  01 Vector add +0 of 24 points\n")
                self.assertRegex(blocks[1], r"^PASS  01 Vector add +24 of 24 points\n")
                self.assertIn("./course watch 02", " ".join(blocks[1].split()))
                self.assertTrue(text().endswith("course: interrupted\n"))
                self.assertNotIn("\033", text())
                self.assertNotIn("quit", text())
                self.assertLessEqual(max(map(len, text().splitlines())), 80)

    def test_it_ends_when_nobody_reads_it_any_more(self):
        self.save(STUB)
        process, _ = self.start("--file", self.file, stdout=subprocess.PIPE)
        self.assertIn(b"01 Vector add", process.stdout.readline())
        process.stdout.close()
        self.assertNotEqual(process.wait(PATIENCE), 0)

    def test_without_a_name_it_is_the_lesson_that_the_student_is_at(self):
        lessons = sorted(path.parent.name for path in ROOT.glob("lessons/*/lesson.json"))
        progress = self.folder / "progress.json"
        passed = {name: {"passed": True, "checked": "2026-01-01T00:00:00Z"} for name in lessons}
        progress.write_text(json.dumps({"version": 1, "lessons": passed}), encoding="utf-8")
        process, output = self.start(lesson=())
        self.assertEqual(process.wait(PATIENCE), 0)
        self.assertIn("All lessons have passed.", output.read_text(encoding="utf-8"))
        del passed["02_matrix_strides"]
        progress.write_text(json.dumps({"version": 1, "lessons": passed}), encoding="utf-8")
        process, output = self.start(lesson=())
        wait_until(lambda: "answered after" in output.read_text(encoding="utf-8"), "the first block")
        self.assertIn(" 02 Matrix strides ", output.read_text(encoding="utf-8"))
        process.terminate()
        process.wait(PATIENCE)
        remembered = json.loads(progress.read_text(encoding="utf-8"))["lessons"]
        self.assertTrue(remembered["02_matrix_strides"]["checked"])  # its verdict counts as that of check does

    def test_without_any_terminal_it_ends_with_a_sentence(self):
        process, output = self.start("--file", self.file, stdin=subprocess.DEVNULL)
        self.assertEqual(process.wait(PATIENCE), 2)
        self.assertIn("./course check checks once.", " ".join(output.read_text(encoding="utf-8").split()))

    def test_wrong_usage(self):
        for arguments in (("1-3",), ("nope",), ("01", "--file", self.folder / "none.cu")):
            result = subprocess.run([COURSE, "watch", *map(str, arguments)], capture_output=True, text=True, timeout=60,
                                    stdin=subprocess.DEVNULL, check=False)
            self.assertEqual(result.returncode, 2, result.stdout + result.stderr)
            self.assertEqual(result.stdout, "")

    def test_help_fits_a_screen_and_has_examples(self):
        result = subprocess.run([COURSE, "watch", "--help"], capture_output=True, text=True, timeout=60, check=True)
        self.assertIn("\n  ./course watch 09", result.stdout)
        self.assertLessEqual(len(result.stdout.splitlines()), 24)
        self.assertLessEqual(max(map(len, result.stdout.splitlines())), 80)


if __name__ == "__main__":
    COURSE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
