#pragma once
/// @file
/// What the lanes of a warp, and the warps of a block, do together. Included by bindings.cpp alone.

#include <numeric>

#include "simt/ptx/memory.hpp"

namespace simt::ptx {

// --- Shuffles, votes, matches, reductions ---

/// c holds the last lane of a segment in its bits 0 to 4, and in bits 8 to 12 those of a lane's number that
/// its segment shares.
inline void shuffle(const Frame& f, const Step& s) {
  const unsigned lane = f.block.lane(), b = f.get<std::uint32_t>(s[3]) & 31u, c = f.get<std::uint32_t>(s[4]);
  const unsigned segment = c >> 8 & 31u, last = (lane & segment) | (c & 31u & ~segment);
  unsigned from = 0;
  bool inside = true;
  switch (s.flags) {
    case simt_shuffle_up:
      from = lane - b;
      inside = static_cast<int>(from) >= static_cast<int>(last);
      break;
    case simt_shuffle_down:
      from = lane + b;
      inside = from <= last;
      break;
    case simt_shuffle_xor:
      from = lane ^ b;
      inside = from <= last;
      break;
    default:
      from = (lane & segment) | (b & ~segment);
      inside = from <= last;
  }
  if (!inside) from = lane;
  const std::uint64_t value = f.block.shuffle(static_cast<SimtShuffle>(s.flags), f.get<std::uint32_t>(s[5]),
                                              f.get<std::uint32_t>(s[2]), from, f.caller);
  f.set(s[0], static_cast<std::uint32_t>(value));
  f.set_bits(s[1], inside);
}
inline Bound bind_shuffle(const Match& m) {
  return {shuffle, m.has("up")     ? simt_shuffle_up
                   : m.has("down") ? simt_shuffle_down
                   : m.has("bfly") ? simt_shuffle_xor
                                   : simt_shuffle_index};
}

inline Bound bind_vote(const Match& m) {
  if (m.has("all"))
    return {[](const Frame& f, const Step& s) {
      f.set_bits(s[0],
                 f.block.ballot(simt_op_all, f.get<std::uint32_t>(s[2]), !f.truth(s[1]), f.caller) == 0);
    }};
  if (m.has("any"))
    return {[](const Frame& f, const Step& s) {
      f.set_bits(s[0], f.block.ballot(simt_op_any, f.get<std::uint32_t>(s[2]), f.truth(s[1]), f.caller) != 0);
    }};
  return {[](const Frame& f, const Step& s) {
    const std::uint64_t mine = f.truth(s[1]);
    auto [lanes, values] = f.block.gather(simt_op_uni, f.get<std::uint32_t>(s[2]), mine, f.caller);
    bool same = true;
    for (; lanes != 0; lanes &= lanes - 1) same = same && values[std::countr_zero(lanes)] == mine;
    f.set_bits(s[0], same);
  }};
}
inline Bound bind_ballot(const Match&) {
  return {[](const Frame& f, const Step& s) {
    f.set(s[0], f.block.ballot(simt_op_ballot, f.get<std::uint32_t>(s[2]), f.truth(s[1]), f.caller));
  }};
}

template <class T, bool kAll>
void match_lanes(const Frame& f, const Step& s) {
  const auto mask = f.get<std::uint32_t>(s[kAll ? 3 : 2]);
  const LaneMask same =
      f.block.match(kAll ? simt_op_match_all : simt_op_match_any, mask, f.get<T>(s[kAll ? 2 : 1]), f.caller);
  f.set(s[0], kAll && same != 0 ? mask : same);
  if constexpr (kAll) f.set_bits(s[1], same != 0);
}
inline Bound bind_match(const Match& m) {
  const bool wide = m.types[0] == Type::b64;
  if (m.has("all")) return {wide ? match_lanes<std::uint64_t, true> : match_lanes<std::uint32_t, true>};
  return {wide ? match_lanes<std::uint64_t, false> : match_lanes<std::uint32_t, false>};
}

template <SimtWarpOp kOp, bool kSigned>
void reduce(const Frame& f, const Step& s) {
  f.set(s[0], f.block.reduce(kOp, kSigned, f.get<std::uint32_t>(s[2]), f.get<std::uint32_t>(s[1]), f.caller));
}
inline Bound bind_redux(const Match& m) {
  const bool is_signed = m.types[0] == Type::s32;
  if (m.has("add")) return {reduce<simt_op_reduce_add, false>};
  if (m.has("min")) return {is_signed ? reduce<simt_op_reduce_min, true> : reduce<simt_op_reduce_min, false>};
  if (m.has("max")) return {is_signed ? reduce<simt_op_reduce_max, true> : reduce<simt_op_reduce_max, false>};
  if (m.has("and")) return {reduce<simt_op_reduce_and, false>};
  return {m.has("or") ? reduce<simt_op_reduce_or, false> : reduce<simt_op_reduce_xor, false>};
}
inline Bound bind_activemask(const Match&) {
  return {[](const Frame& f, const Step& s) { f.set(s[0], f.block.active_lanes(f.caller)); }};
}
inline Bound bind_elect(const Match&) {
  return {[](const Frame& f, const Step& s) {
    const LaneMask lanes = f.block.gather(simt_op_elect, f.get<std::uint32_t>(s[2]), 0, f.caller).lanes;
    const auto leader = static_cast<unsigned>(std::countr_zero(lanes));
    f.set(s[0], leader);
    f.set_bits(s[1], leader == f.block.lane());
  }};
}
inline Bound bind_syncwarp(const Match&) {
  return {[](const Frame& f, const Step& s) {
    f.block.ballot(simt_op_syncwarp, f.get<std::uint32_t>(s[0]), false, f.caller);
  }};
}

// --- Barriers ---

inline constexpr unsigned kArrives = 1;

/// How many threads a barrier waits for; 0: for all of the block.
inline std::uint32_t barrier_threads(const Frame& f, const Value& count) {
  return count.slot == Value::kNowhere ? 0 : f.get<std::uint32_t>(count);
}
/// Barrier 0 for the whole block is __syncthreads().
inline void barrier(const Frame& f, const Step& s) {
  const auto number = f.get<std::uint32_t>(s[0]);
  if (number == 0 && s[1].slot == Value::kNowhere) {
    f.block.barrier(simt_barrier_plain, 0, f.caller);
    return;
  }
  f.block.named_barrier({number, barrier_threads(f, s[1]), (s.flags & kArrives) == 0}, f.caller);
}
inline Bound bind_barrier(const Match& m) { return {barrier, m.has("arrive") ? kArrives : 0u}; }

inline void barrier_reduction(const Frame& f, const Step& s) {
  const auto kind = static_cast<SimtBarrier>(s.flags);
  const auto number = f.get<std::uint32_t>(s[1]);
  const bool mine = f.truth(s[3]);
  if (number == 0 && s[2].slot == Value::kNowhere) {
    f.set(s[0], f.block.barrier(kind, mine, f.caller));
    return;
  }
  const Votes votes = f.block.named_barrier({number, barrier_threads(f, s[2]), true, mine}, f.caller);
  f.set(s[0], kind == simt_barrier_count ? votes.yes
              : kind == simt_barrier_and ? unsigned{votes.yes == votes.all}
                                         : unsigned{votes.yes > 0});
}
inline Bound bind_barrier_reduction(const Match& m) {
  return {barrier_reduction, m.has("popc")  ? simt_barrier_count
                             : m.has("and") ? simt_barrier_and
                                            : simt_barrier_or};
}

// --- Control flow, time ---

inline Bound bind_branch(const Match&) { return {nullptr}; }  // the machine's own work
inline Bound bind_exit(const Match&) {
  return {[](const Frame& f, const Step&) { f.block.exit_thread(); }};
}
inline Bound bind_trap(const Match&) {
  return {[](const Frame& f, const Step&) { f.block.raise(FaultKind::trap, ""); }};
}
inline Bound bind_nanosleep(const Match&) {
  return {[](const Frame& f, const Step&) { f.block.spin_hint(); }};
}

}  // namespace simt::ptx
