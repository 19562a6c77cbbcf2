#pragma once
/// @file
/// In check mode: what host code does to managed memory while launches are queued that got a pointer to it
/// and that nothing has waited for. Such memory is closed to the host until it waits. The first access to a
/// page is noted, and the page opened: so the noted accesses are some of all, and each of them was made.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simt/runtime/call_stack.hpp"

namespace simt {

struct HostTouch {
  std::uintptr_t address = 0;
  bool write = false, atomic = false;
  std::uint64_t launches = 0;  ///< how many had been queued by then: those are not ordered with it
  CallStack stack;
};

/// Noted by a signal handler, so all of it lies in place.
class HostTouches {
 public:
  /// A launch is queued. Returns its number, from 1 on.
  std::uint64_t watch(const void* arguments, std::size_t bytes, bool nothing_else_queued);
  /// The host waits, or the memory is freed: it may be used again.
  void relax();
  /// In the handler of a fault in host code. True: it was noted, and the access may be repeated.
  bool take_fault(const HostTouch& touch);
  /// The host is about to hand memory to the system, which does not fault.
  void use(const void* begin, std::size_t bytes, bool write);

  std::size_t size() const { return touches_count_; }
  const HostTouch& operator[](std::size_t i) const { return touches_[i]; }

 private:
  struct Range {
    std::uintptr_t begin, end;  ///< whole pages
  };
  const Range* find(std::uintptr_t address) const;
  void note(const HostTouch& touch);

  static constexpr std::size_t kMostRanges = 256, kMostTouches = 256;
  std::atomic<bool> watching_{false};
  Range ranges_[kMostRanges] = {};
  std::size_t ranges_count_ = 0, touches_count_ = 0;
  std::uint64_t launches_ = 0;
  HostTouch touches_[kMostTouches];
};

HostTouches& host_touches();

}  // namespace simt
