"""What an access of a warp costs, by the rules of common/simt/check/traffic.hpp: which sectors of global memory its lanes
touch, which banks of shared memory, and where lanes have to wait for each other. Tests hold the results against what
the simulator counted; pictures show the simulator's counts, and mark the places by these."""

import collections

from trace_steps import BANKS, SECTOR_BYTES, WORD_BYTES


def ceil_div(value, by):
    return -(-value // by)


def bytes_touched(step):
    """Different bytes that the lanes touch."""
    end, count = 0, 0
    for place in sorted(step.addresses):
        count += max(place + step.bytes - max(place, end), 0)
        end = max(end, place + step.bytes)
    return count


def sectors_touched(step):
    """Numbers of the sectors in which the bytes lie, in order."""
    return sorted({sector for place in step.addresses
                   for sector in range(place // SECTOR_BYTES, (place + step.bytes - 1) // SECTOR_BYTES + 1)})


def sectors_counted(step):
    """What they cost. Atomics of lanes that meet at one address are served one after the other."""
    if step.kind != "atomic":
        return len(sectors_touched(step))
    most = collections.Counter()
    for place, lanes in collections.Counter(step.addresses).items():
        most[place // SECTOR_BYTES] = max(most[place // SECTOR_BYTES], lanes)
    return sum(most.values())


def words_by_lane(step):
    """{word: [lane, ...]}: who touches which word of 4 bytes."""
    words = {}
    for lane, place in zip(step.lanes, step.addresses):
        for word in range(place // WORD_BYTES, (place + step.bytes - 1) // WORD_BYTES + 1):
            words.setdefault(word, []).append(lane)
    return words


def pairs_meet(step, distance):
    """Whether each lane i and lane i ^ distance read the same address, where both take part."""
    places = dict(zip(step.lanes, step.addresses))
    return all(places.get(lane ^ distance, place) == place for lane, place in places.items())


def lanes_at_once(step):
    """How many lanes' worth of an access go to shared memory together."""
    words = max(1, step.bytes // WORD_BYTES)
    lanes = BANKS // words
    if step.kind == "load" and words > 1 and (pairs_meet(step, 1) or pairs_meet(step, 2)):
        lanes *= 2
    return lanes


def banks_by_group(step):
    """For each group of lanes that is served together {bank: [word, ...]}; a word of several lanes comes once, but for
    each of them if it is an atomic."""
    at_once, groups = (BANKS if step.kind == "atomic" else lanes_at_once(step)), {}
    words_each = 1 if step.kind == "atomic" else max(1, step.bytes // WORD_BYTES)
    for lane, place in zip(step.lanes, step.addresses):
        banks = groups.setdefault(lane // at_once, {})
        for word in range(place // WORD_BYTES, place // WORD_BYTES + words_each):
            words = banks.setdefault(word % BANKS, [])
            if step.kind == "atomic" or word not in words:
                words.append(word)
    return groups


def wavefronts_counted(step):
    return sum(max(map(len, banks.values())) for banks in banks_by_group(step).values())


def wavefronts_without_conflicts(step):
    return min(step.wavefronts, ceil_div(len(step.lanes) * step.bytes, BANKS * WORD_BYTES))


def waste(step):
    """What an access costs as a multiple of what its bytes would cost side by side, without conflicts."""
    if step.memory == "shared":
        return step.wavefronts / max(wavefronts_without_conflicts(step), 1)
    return step.sectors / ceil_div(len(step.lanes) * step.bytes, SECTOR_BYTES)


def words_in_conflict(step):
    """The words that share their bank with another word that is asked for at the same time."""
    return {word for banks in banks_by_group(step).values() for words in banks.values() if len(words) > 1
            for word in words}
