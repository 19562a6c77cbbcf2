#pragma once
/// @file
/// The asynchronous copies of one thread: issued, gathered into batches, not yet landed.

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simt {

/// One copy. Of its bytes, the last `zero_bytes` become zero and are not read.
struct AsyncCopy {
  void* to;
  const void* from;
  std::size_t bytes, zero_bytes;
};

class AsyncCopies {
 public:
  void issue(const AsyncCopy& copy) { queue_.push_back({copy, committed_}); }
  void commit() { ++committed_; }

  /// Takes the oldest copy that must land when only the last `batches_in_flight` batches need not.
  /// What was issued after the last commit belongs to no batch yet, and no wait is about it.
  bool next(std::uint64_t batches_in_flight, AsyncCopy& copy) {
    if (head_ == queue_.size() || queue_[head_].batch + batches_in_flight >= committed_) return false;
    copy = queue_[head_++].copy;
    if (head_ == queue_.size()) queue_.clear(), head_ = 0;
    return true;
  }

  /// Takes out those that belong to no batch yet.
  std::vector<AsyncCopy> take_uncommitted() {
    std::size_t first = queue_.size();
    while (first > head_ && queue_[first - 1].batch == committed_) --first;
    std::vector<AsyncCopy> taken;
    for (std::size_t i = first; i < queue_.size(); ++i) taken.push_back(queue_[i].copy);
    queue_.resize(first);
    if (head_ == queue_.size()) queue_.clear(), head_ = 0;
    return taken;
  }

  void clear() {
    queue_.clear();
    head_ = 0;
    committed_ = 0;
  }

 private:
  struct Issued {
    AsyncCopy copy;
    std::uint64_t batch;
  };
  std::vector<Issued> queue_;
  std::size_t head_ = 0;
  std::uint64_t committed_ = 0;
};

}  // namespace simt
