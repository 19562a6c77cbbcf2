// Barriers with a number and a count of threads (bar.sync, bar.arrive). A warp comes to one as a whole, and
// counts as 32 threads, however many of its lanes are left.

#include <bit>
#include <cstdio>
#include <utility>

#include "simt/runtime/block.hpp"

namespace simt {
namespace {

/// Beside the barrier's number, its way and its count in what a lane brings: its vote, in which lanes may
/// differ.
constexpr std::uint64_t kVote = 1u << 9;

}  // namespace

Votes BlockRunner::named_barrier(NamedBarrier to, std::uintptr_t caller) {
  char text[200];
  if (to.number >= kNamedBarriers) {
    std::snprintf(text, sizeof text, "A block has the barriers 0 to 15, and this names barrier %u.",
                  to.number);
    raise(FaultKind::bad_ptx, text);
  }
  if (to.threads % kWarpSize != 0) {
    std::snprintf(text, sizeof text, "A barrier counts whole warps, and %u threads are no multiple of 32.",
                  to.threads);
    raise(FaultKind::bad_ptx, text);
  }
  return come_to_barrier(to, caller);
}

void BlockRunner::sync_tile(unsigned threads, std::uintptr_t caller) {
  const unsigned tile = static_cast<unsigned>(running_) / threads;
  if ((tile + 1) * threads > thread_indices_.size())
    raise(FaultKind::assertion, "the threads of the block fill all of its tiles");
  const unsigned smaller_tiles = 2 * (1024 / 64 - 1024 / threads);  // that a block can have
  come_to_barrier({kNamedBarriers + smaller_tiles + tile, threads, true}, caller);
}

Votes BlockRunner::come_to_barrier(NamedBarrier to, std::uintptr_t caller) {
  Warp& warp = warp_of(running_);
  const LaneMask self = bit_of(running_);
  Rendezvous& meeting = warp.meeting_for(simt_op_barrier, warp.lanes, self);
  meeting.values[lane()] =
      to.number | std::uint64_t{to.waits} << 8 | std::uint64_t{to.threads} << 16 | (to.vote ? kVote : 0);
  meeting.arrived |= self;
  if (!warp.try_complete(meeting)) {
    warp.ready &= ~self;
    wait_long(caller);
  }
  if (meeting.bits == 0) come_to_named(meeting, to, caller);  // the first lane that finds all others here
  while ((warp.at_named & self) != 0) wait_long(caller);
  take_result(meeting);
  return warp.votes;  // the next one cannot open before all lanes of the warp have come to it
}

void BlockRunner::come_to_named(Rendezvous& meeting, NamedBarrier to, std::uintptr_t caller) {
  meeting.bits = 1;
  for (LaneMask rest = meeting.arrived; rest != 0; rest &= rest - 1)
    if (((meeting.values[std::countr_zero(rest)] ^ meeting.values[lane()]) & ~kVote) != 0)
      raise(FaultKind::bad_ptx,
            "The lanes of one warp have come to different barriers: an aligned instruction is for all of "
            "them.");
  Gathering& gathering = gatherings_[to.number];
  if (gathering.arrived > 0 && gathering.threads != to.threads) {
    char text[200];
    std::snprintf(text, sizeof text, "Threads wait at barrier %u for %u threads, and these for %u.",
                  to.number, gathering.threads, to.threads);
    raise(FaultKind::bad_ptx, text);
  }
  const auto warp_number = static_cast<std::size_t>(running_ / kWarpSize);
  gathering.threads = to.threads;
  gathering.arrived += kWarpSize;
  if (observer_ != nullptr)
    observer_->named_barrier_reached(to.number, static_cast<int>(warp_number), caller);
  if (to.waits) {
    Warp& warp = warps_[warp_number];
    warp.ready &= ~meeting.arrived;
    warp.at_named = meeting.arrived;
    gathering.waiting.push_back(warp_number);
    for (LaneMask rest = meeting.arrived; rest != 0; rest &= rest - 1, ++gathering.votes.all)
      gathering.votes.yes += (meeting.values[std::countr_zero(rest)] & kVote) != 0;
  }
  if (gathering.threads > 0 && gathering.arrived >= gathering.threads) open_named(to.number);
}

void BlockRunner::open_named(unsigned number) {
  Gathering& gathering = gatherings_[number];
  if (observer_ != nullptr) observer_->named_barrier_opens(number, gathering.waiting);
  for (const std::size_t warp : gathering.waiting) {
    warps_[warp].votes = gathering.votes;
    warps_[warp].ready |= std::exchange(warps_[warp].at_named, 0);
  }
  gathering.arrived = 0;
  gathering.votes = {};
  gathering.waiting.clear();
}

bool BlockRunner::release_named() {
  unsigned live = 0;
  for (const Warp& warp : warps_) live += warp.live() != 0;
  bool any = false;
  for (unsigned number = 0; number < gatherings_.size(); ++number) {
    const Gathering& gathering = gatherings_[number];
    if (gathering.threads != 0 || gathering.arrived == 0 || gathering.arrived < live * kWarpSize) continue;
    open_named(number);
    any = true;
  }
  return any;
}

}  // namespace simt
