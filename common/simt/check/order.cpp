#include "simt/check/order.hpp"

#include <algorithm>
#include <bit>

namespace simt::check {

bool Knowledge::covers(std::uint32_t block, unsigned thread, Step step) const {
  const auto known = blocks_.find(block);
  if (known == blocks_.end()) return false;
  if (step <= known->second.all_threads) return true;
  const std::vector<Step>& threads = known->second.threads;
  return thread < threads.size() && step <= threads[thread];
}

void Knowledge::learn(std::uint32_t block, Step all_threads) {
  Step& known = blocks_[block].all_threads;
  known = std::max(known, all_threads);
}

void Knowledge::learn(std::uint32_t block, unsigned thread, Step step) {
  std::vector<Step>& known = blocks_[block].threads;
  if (known.size() <= thread) known.resize(thread + 1);
  known[thread] = std::max(known[thread], step);
}

void Knowledge::learn(const Knowledge& other) {
  for (const auto& [block, of_block] : other.blocks_) {
    OfBlock& known = blocks_[block];
    known.all_threads = std::max(known.all_threads, of_block.all_threads);
    if (known.threads.size() < of_block.threads.size()) known.threads.resize(of_block.threads.size());
    for (std::size_t i = 0; i < of_block.threads.size(); ++i)
      known.threads[i] = std::max(known.threads[i], of_block.threads[i]);
  }
}

void Order::begin_launch() {
  if (last_step_ > Step{1} << 31) {
    last_step_ = 0;
    expired_ = true;
  }
  launch_first_ = advance();
  block_starts_.clear();
  any_fence_ = false;
  for (Scope& scope : scopes_) scope.locations[static_cast<unsigned>(Space::global)].clear();
}

bool Order::stamps_expired() { return std::exchange(expired_, false); }

void Order::begin_block(int threads) {
  block_first_ = epoch_first_ = advance();
  block_starts_.push_back(block_first_);
  const auto count = static_cast<std::size_t>(threads);
  const std::size_t warps = (count + 31) / 32;
  warp_steps_.assign(warps, block_first_);
  seen_.assign(warps * 32 * 32, 0);
  for (Scope& scope : scopes_) {
    scope.fences.assign(count, {});
    scope.fenced.clear();
    scope.seen_at_fence.clear();
    scope.threads.assign(count, {});
    scope.pending.assign(count, {});
    scope.block = {};
    scope.barriers.clear();
    scope.locations[static_cast<unsigned>(Space::shared)].clear();
    scope.any_thread_knows = false;
  }
}

void Order::end_epoch() {
  epoch_first_ = advance();
  std::fill(warp_steps_.begin(), warp_steps_.end(), epoch_first_);
  for (Scope& scope : scopes_) {
    if (!scope.any_thread_knows) continue;
    for (auto* of_threads : {&scope.threads, &scope.pending})
      for (Knowledge& knowledge : *of_threads) {
        scope.block.learn(knowledge);
        knowledge = {};
      }
    scope.any_thread_knows = false;
  }
}

std::uint32_t Order::block_of(Step step, const std::vector<Step>& block_starts) {
  const auto next = std::upper_bound(block_starts.begin(), block_starts.end(), step);
  return static_cast<std::uint32_t>(next - block_starts.begin()) - 1;
}

void Order::join(unsigned warp, LaneMask lanes) {
  const Step now = warp_steps_[warp];
  Step* const seen = &seen_[std::size_t{warp} * 32 * 32];
  Step joined[32] = {};
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const Step* of_lane = seen + std::countr_zero(rest) * 32;
    for (int other = 0; other < 32; ++other) joined[other] = std::max(joined[other], of_lane[other]);
  }
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) joined[std::countr_zero(rest)] = now;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
    std::copy(joined, joined + 32, seen + std::countr_zero(rest) * 32);
  warp_steps_[warp] = advance();
  for (Scope& scope : scopes_) {
    if (!scope.any_thread_knows) continue;
    for (auto* of_threads : {&scope.threads, &scope.pending}) {
      Knowledge together;
      for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
        together.learn((*of_threads)[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))]);
      for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
        (*of_threads)[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))] = together;
    }
  }
}

