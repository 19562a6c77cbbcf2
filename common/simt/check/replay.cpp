#include "simt/check/replay.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

namespace simt::check {
namespace {

/// Where the thread stands. A call stands where it is made, wherever the function lies.
std::uint64_t place_of(Event event) {
  const bool calls = kind_of(event) == Kind::mark && mark_of(event) == Mark::enter;
  return calls && offset_of(event) != kWindowBytes - 1 ? offset_of(event) : code_of(event);
}

bool is_meeting(Event event) { return kind_of(event) == Kind::mark && mark_of(event) == Mark::met; }

/// The bits in which the events of these lanes differ, slot by slot from `begin` on; one lane after the
/// other, so that each trace is read in a row. Returns of how many slots: at first of few, since lanes that
/// went apart do one step at a time.
std::size_t compare(const Event* const (&heads)[32], unsigned lanes, std::size_t begin,
                    Event (&differences)[ThreadTrace::kCompared]) {
  const auto compare_slots = [&]<std::size_t kSlots>(std::integral_constant<std::size_t, kSlots> slots) {
    const Event* const first = heads[0] + begin;
    Event found[kSlots] = {};
    for (unsigned i = 1; i < lanes; ++i)
      for (std::size_t slot = 0; slot < kSlots; ++slot) found[slot] |= heads[i][begin + slot] ^ first[slot];
    std::copy(found, found + kSlots, differences);
    return slots();
  };
  if (begin == 0) return compare_slots(std::integral_constant<std::size_t, 4>());
  return compare_slots(std::integral_constant<std::size_t, ThreadTrace::kCompared>());
}

}  // namespace

void Replay::begin_block(int threads) {
  lanes_.resize(static_cast<std::size_t>(threads));
  for (Lane& lane : lanes_) lane.ended = false, lane.depth = 0, lane.met = kNoMeeting;
  const auto warps = static_cast<std::size_t>((threads + 31) / 32);
  live_.assign(warps, ~LaneMask{0});
  if (threads % 32 != 0) live_.back() = (LaneMask{1} << (threads % 32)) - 1;
}

// The lane's last events are still to be replayed; drain() takes it out once they have been.
void Replay::thread_ends(int thread) { lanes_[static_cast<std::size_t>(thread)].ended = true; }

unsigned Replay::lane_with_turn(unsigned warp) {
  for (LaneMask rest = live_[warp]; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const ThreadTrace& of_lane = trace(warp, lane);
    if (of_lane.head != of_lane.tail && is_turn(*of_lane.head)) return lane;
  }
  return 32;
}

std::optional<std::uint64_t> Replay::turn(unsigned warp) {
  const unsigned lane = lane_with_turn(warp);
  return lane == 32 ? std::nullopt : std::optional(offset_of(*trace(warp, lane).head));
}

void Replay::take_turn(unsigned warp) { ++trace(warp, lane_with_turn(warp)).head; }

LaneMask Replay::not_ended(unsigned warp) const {
  LaneMask lanes = live_[warp];
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (lanes_[warp * 32 + lane].ended) lanes &= ~(LaneMask{1} << lane);
  }
  return lanes;
}

void Replay::drain(unsigned warp, LaneMask unfinished) {
  for (;;) {
    LaneMask waiting = 0;
    bool has_turn = false;  // before which other warps are to be heard
    for (LaneMask rest = live_[warp]; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      ThreadTrace& of_lane = trace(warp, lane);
      if (of_lane.head != of_lane.tail && is_meeting(*of_lane.head) &&
          offset_of(*of_lane.head) == std::exchange(lanes_[warp * 32 + lane].met, kNoMeeting))
        of_lane.head += 2;
      if (of_lane.head != of_lane.tail)
        waiting |= LaneMask{1} << lane, has_turn = has_turn || is_turn(*of_lane.head);
      else if (lanes_[warp * 32 + lane].ended)
        live_[warp] &= ~(LaneMask{1} << lane);
    }
    if (waiting == 0 || (unfinished & ~waiting) != 0 || has_turn) break;
    step_together(warp, waiting);
  }
  for (LaneMask rest = live_[warp]; rest != 0; rest &= rest - 1)
    trace(warp, static_cast<unsigned>(std::countr_zero(rest))).make_room();
}

// Goes on for as long as all of these lanes do the same thing, then once with those that go first.
void Replay::step_together(unsigned warp, LaneMask lanes) {
  unsigned members[32];
  unsigned count = 0;
  std::size_t slots = std::numeric_limits<std::size_t>::max();
  const Event* heads[32];
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const ThreadTrace& of_lane = trace(warp, lane);
    heads[count] = of_lane.head;
    members[count++] = lane;
    slots = std::min(slots, static_cast<std::size_t>(of_lane.tail - of_lane.head));
  }
  std::size_t at = 0;
  bool parted = false;
  while (at < slots && !parted) {
    Event differences[ThreadTrace::kCompared];
    const std::size_t begin = at, compared = compare(heads, count, begin, differences);
    for (const std::size_t end = std::min(slots, begin + compared); at < end;) {
      const Event event = heads[0][at], difference = differences[at - begin];
      // Lanes that took part in different warp operations have not done the same.
      parted = instruction_of(difference) != 0 || is_turn(event) ||
               (is_meeting(event) && (difference != 0 || !all_met(lanes, heads[0][at + 1])));
      if (parted) break;
      if (difference == 0)
        std::fill(std::begin(offsets_), std::end(offsets_), offset_of(event));
      else
        for (unsigned i = 0; i < count; ++i) offsets_[members[i]] = offset_of(heads[i][at]);
      const bool second = has_second_slot(event);
      if (second)
        for (unsigned i = 0; i < count; ++i) seconds_[members[i]] = heads[i][at + 1];
      execute(warp, lanes, event, difference);
      at += second ? 2 : 1;
    }
  }
  for (unsigned i = 0; i < count; ++i) trace(warp, members[i]).head += at;
  const bool has_turn =
      parted && std::any_of(heads, heads + count, [at](const Event* head) { return is_turn(head[at]); });
  if (parted && !has_turn) step_apart(warp, lanes);
}

