"""Runs a program under ncu and reads its report; keeps results in a file that is whole after every one."""

import json
import os
import pathlib
import re
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
import compare_sanitizer  # noqa: E402
import measure_counters  # noqa: E402

WORDS = 600  # characters of what a program said that a result keeps


class ProfileError(Exception):
    """A program that could not be profiled; the message says why."""


def short_name(demangled: str) -> str:
    """A kernel's name without namespaces, types of constants and parameters: "keys_kernel<64>"."""
    plain = re.sub(r"(<unnamed>|\(anonymous namespace\)|unnamed)::", "", demangled)
    name, bracket, arguments = measure_counters.plain_name(plain).partition("<")
    return name.rpartition("::")[2] + bracket + arguments


def metric_value(action, name: str):
    """A metric's number; None if ncu has none."""
    return measure_counters.number(action.metric_by_name(name).as_double()) if name in action.metric_names() else None


def launch_of(action) -> dict:
    """Kernel, grid and block."""
    return {"kernel": short_name(action.name(action.NameBase_DEMANGLED)),
            "grid": [metric_value(action, f"launch__grid_dim_{axis}") for axis in "xyz"],
            "block": [metric_value(action, f"launch__block_dim_{axis}") for axis in "xyz"]}  # fmt: skip


def profile(ncu_report, read, command: list, report: pathlib.Path, options: list, seconds: float) -> list:
    """What `read` gives of each kernel of a program, in order; it gets ncu_report's action. ncu runs in the project's
    folder, for so many seconds at most.

    @throws ProfileError if there are none
    """
    words = ["ncu", "--clock-control", "none", *options, "--force-overwrite", "--export", str(report), *command]
    report.unlink(missing_ok=True)
    status, said = compare_sanitizer.run_limited([str(word) for word in words], seconds, cwd=ROOT)
    kernels = []
    if report.is_file():
        context = ncu_report.load_report(str(report))
        for number in range(context.num_ranges()):
            kernels += [read(action) for action in context.range_by_idx(number)]
    if not kernels:
        how = "took too long" if status is None else f"ended with status {status}"
        raise ProfileError(f"ncu {how} and gave no kernels: {said.strip()[-WORDS:]}")
    return kernels


class Results:
    """A file of results: a head, and entries of which each has a line for each of its launches.

    An entry is found by the members in `key`. The file is written after each one, so that a run that is cut off loses
    one at most.
    """

    def __init__(self, file: pathlib.Path, key: tuple, resume: bool):
        self.file, self.key = file, key
        self.head, self.entries = {}, []
        if resume and file.exists():
            found = json.loads(file.read_text(encoding="utf-8"))
            self.entries = found.pop("entries")
            self.head = found

    def entry(self, **members) -> dict:
        """The entry with these members, new if there is none."""
        wanted = {name: members[name] for name in self.key}
        for entry in self.entries:
            if all(entry[name] == value for name, value in wanted.items()):
                return entry
        self.entries.append(wanted)
        return self.entries[-1]

    def save(self):
        self.entries.sort(key=lambda entry: entry[self.key[0]])
        partial = self.file.with_suffix(".new")
        partial.write_text(written(self.head, self.entries), encoding="utf-8")
        os.replace(partial, self.file)


def lines_of(value, indent: int) -> str:
    """JSON in which lists of launches have a line each, and so have the members of what holds them."""
    if isinstance(value, dict) and any(isinstance(member, (dict, list)) for member in value.values()) and indent < 8:
        members = (f"{' ' * (indent + 2)}{json.dumps(name)}: {lines_of(member, indent + 2)}"
                   for name, member in value.items())  # fmt: skip
        return "{\n" + ",\n".join(members) + "\n" + " " * indent + "}"
    if isinstance(value, list) and value and isinstance(value[0], dict):
        rows = (" " * (indent + 2) + json.dumps(row, ensure_ascii=False) for row in value)
        return "[\n" + ",\n".join(rows) + "\n" + " " * indent + "]"
    return json.dumps(value, ensure_ascii=False)


def written(head: dict, entries: list) -> str:
    """The whole file."""
    members = [f"  {json.dumps(name)}: {lines_of(value, 2)}" for name, value in head.items()]
    rows = ",\n".join("    " + lines_of(entry, 4) for entry in entries)
    return "{\n" + ",\n".join([*members, f'  "entries": [\n{rows}\n  ]']) + "\n}\n"


def until_closed(show, results):
    """show(results), which prints; ends quietly if what it is piped into, as head, wants no more."""
    try:
        show(results)
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python flushes once more, and complains


class Clock:
    """The time that a script may take."""

    def __init__(self, seconds: float):
        self.end = time.monotonic() + seconds

    def left(self) -> float:
        return self.end - time.monotonic()
