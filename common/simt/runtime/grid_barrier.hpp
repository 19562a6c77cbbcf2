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
#include <optional>
#include <utility>
#include <vector>

namespace simt {

class GridBarrier {
 public:
  enum class Outcome {
    opened,
    deadlock,  ///< a block has ended without coming
    stopped,   ///< the launch is to stop, or a block has faulted
  };

  explicit GridBarrier(std::uint64_t blocks) : blocks_(blocks), awaited_(blocks) {}
  /// For blocks that take turns. `opens` is called when all of them have come.
  GridBarrier(std::uint64_t blocks, std::function<void()> opens)
      : blocks_(blocks), awaited_(blocks), opens_(std::move(opens)), ended_(blocks, false) {}

  /// Before a block begins. False: another one has faulted, and it must not.
  bool may_begin(std::uint64_t block) {
    if (!takes_turns()) return true;
    std::unique_lock lock(mutex_);
    wait_for_turn(lock, block);
    return !failed_;
  }
  /// Waits for all blocks.
  Outcome arrive_and_wait(std::uint64_t block, const std::atomic<bool>& stop) {
    constexpr auto kLookAgain = std::chrono::milliseconds(50);  // nobody tells of `stop`
    std::unique_lock lock(mutex_);
    const std::uint64_t phase = phase_;
    if (takes_turns()) {
      give_turn(block);
      wait_for_turn(lock, block);
    } else {
      if (--awaited_ == 0) open();
      while (phase == phase_ && !stop && !failed_ && !left_in_) changed_.wait_for(lock, kLookAgain);
    }
    if (stop || failed_) return Outcome::stopped;
    return left_in_ && *left_in_ <= phase ? Outcome::deadlock : Outcome::opened;
  }
  /// A block has ended. What others wait for now, or will wait for, does not come.
  void leave(std::uint64_t block, bool fault) {
    const std::lock_guard lock(mutex_);
    failed_ |= fault;
    if (!left_in_) left_in_ = phase_;
    if (takes_turns()) {
      ended_[static_cast<std::size_t>(block)] = true;
      give_turn(block);
    } else {
      changed_.notify_all();
    }
  }

 private:
  bool takes_turns() const { return opens_ != nullptr; }
  void open() {
    awaited_ = blocks_;
    ++phase_;
    changed_.notify_all();
  }
  void wait_for_turn(std::unique_lock<std::mutex>& lock, std::uint64_t block) {
    changed_.wait(lock, [&] { return turn_ == block; });
  }
  void give_turn(std::uint64_t block) {
    const auto next = std::find(ended_.begin() + static_cast<std::ptrdiff_t>(block) + 1, ended_.end(), false);
    const auto first = std::find(ended_.begin(), ended_.end(), false);
    if (next == ended_.end() && first != ended_.end()) {
      ++phase_;
      opens_();
    }
    turn_ = static_cast<std::uint64_t>((next != ended_.end() ? next : first) - ended_.begin());
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t blocks_, awaited_, phase_ = 0;
  std::optional<std::uint64_t> left_in_;  ///< the phase in which the first block ended
  bool failed_ = false;
  std::function<void()> opens_;
  std::vector<bool> ended_;  ///< by block, where they take turns
  std::uint64_t turn_ = 0;   ///< the block that runs
};

}  // namespace simt
