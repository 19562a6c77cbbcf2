"""What the tests share that drive the `course` program as a person would."""

import os
import pathlib
import pty
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SOLUTION = ROOT / "solutions/01_vector_add/vector_add.cu"
COURSE = ""  # the built program; main() sets it


def course(*arguments, env=None, cwd=None):
    return subprocess.run([COURSE, *map(str, arguments)], capture_output=True, text=True, timeout=240, cwd=cwd,
                          env={**os.environ, **(env or {})}, check=False)


def course_on_terminal(*arguments, env=None):
    """What the program writes to a terminal of 80 columns."""
    try:
        parent, child = pty.openpty()
    except OSError as error:
        raise unittest.SkipTest(f"no pseudo-terminal here: {error}") from error
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM")} | {"TERM": "xterm"}
    process = subprocess.Popen([COURSE, *arguments], stdin=child, stdout=child, stderr=child,
                               env={**environment, **(env or {})})
    os.close(child)
    output = b""
    while True:
        try:
            chunk = os.read(parent, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        output += chunk
    os.close(parent)
    return process.wait(), output.decode()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def assert_one_message(self, result, *words):
        """One or two lines on stderr that say what was wrong, and no other output."""
        self.assertEqual(result.stdout, "")
        self.assertLessEqual(len(result.stderr.strip().splitlines()), 4, result.stderr)
        text = " ".join(result.stderr.split())
        for word in words:
            self.assertIn(word, text)


def main():
    """Runs the tests of the calling program, whose first argument is COURSE."""
    global COURSE
    COURSE = str(pathlib.Path(sys.argv.pop(1)).resolve())
    with tempfile.TemporaryDirectory() as scratch:
        os.environ["COURSE_PROGRESS"] = str(pathlib.Path(scratch) / "progress.json")  # not the student's own
        unittest.main()
