#pragma once
/// @file
/// How far the asynchronous copies of the running block are ahead of what its threads do meanwhile.

#include <cstdint>
#include <deque>
#include <vector>

#include "simt/profile.hpp"

namespace simt::check {

/// Of a thread that sends copies itself, its own count, at the very access. For one that sends none, others
/// do: of theirs, those count that are under way at any time between the barriers on either side of the
/// access, and each thread of the block has an equal share of them. What was sent before the last such
/// barrier counts no longer once something that was sent behind it has landed.
class CopiesUnderWay {
 public:
  explicit CopiesUnderWay(std::size_t threads = 0) : thread_count_(threads) {}

  /// To an offset in shared memory. `bytes` are what it reads: one that reads nothing is never under way.
  void issue(unsigned thread, std::uint64_t target, std::uint64_t bytes);
  void land(unsigned thread, std::uint64_t target);  ///< the oldest of its copies to there
  void load_shared(unsigned thread, std::uint64_t bytes) {
    access(thread, bytes, ahead_.of_shared_loads, accessed_.of_shared_loads);
  }
  void store_global(unsigned thread, std::uint64_t bytes) {
    access(thread, bytes, ahead_.of_global_stores, accessed_.of_global_stores);
  }
  void meet_at_barrier();
  /// Of the block, up to its last barrier.
  const CopiesAhead& ahead() const { return ahead_; }

 private:
  struct Copy {
    std::uint64_t target, bytes, phase;
  };
  struct Thread {
    bool sends = false;
    std::uint64_t bytes = 0;  ///< under way
    std::deque<Copy> copies;
  };
  void access(unsigned thread, std::uint64_t bytes, std::uint64_t& of_own, std::uint64_t& by_others) {
    if (threads_.empty()) return;
    if (const Thread& own = threads_[thread]; own.sends)
      of_own += bytes * own.bytes;
    else
      by_others += bytes;
  }

  std::size_t thread_count_;
  std::vector<Thread> threads_;  ///< empty until one of them sends
  CopiesAhead ahead_;
  std::uint64_t phase_ = 0;  ///< how many barriers there were
  // Of the phase that runs.
  std::uint64_t in_phase_ = 0;  ///< bytes that are under way at any time
  CopiesAhead accessed_;        ///< bytes, by threads that send none
  std::uint64_t oldest_ = 0;    ///< of those that have landed, the last phase in which one was issued
};

}  // namespace simt::check
