"""Finds the numbers of docs/results/bounds_h200.json that notes quote."""


class QuoteError(Exception):
    """A name that finds no number, or more than one; the message says why."""


def the_one(found: list, what: str, name: str):
    """@throws QuoteError unless there is exactly one"""
    if len(found) != 1:
        raise QuoteError(f"\"{name}\" names {len(found)} {what} of the bounds instead of 1")
    return found[0]


def measurement(entries: list, lesson: str, words: str, name: str) -> dict:
    """The measurement of a lesson whose name has all of these words, which "+" joins; "*" is every word."""
    wanted = set(words.split("+")) - {"*"}
    return the_one([entry for entry in entries if entry["lesson"].startswith(f"{lesson}_")
                    and wanted <= set(entry["measurement"].split())], "measurements", name)  # fmt: skip


def kernel(kernels: list, words: str, name: str) -> dict:
    """The kernel whose name begins so; of several, "@2" takes the second."""
    begins, _, number = words.partition("@")
    found = [one for one in kernels if one["kernel"].startswith(begins)]
    return the_one(found[int(number) - 1:int(number)] if number else found, "kernels", name)


def quoted(entries: list, name: str) -> tuple[str, float]:
    """The name of a number, and the number, of "LESSON:WORDS:KERNEL:NUMBER", as
    "15:flash2_backward+D=64:keys:fma_pipe_percent" or "05:cols=1024:row_stats:waiting_warps.barrier".

    @throws QuoteError if it finds none
    """
    parts = name.split(":")
    if len(parts) != 4:
        raise QuoteError(f"\"{name}\" is not LESSON:WORDS:KERNEL:NUMBER")
    found = kernel(measurement(entries, parts[0], parts[1], name).get("kernels", []), parts[2], name)
    member, _, inner = parts[3].partition(".")
    value = found.get(member)
    if inner:
        value = (value or {}).get(inner)
    if value is None:
        raise QuoteError(f"\"{name}\" names no number of the bounds")
    return member, value
