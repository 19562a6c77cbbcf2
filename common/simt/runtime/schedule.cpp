// Who runs next: the turns of warps and lanes, the opening of barriers, and what it means when nobody can
// run.

#include <algorithm>
#include <bit>
#include <utility>

#include "simt/runtime/block.hpp"

namespace simt {

std::uint64_t BlockRunner::random() {  // SplitMix64 (Steele, Lea and Flood 2014)
  std::uint64_t z = random_state_ += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// Turns begin again at the first warp of the order.
void BlockRunner::rewind() {
  const bool reverse = launch_->order == Order::reverse;
  warp_cursor_ = reverse ? warps_.size() - 1 : 0;
  lane_cursor_ = reverse ? kWarpSize : -1;
}

int BlockRunner::pick_in_warp(std::size_t warp_number) {
  const LaneMask ready = warps_[warp_number].ready;
  int lane = 0;
  switch (launch_->order) {
    case Order::forward: {  // the next higher one, else the lowest
      const LaneMask above = lane_cursor_ >= 31 ? 0 : ready & (~LaneMask{0} << (lane_cursor_ + 1));
      lane = std::countr_zero(above != 0 ? above : ready);
      break;
    }
    case Order::reverse: {  // the next lower one, else the highest
      const LaneMask below = lane_cursor_ >= 32 ? ready : ready & ((LaneMask{1} << lane_cursor_) - 1);
      lane = 31 - std::countl_zero(below != 0 ? below : ready);
      break;
    }
    case Order::random: {
      LaneMask rest = ready;
      for (auto skip = random() % static_cast<unsigned>(std::popcount(ready)); skip > 0; --skip)
        rest &= rest - 1;
      lane = std::countr_zero(rest);
      break;
    }
  }
  lane_cursor_ = lane;
  return static_cast<int>(warp_number) * kWarpSize + lane;
}

// No lane of its warp that is ready comes behind it. A warp whose lanes all spin would keep the turn
// otherwise.
bool BlockRunner::last_of_its_turn(int thread) const {
  const LaneMask ready = warp_of(thread).ready, self = bit_of(thread);
  return (launch_->order == Order::reverse ? ready & (self - 1) : ready & ~(self | (self - 1))) == 0;
}

void BlockRunner::turn_to_next_warp() {
  const bool reverse = launch_->order == Order::reverse;
  if (reverse)
    warp_cursor_ = (warp_cursor_ == 0 ? warps_.size() : warp_cursor_) - 1;
  else if (++warp_cursor_ == warps_.size())
    warp_cursor_ = 0;
  lane_cursor_ = reverse ? kWarpSize : -1;
}

// A ready thread: of the current warp as long as it has one, so that its lanes stay close together.
int BlockRunner::find_ready() {
  const std::size_t count = warps_.size();
  if (launch_->order == Order::random) {
    const std::size_t first = random() % count;
    for (std::size_t i = 0; i < count; ++i)
      if (warps_[(first + i) % count].ready != 0) return pick_in_warp((first + i) % count);
    return kNone;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (warps_[warp_cursor_].ready != 0) return pick_in_warp(warp_cursor_);
    turn_to_next_warp();
  }
  return kNone;
}

// As on hardware since Volta: the barrier opens when all threads that have not returned are there.
bool BlockRunner::release_barrier() {
  for (const Warp& warp : warps_)
    if (warp.at_barrier != warp.live()) return false;
  if (finished()) return false;
  switch (barrier_kind_) {
    case simt_barrier_plain:
      break;
    case simt_barrier_count:
      barrier_result_ = barrier_sum_;
      break;
    case simt_barrier_and:
      barrier_result_ = barrier_sum_ == live_;
      break;
    case simt_barrier_or:
      barrier_result_ = barrier_sum_ != 0;
      break;
  }
  if (observer_ != nullptr) tell_barrier();
  barrier_sum_ = 0;
  rewind();
  for (Warp& warp : warps_) warp.ready |= std::exchange(warp.at_barrier, 0);
  return true;
}

void BlockRunner::tell_barrier() {
  const std::size_t count = thread_indices_.size();
  barrier_callers_.resize(count);
  for (std::size_t thread = 0; thread < count; ++thread) {
    const bool waits = (warps_[thread / kWarpSize].at_barrier & bit_of(static_cast<int>(thread))) != 0;
    barrier_callers_[thread] = waits ? threads_[thread].waits_at : 0;
  }
  observer_->barrier_opens(barrier_callers_.data(), static_cast<int>(count));
}

// Threads that have come to one place by the same calls, in an operation with the same lanes to wait for, are
// one group. Those in warp operations come first: without them, the barrier would have opened.
std::vector<RawWaiting> BlockRunner::call_the_roll() {
  std::vector<RawWaiting> groups;
  const int asker = running_;
  for (const bool barrier : {false, true}) {
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      const Warp& warp = warps_[w];
      const LaneMask at_any_barrier = warp.at_barrier | warp.at_named;
      for (LaneMask rest = barrier ? at_any_barrier : warp.live() & ~at_any_barrier; rest != 0;
           rest &= rest - 1) {
        const int thread = static_cast<int>(w) * kWarpSize + std::countr_zero(rest);
        const LaneMask awaited = barrier ? 0 : warp.awaited_by(bit_of(thread));
        const CallStack stack = thread == asker ? CallStack::here() : ask_where(thread);
        const auto is_same = [&](const RawWaiting& group) {
          return group.barrier == barrier && group.awaited == awaited &&
                 group.stack.same_calls(stack, threads_[static_cast<std::size_t>(thread)].waits_at);
        };
        auto group = std::find_if(groups.begin(), groups.end(), is_same);
        if (group == groups.end()) {
          group = groups.insert(groups.end(), RawWaiting{stack, barrier, {}, {}, awaited});
          const uint3 index = thread_indices_[static_cast<std::size_t>(thread)];
          group->first_thread[0] = index.x, group->first_thread[1] = index.y,
          group->first_thread[2] = index.z;
        }
        if (group->threads.empty() || group->threads.back().warp != w)
          group->threads.push_back({static_cast<unsigned>(w), 0});
        group->threads.back().lanes |= bit_of(thread);
      }
    }
  }
  running_ = asker;
  return groups;
}

// Nobody can run, and nothing that anybody waits for can come. Who waits in a warp operation tells of it; if
// nobody does, threads are missing at a barrier with a count of its own.
void BlockRunner::report_deadlock() {
  std::vector<RawWaiting> waiting = call_the_roll();
  const LanesOfWarp first = waiting.front().threads.front();
  running_ = static_cast<int>(first.warp) * kWarpSize + std::countr_zero(first.lanes);
  RawFault& fault = begin_fault(FaultKind::deadlock);
  fault.stack = waiting.front().stack;
  fault.waiting = std::move(waiting);
  leave_block();
}

}  // namespace simt
