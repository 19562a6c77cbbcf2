#!/usr/bin/env python3
"""What a student's fork shows of its lessons: scripts/check_begun.py, and the workflow that runs it; and that the dev
container fits the Dockerfile, which bare_machine.sh runs."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PASSED = {"number": 1, "name": "vector_add", "status": "pass", "points": 24, "max_points": 24,
          "cases": [{"name": "adds", "status": "pass"}]}  # fmt: skip
FAILED = {"number": 3, "name": "weighted_row_sum", "status": "fail", "points": 5, "max_points": 28,
          "cases": [{"name": "sums", "status": "pass"}, {"name": "strides", "status": "fail"}]}  # fmt: skip
BROKEN = {"number": 4, "name": "safe_softmax", "status": "error", "points": 0, "max_points": 34,
          "cases": [{"name": "compiles", "status": "fail"}]}  # fmt: skip


class AFork(unittest.TestCase):
    def check(self, lessons, output="", status=0):
        """Runs the script with a course program that says so. Lesson 2 is not begun."""
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            listed = [{"number": 2, "status": "new"}, *({"number": one["number"], "status": "started"} for one in lessons)]
            (folder / "list.json").write_text(json.dumps({"lessons": listed}), encoding="utf-8")
            (folder / "check.json").write_text(json.dumps({"lessons": lessons}), encoding="utf-8")
            (folder / "output").write_text(output, encoding="utf-8")
            program = folder / "course"
            program.write_text(
                f"""#!/bin/sh
cd {folder}
if [ "$1" = list ]; then exec cat list.json; fi
echo "$@" >arguments
for last; do :; done
cp check.json "$last"
cat output
exit {status}
""",
                encoding="utf-8",
            )
            program.chmod(0o755)
            summary = folder / "summary.md"
            ended = subprocess.run([sys.executable, "-B", ROOT / "scripts/check_begun.py", "--course", program, "--summary",
                                    summary], capture_output=True, encoding="utf-8", check=False)  # fmt: skip
            arguments = folder / "arguments"
            self.arguments = arguments.read_text(encoding="utf-8").split() if arguments.exists() else None
            text = summary.read_text(encoding="utf-8")
            self.assertEqual(ended.stdout, text, ended.stderr)
            return ended.returncode, text

    def test_checks_the_lessons_that_are_begun_and_shows_what_was_said(self):
        status, text = self.check([PASSED, FAILED, BROKEN], "FAIL 03 weighted_row_sum\n", status=1)
        self.assertEqual(status, 1)
        self.assertEqual(self.arguments[:5], ["check", "1", "3", "4", "--json"])
        self.assertIn("| 01 vector_add | 24 | 24 | passed |\n", text)
        self.assertIn("| 03 weighted_row_sum | 5 | 28 | 1 of 2 cases fail |\n", text)
        self.assertIn("| 04 safe_softmax | 0 | 34 | does not compile |\n", text)
        self.assertIn("\n```text\nFAIL 03 weighted_row_sum\n```\n", text)

    def test_shows_backquotes_as_they_are(self):
        _, text = self.check([FAILED], "````\n# Points: 28\n")
        self.assertIn("\n`````text\n````\n# Points: 28\n`````\n", text)

    def test_without_a_lesson_begun_is_content(self):
        status, text = self.check([])
        self.assertEqual((status, self.arguments), (0, None))
        self.assertIn("No lesson is begun", text)

    def test_has_a_workflow_that_runs_what_there_is(self):
        workflow = (ROOT / ".github/workflows/lessons.yml").read_text(encoding="utf-8")
        self.assertEqual(re.findall(r"uses: (\S+)@", workflow), ["actions/checkout"])
        for name in re.findall(r"run: (?:python3 -B )?(\S+)", workflow):
            self.assertTrue((ROOT / name).is_file(), name)

    def test_has_a_dev_container_that_fits_the_dockerfile(self):
        words = [line.split(maxsplit=1) for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines()
                 if line and not line.startswith("#")]  # fmt: skip
        lines = {word: [rest for name, rest in words if name == word] for word, _ in words}
        self.assertLessEqual(set(lines), {"FROM", "ENV", "WORKDIR", "COPY", "RUN", "USER", "CMD"})
        self.assertEqual([line for line in lines["RUN"] if line.endswith("\\")], [])
        self.assertEqual([line for line in lines["RUN"] if re.search(r"\bapt(-get)?\b.*install", line)], [])
        self.assertEqual(lines["RUN"][-1], "./course doctor")
        file = ROOT / ".devcontainer/devcontainer.json"
        container = json.loads(file.read_text(encoding="utf-8"))
        self.assertEqual((file.parent / container["build"]["dockerfile"]).resolve(), ROOT / "Dockerfile")
        self.assertEqual((file.parent / container["build"]["context"]).resolve(), ROOT)
        self.assertEqual([container["workspaceFolder"]], lines["WORKDIR"])
        self.assertEqual([container["remoteUser"]], lines["USER"])


if __name__ == "__main__":
    unittest.main()