/// True unless the operation was met by other lanes, too.
bool Replay::all_met(LaneMask lanes, std::uint64_t second) {
  return (static_cast<LaneMask>(second) & ~lanes) == 0;
}

// The lanes that go first: those deepest in calls, at the lowest address, that do the same thing there. A
// warp operation waits for all lanes that took part in it, from wherever in the code they came to it.
LaneMask Replay::first_to_go(unsigned warp, LaneMask lanes) {
  LaneMask group = 0, held = 0;
  while (held != lanes) {
    group = 0;
    std::pair<int, std::uint64_t> best;
    Event of_group = 0;
    for (LaneMask rest = lanes & ~held; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const Event event = *trace(warp, lane).head;
      const std::pair place(-static_cast<int>(lanes_[warp * 32 + lane].depth), place_of(event));
      const bool joins = is_meeting(event)
                             ? is_meeting(of_group) && offset_of(event) == offset_of(of_group)
                             : place == best && instruction_of(event) == instruction_of(of_group);
      if (group != 0 && joins) {
        group |= LaneMask{1} << lane;
      } else if (group == 0 || place < best) {
        best = place;
        of_group = event;
        group = LaneMask{1} << lane;
      }
    }
    if (!is_meeting(of_group)) return group;
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      const Event event = *trace(warp, lane).head;
      if (is_meeting(event) && offset_of(event) == offset_of(of_group)) group |= LaneMask{1} << lane;
    }
    const auto of_first = static_cast<unsigned>(std::countr_zero(group));
    if (all_met(group, trace(warp, of_first).head[1])) return group;
    held |= group;
  }
  return group;  // an operation of which the other lanes have not told yet
}

void Replay::step_apart(unsigned warp, LaneMask lanes) {
  const LaneMask group = first_to_go(warp, lanes);
  const Event event = *trace(warp, static_cast<unsigned>(std::countr_zero(group))).head;
  const bool second = has_second_slot(event);
  for (LaneMask rest = group; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    ThreadTrace& of_lane = trace(warp, lane);
    offsets_[lane] = offset_of(*of_lane.head);
    if (second) seconds_[lane] = of_lane.head[1];
    of_lane.head += second ? 2 : 1;
  }
  execute(warp, is_meeting(event) ? with_silent_lanes(warp, group) : group, event, kWindowBytes - 1);
}

LaneMask Replay::with_silent_lanes(unsigned warp, LaneMask group) {
  const auto first = static_cast<unsigned>(std::countr_zero(group));
  const LaneMask all = (static_cast<LaneMask>(seconds_[first]) | group) & (live_[warp] | group);
  for (LaneMask rest = all & ~group; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    lanes_[warp * 32 + lane].met = offsets_[first];
    offsets_[lane] = offsets_[first];
    seconds_[lane] = seconds_[first];
  }
  return all;
}

void Replay::execute(unsigned warp, LaneMask lanes, Event event, std::uint64_t differing) {
  Lane* const of_warp = &lanes_[warp * 32];
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  if (kind_of(event) == Kind::mark) {
    const Mark mark = mark_of(event);
    if (mark == Mark::enter || mark == Mark::leave) {
      for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
        const auto number = static_cast<unsigned>(std::countr_zero(rest));
        Lane& lane = of_warp[number];
        if (mark == Mark::enter) {
          if (lane.depth < kMostCalls)
            lane.paths[lane.depth] = paths_.enter(lane.path(), static_cast<std::uint32_t>(offsets_[number]));
          ++lane.depth;
        } else if (lane.depth > 0) {
          --lane.depth;
        }
      }
      return;
    }
  }
  WarpEvent done{warp, lanes, live_[warp], event, differing, offsets_, seconds_, of_warp[first].path()};
  if (const std::uint32_t block = merged_.begun_by(code_of(event));
      block != 0 && kind_of(event) != Kind::mark) {
    WarpEvent begun = done;
    begun.event = mark_event(Mark::block) | at_code(block);
    listener_.warp_did(begun);
  }
  if (is_meeting(event))
    for (LaneMask rest = lanes; rest != 0 && done.apart == 32; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      if (of_warp[lane].path() != done.path) done.apart = lane, done.path_apart = of_warp[lane].path();
    }
  listener_.warp_did(done);
}

}  // namespace simt::check