void Order::hand_over(unsigned barrier, unsigned warp, LaneMask lanes) {
  const Step now = warp_steps_[warp];
  for (Scope& scope : scopes_) {
    Knowledge& handed = scope.barriers[barrier];
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
      const unsigned thread = warp * 32 + static_cast<unsigned>(std::countr_zero(rest));
      handed.learn(block(), thread, now);
      handed.learn(scope.threads[thread]);
      for (unsigned lane = 0; lane < 32; ++lane)
        if (const Step step = seen(thread, lane); step != 0) handed.learn(block(), warp * 32 + lane, step);
    }
  }
  warp_steps_[warp] = advance();
}

void Order::take_over(unsigned barrier, unsigned warp, LaneMask lanes) {
  for (Scope& scope : scopes_) {
    for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
      scope.threads[warp * 32 + static_cast<unsigned>(std::countr_zero(rest))].learn(scope.barriers[barrier]);
    scope.any_thread_knows = true;
  }
}

void Order::end_hand_over(unsigned barrier) {
  for (Scope& scope : scopes_) scope.barriers.erase(barrier);
}

void Order::fence(unsigned thread, FenceScope reach) {
  any_fence_ = true;
  const Step now = warp_steps_[thread / 32];
  for (Scope& scope : scopes_) {
    if (reach == FenceScope::block && &scope == &scopes_[1]) continue;
    Fences& fences = scope.fences[thread];
    if (fences.own == 0) {
      fences.number = static_cast<unsigned>(scope.fenced.size());
      scope.fenced.push_back(thread);
      scope.seen_at_fence.emplace_back();
    }
    fences = {now, epoch_first_, fences.number};
    for (unsigned lane = 0; lane < 32; ++lane) scope.seen_at_fence[fences.number][lane] = seen(thread, lane);
    if (!scope.pending[thread].empty()) {
      scope.threads[thread].learn(scope.pending[thread]);
      scope.pending[thread] = {};
    }
  }
  warp_steps_[thread / 32] = advance();
}

// A fence of this thread covers what the thread did before it, what its block did before the last barrier,
// and what lanes of its warp did before the last __syncwarp() with it. A fence of another thread counts as
// well once a barrier or a __syncwarp() has handed it on.
Knowledge Order::released_by(const Scope& scope, unsigned thread) const {
  Knowledge released = scope.block;
  released.learn(scope.threads[thread]);
  Step all_threads = 0;
  for (const unsigned other : scope.fenced) {
    const Fences& fences = scope.fences[other];
    const bool handed_on =
        fences.own < epoch_first_ || (other / 32 == thread / 32 && fences.own <= seen(thread, other % 32));
    if (other != thread && !handed_on) continue;
    all_threads = std::max(all_threads, fences.epoch_first - 1);
    released.learn(block(), other, fences.own);
    for (unsigned lane = 0; lane < 32; ++lane)
      if (const Step step = scope.seen_at_fence[fences.number][lane]; step != 0)
        released.learn(block(), other / 32 * 32 + lane, step);
  }
  if (all_threads >= block_first_) released.learn(block(), all_threads);
  return released;
}

void Order::meet_at(Space space, std::uint64_t offset, unsigned thread, bool reads, bool writes) {
  for (Scope& scope : scopes_) {
    auto& locations = scope.locations[static_cast<unsigned>(space)];
    const auto known = locations.find(offset);
    if (reads && known != locations.end()) {
      scope.pending[thread].learn(known->second);
      scope.any_thread_knows = true;
    }
    if (!writes || (scope.fenced.empty() && scope.block.empty() && scope.threads[thread].empty())) continue;
    Knowledge released = released_by(scope, thread);
    if (!released.empty()) locations[offset].learn(released);
  }
}

bool Order::happened_before(const Stamp& access, unsigned thread) const {
  const Step step = access.step();
  if (step < launch_first_) return true;
  const bool same_block = step >= block_first_;
  if (same_block) {
    if (step < epoch_first_ || access.thread() == thread) return true;
    if (access.warp() == thread / 32 && step <= seen(thread, access.lane())) return true;
  }
  const std::uint32_t of_block = same_block ? block() : block_of(step);
  for (const Scope& scope : scopes_) {
    if (&scope == &scopes_[0] && !same_block) continue;  // a fence of the block says nothing to another
    if (scope.block.covers(of_block, access.thread(), step) ||
        scope.threads[thread].covers(of_block, access.thread(), step))
      return true;
  }
  return false;
}

}  // namespace simt::check
