"""Builds the libraries of lessons' kernels by `./course build`. Needs no PyTorch.

How a library is loaded and called is in common/export/package/kernel_library.py, which packages of `./course export`
have, too.
"""

import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "common/export/package"))
from kernel_library import ENTRIES, POINTERS, RESULTS, Library, LibraryError, addresses_of  # noqa: E402, F401
from kernel_library import make_view, parameter_type  # noqa: E402, F401


def build_libraries(course, lessons: list[int], backend: str = "gpu", which=("--solution",)) -> dict:
    """Builds the kernels of lessons by `./course build`. Gives, by lesson, a path, or a LibraryError that says why not.

    `which`: the words that say which kernels; none mean the student's own.

    @throws LibraryError if the command itself cannot do its work
    """
    words = [str(course), "build", *map(str, lessons), "--backend", backend, "--paths"]
    words += which
    try:
        run = subprocess.run(words, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        raise LibraryError(f"{course} cannot be started: {error}.") from error
    if run.returncode not in (0, 1):
        raise LibraryError(f"`{' '.join(words)}` ended with status {run.returncode}; what it said stands above.")
    return read_build(run.stdout, lessons)


def read_build(text: str, lessons: list[int]) -> dict:
    """What `./course build --paths` printed, by lesson: a path, or a LibraryError with the compiler's words."""
    found, current = {}, None
    for line in text.splitlines():
        verdict, _, rest = line.partition("  ")
        parts = rest.strip().split("  ", 2)
        number = parts[0][:2]
        if verdict.strip() in ("ok", "FAIL") and number.isdigit():
            current = int(number)
            if verdict.strip() == "ok" and len(parts) == 3:
                found[current] = pathlib.Path(parts[2])
            else:
                found[current] = LibraryError("It does not compile.")
        elif current is not None and isinstance(found[current], LibraryError) and line.strip():
            found[current] = LibraryError(f"{found[current]} {line.strip()}")
    for lesson in lessons:
        found.setdefault(lesson, LibraryError("`./course build` said nothing of it."))
    return found
