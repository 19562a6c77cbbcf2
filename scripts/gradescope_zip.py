#!/usr/bin/env python3
"""Makes the zip that Gradescope's autograder wants: it installs, builds and grades there, in a container of Gradescope's.

    scripts/gradescope_zip.py --lessons 1-4 [--out autograder.zip] [--secret-seed FILE] [--isolation process]

--lessons      those of the assignment; its points are the sum of theirs
--secret-seed  a file with a number: adds hidden cases
--isolation    namespaces, or process (the default), since containers mostly may not make namespaces; docs/grading.md
               says what either keeps apart

The zip holds setup.sh and run_autograder (scripts/gradescope), the options, and the files of this checkout. The same
checkout and options give the same bytes.
"""

import argparse
import gzip
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

from options import Parser

ROOT = pathlib.Path(__file__).resolve().parent.parent
# What a copy without git has in it beside the course.
NOT_OURS = re.compile(r"^(build[^/]*|\.[^/]*)/|/__pycache__/|\.kept|^progress\.json")


def files_of_course():
    """Paths in the project: what git knows, as it is now; without git, all that is not built."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, check=False) if (
        ROOT / ".git").exists() else None  # fmt: skip
    if listed and listed.returncode == 0:
        names = listed.stdout.decode().split("\0")
    else:
        names = [path.relative_to(ROOT).as_posix() for path in ROOT.rglob("*")]
    return sorted(name for name in names if name and (ROOT / name).is_file() and not NOT_OURS.search(name))


def course_archive():
    buffer = io.BytesIO()
    with gzip.GzipFile(fileobj=buffer, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w") as archive:
        for name in files_of_course():
            content = (ROOT / name).read_bytes()
            member = tarfile.TarInfo(name)
            member.size = len(content)
            member.mode = 0o755 if (ROOT / name).stat().st_mode & 0o100 else 0o644
            archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def read_seed(file):
    try:
        seed = pathlib.Path(file).read_text(encoding="utf-8").strip()
    except OSError as error:
        sys.exit(f"gradescope_zip.py: --secret-seed {file}: {error.strerror}.")
    if not re.fullmatch(r"[1-9][0-9]{0,17}", seed):
        sys.exit(f"gradescope_zip.py: --secret-seed {file}: it has no whole number of at most 18 digits, other than 0.")
    return seed


def main():
    parser = Parser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lessons", nargs="+", required=True)
    parser.add_argument("--out", default="autograder.zip", type=pathlib.Path)
    parser.add_argument("--secret-seed")
    parser.add_argument("--isolation", choices=["process", "namespaces"], default="process")
    arguments = parser.parse_args()
    if wrong := [word for word in arguments.lessons if not re.fullmatch(r"[A-Za-z0-9_-]+", word)]:
        parser.error(f"--lessons: {wrong[0]} is no lesson")
    files = {name: (ROOT / "scripts/gradescope" / name).read_bytes() for name in ("setup.sh", "run_autograder")}
    options = ["--isolation", arguments.isolation]
    if arguments.secret_seed:
        files["seed.txt"] = (read_seed(arguments.secret_seed) + "\n").encode()
        options += ["--secret-seed", "seed.txt"]
    files["options"] = "".join(f"{word}\n" for word in [*options, "--lessons", *arguments.lessons]).encode()
    files["course.tar.gz"] = course_archive()
    with zipfile.ZipFile(arguments.out, "w", zipfile.ZIP_DEFLATED) as out:
        for name, content in files.items():
            member = zipfile.ZipInfo(name)
            member.external_attr = (0o100755 if content.startswith(b"#!") else 0o100644) << 16
            out.writestr(member, content)
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.1f} MB. Upload it as the assignment's autograder.")


if __name__ == "__main__":
    main()
