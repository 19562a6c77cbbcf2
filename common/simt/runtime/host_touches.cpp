#include "simt/runtime/host_touches.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "simt/runtime/memory.hpp"

namespace simt {
namespace {

void protect(std::uintptr_t begin, std::uintptr_t end, int how) {
  mprotect(reinterpret_cast<void*>(begin), end - begin, how);
}

}  // namespace

HostTouches& host_touches() {
  static auto* const touches = new HostTouches;
  return *touches;
}

std::uint64_t HostTouches::watch(const void* arguments, std::size_t bytes, bool nothing_else_queued) {
  if (nothing_else_queued) touches_count_ = 0;
  const std::vector<HostSharedRange> all = host_shared_ranges();
  const auto* const begin = static_cast<const std::byte*>(arguments);
  for (std::size_t at = 0; at + sizeof(void*) <= bytes; at += alignof(void*)) {
    std::uintptr_t pointer = 0;
    std::memcpy(&pointer, begin + at, sizeof pointer);
    for (const HostSharedRange& range : all) {
      const auto first = reinterpret_cast<std::uintptr_t>(range.begin);
      if (!range.managed || pointer < first || pointer >= first + range.bytes) continue;
      const std::uintptr_t end = (first + range.bytes + page_bytes() - 1) / page_bytes() * page_bytes();
      if (const Range* const known = find(first); known == nullptr && ranges_count_ < kMostRanges)
        ranges_[ranges_count_++] = {first, end};
      watching_ = true;
      protect(first, end, PROT_NONE);
    }
  }
  return ++launches_;
}

void HostTouches::relax() {
  if (!watching_) return;
  for (std::size_t i = 0; i < ranges_count_; ++i)
    protect(ranges_[i].begin, ranges_[i].end, PROT_READ | PROT_WRITE);
  watching_ = false;
  ranges_count_ = 0;
}

const HostTouches::Range* HostTouches::find(std::uintptr_t address) const {
  const Range* const end = ranges_ + ranges_count_;
  const Range* const found =
      std::find_if(ranges_, end, [&](const Range& r) { return address >= r.begin && address < r.end; });
  return found == end ? nullptr : found;
}

void HostTouches::note(const HostTouch& touch) {
  if (touches_count_ == kMostTouches) return;
  touches_[touches_count_] = touch;
  touches_[touches_count_++].launches = launches_;
}

bool HostTouches::take_fault(const HostTouch& touch) {
  if (!watching_ || find(touch.address) == nullptr) return false;
  note(touch);
  const std::uintptr_t page = touch.address / page_bytes() * page_bytes();
  protect(page, page + page_bytes(), PROT_READ | PROT_WRITE);
  return true;
}

void HostTouches::use(const void* begin, std::size_t bytes, bool write) {
  if (!watching_) return;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  for (std::size_t i = 0; i < ranges_count_; ++i) {
    const Range& range = ranges_[i];
    if (first >= range.end || first + bytes <= range.begin) continue;
    note({std::max(first, range.begin), write, false, 0, CallStack::here()});
    protect(range.begin, range.end, PROT_READ | PROT_WRITE);
  }
}

}  // namespace simt
