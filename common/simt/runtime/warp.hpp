#pragma once
/// @file
/// Where the lanes of one warp stand, and the meetings (rendezvous) of its warp operations.

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "simt/shim/simt_abi.h"

namespace simt {

using LaneMask = std::uint32_t;

/// One shuffle, vote or __syncwarp under way. Lanes with the same mask and operation meet in one.
/// It stays until the last lane has read its result: a fast lane may already wait in the next one.
struct Rendezvous {
  LaneMask mask = 0;     ///< lanes that are named
  LaneMask arrived = 0;  ///< lanes that brought a value
  LaneMask unread = 0;   ///< once complete: lanes that have not taken the result
  LaneMask bits = 0;     ///< of votes
  SimtWarpOp op = simt_op_syncwarp;
  bool complete = false;
  // Of an instruction that the warp executes as one.
  bool performed = false;
  std::uint64_t instruction = 0;  ///< what its lanes must agree in
  const char* name = nullptr;     ///< of the instruction
  std::uint32_t work = 0;         ///< for the observer
  std::uintptr_t caller = 0;      ///< inside the call of the lane that came first
  std::uint64_t number = 0;       ///< no other meeting of the launch has it
  std::uint64_t values[32] = {};

  bool in_use() const { return mask != 0; }
};

/// What threads brought to a barrier that counts: bar.red.
struct Votes {
  unsigned yes = 0, all = 0;
};

struct Warp {
  LaneMask lanes = 0;  ///< lanes that exist: the last warp of a block may have fewer than 32
  LaneMask exited = 0;
  LaneMask ready = 0;  ///< may run: not started yet, or what they waited for has come
  LaneMask at_barrier = 0;
  LaneMask at_named = 0;    ///< of bar.sync with a number: they have come, and wait for others
  LaneMask converging = 0;  ///< in __activemask(), waiting to see who else comes
  LaneMask paused = 0;      ///< until an observer has seen what they did
  Votes votes;              ///< of the last such barrier that opened
  std::uint64_t meetings_held = 0;
  std::vector<std::unique_ptr<Rendezvous>> meetings;

  void start(LaneMask existing) {
    lanes = ready = existing;
    exited = at_barrier = at_named = converging = paused = 0;
    meetings_held = 0;
    for (auto& meeting : meetings) meeting->mask = 0;
  }
  LaneMask live() const { return lanes & ~exited; }

  /// The meeting that this lane joins: one that waits for it, or a new one.
  Rendezvous& meeting_for(SimtWarpOp op, LaneMask mask, LaneMask lane_bit) {
    Rendezvous* unused = nullptr;
    for (auto& meeting : meetings) {
      if (!meeting->in_use())
        unused = meeting.get();
      else if (!meeting->complete && meeting->mask == mask && meeting->op == op &&
               !(meeting->arrived & lane_bit))
        return *meeting;
    }
    if (unused == nullptr) unused = meetings.emplace_back(std::make_unique<Rendezvous>()).get();
    unused->mask = mask;
    unused->op = op;
    unused->arrived = unused->unread = unused->bits = 0;
    unused->complete = unused->performed = false;
    unused->number = meetings_held++;
    return *unused;
  }

  /// The lanes that still live and have yet to come to the meeting in which a lane waits.
  LaneMask awaited_by(LaneMask lane_bit) const {
    for (const auto& meeting : meetings)
      if (meeting->in_use() && !meeting->complete && (meeting->arrived & lane_bit) != 0)
        return meeting->mask & ~meeting->arrived & live();
    return 0;
  }

  /// Completes the meeting if every named lane that still lives has arrived. The others become ready.
  bool try_complete(Rendezvous& meeting) {
    if (meeting.complete || meeting.arrived == 0 || (meeting.mask & live() & ~meeting.arrived) != 0)
      return false;
    meeting.complete = true;
    meeting.unread = meeting.arrived;
    ready |= meeting.arrived;
    return true;
  }

  /// A lane returned from the kernel: meetings that waited for it alone can go on.
  void lane_exits(LaneMask lane_bit) {
    exited |= lane_bit;
    ready &= ~lane_bit;
    for (auto& meeting : meetings)
      if (meeting->in_use()) try_complete(*meeting);
  }
};

}  // namespace simt
