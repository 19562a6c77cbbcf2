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

/// What lies below the frames of the calling function, where nothing is anybody's: a kernel could have left
/// it.
__attribute__((noinline)) void wipe_below_stack() {
  constexpr std::size_t kMostBytes = std::size_t{64} << 20;  // no mapping but the stack's lies there
  constexpr std::size_t kOwnBytes = 512;                     // what this function needs, and what it calls
  auto* const end = static_cast<std::byte*>(__builtin_frame_address(0)) - kOwnBytes;
  std::byte* const page = page_at_or_below(end);
  madvise(page - kMostBytes, kMostBytes, MADV_DONTNEED);  // of its pages that are there
  for (volatile std::byte* at = page; at < end; ++at) *at = std::byte{0};
}

std::size_t HostStack::open() {
  if (between_ == nullptr) return 0;
  if (begin_ < end_) mprotect(begin_, static_cast<std::size_t>(end_ - begin_), PROT_READ | PROT_WRITE);
  constexpr std::size_t kWord = 8;
  std::size_t changed = 0;
  for (std::size_t at = 0; between_ + at < begin_; at += kWord)
    if (std::memcmp(kept_ + at, between_ + at, kWord) != 0) changed += kWord;
  between_ = begin_ = end_ = nullptr;
  wipe_below_stack();
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
