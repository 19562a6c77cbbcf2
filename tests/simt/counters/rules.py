#!/usr/bin/env python3
"""The rules of README.md as code, held against every number that was measured.

Computes the counters of each launch by the rules, from what accesses.py says that it accesses, and compares them with
the recorded ones. Prints each difference; the exit status is 1 if README.md does not speak of it.

Usage: tests/simt/counters/rules.py [RESULTS.json]
"""

import collections
import json
import pathlib
import sys

from accesses import accesses_of

# The rules.


def sectors(access):
    return len({address >> 5 for address in access.lanes.values()})


def ideal_sectors(access):
    return min(sectors(access), -(-len(access.lanes) * access.width // 32))


def atomic_sectors(access):
    """The unit takes one lane of each address at a time, so each sector is visited as often as lanes meet in it."""
    meetings = collections.defaultdict(collections.Counter)
    for address in access.lanes.values():
        meetings[address >> 5][address] += 1
    return sum(max(counter.values()) for counter in meetings.values())


def meet(lanes, bit):
    """Whether each lane i reads the same address as lane i ^ bit, or the latter takes no part."""
    return all(lanes.get(lane ^ bit, address) == address for lane, address in lanes.items())


def wavefronts(access):
    """4 bytes: the warp at once; 8 bytes: half-warps; 16 bytes: quarter-warps. Equal words are read once. Wide loads
    of lanes that meet in pairs go twice as many lanes at a time."""
    group = 32 * 4 // max(access.width, 4)
    if access.width > 4 and access.kind == "shared_load" and (meet(access.lanes, 1) or meet(access.lanes, 2)):
        group *= 2
    words = collections.defaultdict(set)  # by group of lanes and bank
    for lane, address in access.lanes.items():
        for word in range(address // 4, (address + access.width + 3) // 4):
            words[lane // group, word % 32].add(word)
    most = collections.Counter()
    for (number, _), found in words.items():
        most[number] = max(most[number], len(found))
    return sum(most.values())


def atomic_wavefronts(access):
    """One lane of each bank at a time, whether the words differ or not."""
    return max(collections.Counter(address // 4 % 32 for address in access.lanes.values()).values())


def ideal_wavefronts(access):
    passes = atomic_wavefronts(access) if access.kind == "shared_atomic" else wavefronts(access)
    return min(passes, -(-len(access.lanes) * access.width // 128))


def rows_of(access):
    """(kind, counter, value) for what ncu counts by instruction, then for the counters of the hardware."""
    kind = access.kind
    yield f"{kind}.lanes", len(access.lanes)
    memory, name = kind.split("_")
    if memory == "global":
        yield f"{kind}.sectors", sectors(access)
        yield f"{kind}.ideal_sectors", ideal_sectors(access)
        yield f"{kind}.tag_requests", len({address >> 7 for address in access.lanes.values()})
        yield f"counted {kind}.requests", 1
        atomic = name in ("atomic", "reduction")
        yield f"counted {kind}.sectors", atomic_sectors(access) if atomic else sectors(access)
    if memory == "shared":
        passes = atomic_wavefronts(access) if name == "atomic" else wavefronts(access)
        yield f"{kind}.wavefronts", passes
        yield f"{kind}.ideal_wavefronts", ideal_wavefronts(access)
        yield f"counted {kind}.requests", 1
        yield f"counted {kind}.wavefronts", passes


# The comparison.


def expected(launch):
    """Every counter of a launch by the rules."""
    run = accesses_of(launch)
    counters = collections.Counter()
    for access in run.accesses:
        lanes = len(access.lanes)
        if access.kind in ("shared_swap", "shared_count"):
            # Adding the constant one is another instruction: lanes that meet are counted together, as in a load.
            passes, ideal = (2, 2) if access.kind == "shared_swap" else (wavefronts(access), ideal_wavefronts(access))
            counters.update({"shared_atomic.lanes": lanes, "shared_atomic.wavefronts": passes})
            counters.update({"shared_atomic.ideal_wavefronts": ideal})
            counters.update({"counted shared_atomic.requests": 1, "counted shared_atomic.wavefronts": passes})
        elif access.kind == "async_copy":
            lines = len({address >> 7 for address in access.lanes.values()})
            counters.update({"async_copy.lanes": lanes, "async_copy.tag_requests": lines})
            counters.update({"async_copy.sectors": sectors(access), "async_copy.wavefronts": wavefronts(access)})
            counters.update({"async_copy.ideal_sectors": ideal_sectors(access)})
            counters.update({"async_copy.ideal_wavefronts": ideal_wavefronts(access)})
            for kind in ("async_copy", "global_load"):  # the hardware's counters of loads include these
                counters.update({f"counted {kind}.requests": 1, f"counted {kind}.sectors": sectors(access)})
            counters.update({"counted async_copy.wavefronts": wavefronts(access)})
        else:
            for counter, value in rows_of(access):
                counters[counter] += value
    counters["barrier.executed"], counters["shuffle.executed"] = run.barriers, run.shuffles
    return counters


def measured(launch):
    """What the rules speak of."""
    counters = {f"counted {name}": value for name, value in launch["counted"].items() if "." in name}
    for kind, row in launch["by_instruction"].items():
        if kind in ("barrier", "shuffle"):
            counters[f"{kind}.executed"] = row["executed"]
        else:
            counters |= {f"{kind}.{what}": value for what, value in row.items() if what != "executed"}
    return counters


def known(launch, counter, rule, found):
    """Differences that README.md speaks of."""
    if "elements" not in launch:
        return False
    if counter in ("counted global_reduction.sectors", "counted global_atomic.sectors"):
        return rule < found <= rule + 2
    return counter in ("shared_load.wavefronts", "shared_load.ideal_wavefronts") and abs(found - rule) <= 2


def main():
    path = sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "h200.json"
    compared = explained = unexplained = 0
    for program, launches in json.loads(pathlib.Path(path).read_text())["programs"].items():
        for number, launch in enumerate(launches):
            rules, found = expected(launch), measured(launch)
            for counter in sorted({*found, *(name for name, value in rules.items() if value)}):
                compared += 1
                rule, value = rules[counter], found.get(counter, 0)
                if rule == value:
                    continue
                is_known = known(launch, counter, rule, value)
                explained += is_known
                unexplained += not is_known
                print(f"{program} {number} {launch['kernel']}: {counter}: rule {rule}, measured {value}"
                      f"{' (known)' if is_known else ''}")  # fmt: skip
    print(f"{compared} counters: {compared - explained - unexplained} as the rules say, {explained} known, "
          f"{unexplained} unexplained")  # fmt: skip
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())
