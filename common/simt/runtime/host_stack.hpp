#pragma once
/// @file
/// The stack of the program's first thread, closed while a kernel runs: what host code has there when it
/// calls the runtime is no memory of a GPU's. A kernel that stores to it faults.

#include <cstddef>
#include <cstdint>

namespace simt {

class HostStack {
 public:
  /// A launch begins, within a function that host code has called and that has this frame. Whole pages
  /// beyond it can be read only. What lies between is kept, to be compared. On other threads: nothing.
  void close(const void* frame);
  /// It has ended. Returns how many bytes between were changed, in words of 8.
  std::size_t open();
  bool contains(const void* address) const;  ///< safe in a signal handler

 private:
  static constexpr std::size_t kMostBetween = 65536;  ///< a page of any machine
  std::byte* between_ = nullptr;                      ///< begins what callers have
  std::byte* begin_ = nullptr;                        ///< of the whole pages
  std::byte* end_ = nullptr;
  std::byte kept_[kMostBetween];
};

HostStack& host_stack();

}  // namespace simt
