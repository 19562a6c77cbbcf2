"""The files that comparison and benchmarks leave in docs/results: found, read, and searched. Needs no PyTorch."""

import json
import pathlib

from . import tables

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMANDS = {
    "compare_torch_forward": "scripts/compare_torch.py --lessons 7-13 --json {file}",
    "compare_torch_backward": "scripts/compare_torch.py --lessons 15-18 --json {file}",
    "compare_torch_16bit": "scripts/compare_torch.py --lessons 22,24 --json {file}",
    "19_register_tiling_torch": "scripts/compare_torch.py --lessons 9,10,19 --quick --json {file}",
    "compare_torch_errors": "scripts/compare_torch.py --errors --json {file}",
    "bench": "./course bench --solution --json {file}",
}
LESSON_COMMAND = "the command that docs/results/README.md has for it"


class Missing(Exception):
    """A result that is not there; the message says how to make it."""


class Results:
    """The result files of one GPU."""

    def __init__(self, folder: pathlib.Path, gpu: str):
        self.folder, self.gpu, self.read = folder, gpu, {}

    def file(self, name: str) -> pathlib.Path:
        return self.folder / f"{name}_{self.gpu}.json"

    def __getitem__(self, name: str) -> dict:
        if name not in self.read:
            file = self.file(name)
            try:
                self.read[name] = json.loads(file.read_text(encoding="utf-8"))
            except FileNotFoundError:
                command = COMMANDS.get(name, LESSON_COMMAND).format(file=shown(file))
                raise Missing(f"there is no {shown(file)}. On a machine with the GPU: {command}") from None
            except json.JSONDecodeError as error:
                raise Missing(f"{shown(file)} is not JSON: {error}") from error
        return self.read[name]

    def where(self, *names: str) -> str:
        """Place and date of results, for the line below a picture."""
        runs = [self[name] for name in names]
        places = sorted({f'{run["gpu"]}, CUDA {run["cuda"]}' for run in runs})
        torch = sorted({f'PyTorch {run["torch"].split("+")[0]}' for run in runs if run.get("torch")})
        dates = " and ".join(sorted({run["date"] for run in runs}))
        return ", ".join(["; ".join(places), *torch, dates])


def shown(file: pathlib.Path) -> str:
    """A file's path as one would type it in the project's folder."""
    whole = file.absolute()
    return whole.relative_to(ROOT).as_posix() if whole.is_relative_to(ROOT) else str(file)


def cases_with(found: list, **wanted) -> list:
    """Results that have these members, in the order [batch, head, seq, dim], timed."""
    wanted = {"layout": "bhnd", **wanted}
    return [case for case in found if all(case[key] == value for key, value in wanted.items())]


def timed(found: list) -> list:
    return [case for case in found if tables.milliseconds(case["ours"]) is not None]


def require_some(name: str, found: list, what: str) -> list:
    if not found:
        raise Missing(f"{name} has no {what}; measure again, with a larger time budget or a larger GPU.")
    return found
