#pragma once
/// @file
/// Where the blocks of a cooperative launch wait for each other. Each runs on an operating-system thread of
/// its own: all at the same time or, under the eyes of check mode, one after the other from barrier to
/// barrier, in the order of their numbers.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace simt {

class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : awaited_(blocks), expected_(blocks) {}
  /// For blocks that take turns. `opens` is called when all of them have come.
  GridBarrier(std::uint64_t blocks, std::function<void()> opens)
      : awaited_(blocks), expected_(blocks), opens_(std::move(opens)), ended_(blocks, false) {}

  /// Before a block begins. False: another one has faulted, and it must not.
  bool may_begin(std::uint64_t block) {
    if (!takes_turns()) return true;
    std::unique_lock lock(mutex_);
    return wait_for_turn(lock, block);
  }
  /// Waits for all blocks that have not ended. False if the launch is to stop, or a block cannot come any
  /// more.
  bool arrive_and_wait(std::uint64_t block, const std::atomic<bool>& stop) {
    constexpr auto kLookAgain = std::chrono::milliseconds(50);  // nobody tells of `stop`
    std::unique_lock lock(mutex_);
    if (takes_turns()) {
      give_turn(block);
      return wait_for_turn(lock, block) && !stop;
    }
    const std::uint64_t phase = phase_;
    if (--awaited_ == 0) open();
    while (phase == phase_ && !stop && !failed_) changed_.wait_for(lock, kLookAgain);
    return !stop && !failed_;
  }
  /// A block has ended: nobody waits for it from now on.
  void leave(std::uint64_t block, bool fault) {
    const std::lock_guard lock(mutex_);
    failed_ |= fault;
    if (takes_turns()) {
      ended_[static_cast<std::size_t>(block)] = true;
      return give_turn(block);
    }
    --expected_;
    if (--awaited_ == 0) open();
    if (failed_) changed_.notify_all();
  }

 private:
  bool takes_turns() const { return opens_ != nullptr; }
  void open() {
    awaited_ = expected_;
    ++phase_;
    changed_.notify_all();
  }
  bool wait_for_turn(std::unique_lock<std::mutex>& lock, std::uint64_t block) {
    changed_.wait(lock, [&] { return turn_ == block; });
    return !failed_;
  }
  void give_turn(std::uint64_t block) {
    const auto next = std::find(ended_.begin() + static_cast<std::ptrdiff_t>(block) + 1, ended_.end(), false);
    const auto first = std::find(ended_.begin(), ended_.end(), false);
    if (next == ended_.end() && first != ended_.end()) opens_();
    turn_ = static_cast<std::uint64_t>((next != ended_.end() ? next : first) - ended_.begin());
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t awaited_, expected_, phase_ = 0;
  bool failed_ = false;
  std::function<void()> opens_;
  std::vector<bool> ended_;  ///< by block, where they take turns
  std::uint64_t turn_ = 0;   ///< the block that runs
};

}  // namespace simt
