#include "simt/runtime/host_stack.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "simt/runtime/memory.hpp"

/// Where the first thread's stack began, by the dynamic linker.
extern "C" void* __libc_stack_end;  // NOLINT(bugprone-reserved-identifier)

namespace simt {
namespace {

std::byte* page_at_or_below(const void* address) {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::uintptr_t>(address) / page_bytes() *
                                      page_bytes());
}

}  // namespace

void HostStack::close(const void* frame) {
  constexpr std::size_t kFrameBytes = 2 * sizeof(void*);  // the caller's frame, and where to return
  if (frame == nullptr || syscall(SYS_gettid) != getpid()) return;
  between_ = const_cast<std::byte*>(static_cast<const std::byte*>(frame)) + kFrameBytes;
  begin_ = page_at_or_below(between_ + page_bytes() - 1);
  end_ = page_at_or_below(__libc_stack_end);
  std::memcpy(kept_, between_, static_cast<std::size_t>(begin_ - between_));
  if (begin_ < end_) mprotect(begin_, static_cast<std::size_t>(end_ - begin_), PROT_READ);
}

std::size_t HostStack::open() {
  if (between_ == nullptr) return 0;
  if (begin_ < end_) mprotect(begin_, static_cast<std::size_t>(end_ - begin_), PROT_READ | PROT_WRITE);
  constexpr std::size_t kWord = 8;
  std::size_t changed = 0;
  for (std::size_t at = 0; between_ + at < begin_; at += kWord)
    if (std::memcmp(kept_ + at, between_ + at, kWord) != 0) changed += kWord;
  between_ = begin_ = end_ = nullptr;
  return changed;
}

bool HostStack::contains(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  return byte >= begin_ && byte < end_;
}

HostStack& host_stack() {
  static auto* const stack = new HostStack;  // never destroyed: handlers may ask at any time
  return *stack;
}

}  // namespace simt
