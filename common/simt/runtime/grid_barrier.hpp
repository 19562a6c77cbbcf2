#pragma once
/// @file
/// Where the blocks of a cooperative launch wait for each other. Each runs on an operating-system thread of
/// its own.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace simt {

class GridBarrier {
 public:
  explicit GridBarrier(std::uint64_t blocks) : awaited_(blocks), expected_(blocks) {}

  /// Waits for all blocks that have not ended. False if the launch is to stop, or a block cannot come any
  /// more.
  bool arrive_and_wait(const std::atomic<bool>& stop) {
    constexpr auto kLookAgain = std::chrono::milliseconds(50);  // nobody tells of `stop`
    std::unique_lock lock(mutex_);
    const std::uint64_t phase = phase_;
    if (--awaited_ == 0) open();
    while (phase == phase_ && !stop && !failed_) changed_.wait_for(lock, kLookAgain);
    return !stop && !failed_;
  }
  /// A block has ended: nobody waits for it from now on.
  void leave(bool fault) {
    const std::lock_guard lock(mutex_);
    failed_ |= fault;
    --expected_;
    if (--awaited_ == 0) open();
    if (failed_) changed_.notify_all();
  }

 private:
  void open() {
    awaited_ = expected_;
    ++phase_;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint64_t awaited_, expected_, phase_ = 0;
  bool failed_ = false;
};

}  // namespace simt
