"""What a picture of a trace shows, as sentences: for its alternative text and for the terminal."""

import pathlib

import trace_traffic
from trace_steps import SECTOR_BYTES


def plural(count, thing):
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def place_of(block):
    return "({},{},{})".format(*block)


def array_of(step):
    return step.array or ("memory without a name" if step.memory == "global" else "shared memory")


def line_of(step):
    """ "vector_add.cu:22"; the line alone if the file is not known."""
    name = pathlib.PurePosixPath(step.file).name
    return f"{name}:{step.line}" if name else "an unknown line"


def name_of(step):
    return f"{step.kind} of {array_of(step)}"


def elements_of(step, count):
    return f"{count:,} elements of {plural(step.bytes, 'byte')}"


def differences(values):
    return {after - before for before, after in zip(values, values[1:])}


def pattern_of(step):
    """Where the lanes' elements lie: "32 lanes touch 32 consecutive elements of 4 bytes"."""
    places, lanes = step.addresses, plural(len(step.lanes), "lane")
    touch = "touches" if len(places) == 1 else "touch"
    different = sorted(set(places))
    if len(different) == 1:
        return f"{lanes} {touch} {'1' if len(places) == 1 else 'the same'} element of {plural(step.bytes, 'byte')}"
    consecutive = differences(different) == {step.bytes}
    if consecutive:
        text = f"{lanes} {touch} {len(different)} consecutive elements of {plural(step.bytes, 'byte')}"
        if len(different) < len(places):
            return text
        if differences(places) == {step.bytes}:
            return text
        return text + (", in reverse" if differences(places) == {-step.bytes} else ", not in the order of the lanes")
    if len(differences(places)) == 1:
        apart = differences(places).pop()
        side = "after" if apart > 0 else "before"
        return (f"{lanes} {touch} {elements_of(step, len(different))}, each {plural(abs(apart), 'byte')} {side} that of "
                "the lane before")
    spread = plural(different[-1] + step.bytes - different[0], "byte")
    return f"{lanes} {touch} {elements_of(step, len(different))}, spread over {spread}"


def cost_of(step):
    """ "4 sectors, all bytes used", by the counts of the simulator."""
    if step.memory == "shared":
        text, ideal = plural(step.wavefronts, "wavefront"), trace_traffic.wavefronts_without_conflicts(step)
        return text + (f" where {ideal} would do: a bank conflict" if step.wavefronts > ideal else ", no bank conflict")
    text, touched = plural(step.sectors, "sector"), len(trace_traffic.sectors_touched(step))
    used, moved = trace_traffic.bytes_touched(step), touched * SECTOR_BYTES
    if step.sectors != touched:
        return f"{text}, because lanes that meet at one element are served one after the other"
    return f"{text}, " + ("all bytes used" if used == moved else f"{used:,} of {moved:,} bytes used")


def looks_of(step):
    """What the sentence of a step says of it, but for its warp and number."""
    return f"{name_of(step)} ({line_of(step)}): {pattern_of(step)}, {cost_of(step)}"


def described(step):
    """The sentence of one step."""
    return f"Warp {step.warp}, step {step.number}, {looks_of(step)}."


def distance_of(places):
    """ ", each 4,096 bytes further" of steps that begin at these places; of two, without "each"."""
    apart = differences(places)
    if len(apart) > 1:
        return ", at other places"
    apart = apart.pop()
    if apart == 0:
        return ", at the same place"
    each = "each " if len(places) > 2 else ""
    return f", {each}{plural(abs(apart), 'byte')} {'further' if apart > 0 else 'back'}"


def more_of(group):
    """What became of the other steps of a group; empty if there are none."""
    warp = group.step.warp
    own = [place for _, of, place in group.members if of == warp]
    others = [(of, place) for _, of, place in group.members if of != warp]
    if not others:
        return f"And {plural(len(own) - 1, 'more step')} like this{distance_of(own)}." if len(own) > 1 else ""
    warps = plural(len({of for of, _ in others}), "other warp")
    if len(own) == 1:
        distance = distance_of([own[0], *(place for _, place in others)]) if len(others) == len(
            {of for of, _ in others}) else ""
        return f"And {plural(len(others), 'more step')} like this by {warps}{distance}."
    return (f"And {plural(len(own) - 1, 'more step')} like this{distance_of(own)}, and {len(others):,} by {warps}.")


def title_of(head):
    return f"What block {place_of(head.block)} of {head.kernel} touches"


def left_out(steps):
    """Names the sites that are not drawn, a few of them in full."""
    if not steps:
        return ""
    named = "; ".join(f"step {step.number}, {name_of(step)} ({line_of(step)})" for step in steps[:4])
    rest = f"; and {len(steps) - 4} more" if len(steps) > 4 else ""
    return f"Not drawn, and to be had with --step: {named}{rest}."


def end_of(head):
    if head.complete:
        return ""
    return (f"The trace ends after {plural(head.most_steps, 'step')}: what the block did later is not here. --at with a "
            "fifth number, a warp, follows that warp alone, and further.")
