#include "simt/runtime/fiber.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <new>
#include <utility>

#include "simt/runtime/memory.hpp"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

namespace simt {

namespace {

/// A guard page makes two memory mappings of a stack, of which a process may have 65,530.
constexpr int kMostGuards = 24000;
std::atomic<int> guards{0};

constexpr std::size_t kFibersOfSlab = 32;

/// What most threads need, and what begins further down: see kColours.
constexpr std::size_t kShallowBytes = 12 * 1024;

/// Makes pages fault without a mapping of their own, ten times as fast as mprotect(). False: the system
/// cannot (Linux before 6.13).
bool guard_cheaply(std::byte* begin, std::size_t bytes) {
  constexpr int kGuardInstall = 102;  // MADV_GUARD_INSTALL, which C libraries do not know yet
  return madvise(begin, bytes, kGuardInstall) == 0;
}
void unguard(std::byte* begin, std::size_t bytes) {
  constexpr int kGuardRemove = 103;  // MADV_GUARD_REMOVE
  madvise(begin, bytes, kGuardRemove);
}

std::size_t fiber_bytes() { return page_bytes() + kStackBytes; }

}  // namespace

Fiber::Fiber(std::byte* memory, std::size_t index)
    : guarded_(guards.fetch_add(1) < kMostGuards), base_(memory) {
  whole_ = !guarded_ || !guard_cheaply(base_, fiber_bytes() - kShallowBytes);
  if (guarded_ && whole_ && mprotect(base_, page_bytes(), PROT_NONE) != 0) throw std::bad_alloc();
  constexpr std::size_t kColours = 16, kColourBytes = 256;
  top_ = base_ + fiber_bytes() - (index % kColours) * kColourBytes;
}

Fiber::~Fiber() { guards.fetch_sub(1); }

void Fiber::forget_frames() {
  context = nullptr;
#ifdef __SANITIZE_ADDRESS__
  ASAN_UNPOISON_MEMORY_REGION(base_ + page_bytes(), kStackBytes);  // frames that never returned left marks
#endif
}

void Fiber::wipe() {
  const std::size_t page = page_bytes();
  std::byte* const begin = base_ + (guarded_ ? page : 0);
  std::byte* const end = context != nullptr ? static_cast<std::byte*>(context) : base_ + page + kStackBytes;
  if (std::byte* const open = base_ + fiber_bytes() - kShallowBytes; !whole_ && open <= end) {
    std::memset(open, 0, static_cast<std::size_t>(end - open));
    return;
  }
  std::byte* const pages_end = end - reinterpret_cast<std::uintptr_t>(end) % page;
  if (pages_end > begin)
    madvise(begin, static_cast<std::size_t>(pages_end - begin), MADV_DONTNEED);  // reads as zeros
  std::memset(pages_end, 0, static_cast<std::size_t>(end - pages_end));
}

bool Fiber::guard_contains(const void* address) const {
  const auto* byte = static_cast<const std::byte*>(address);
  return guarded_ && byte >= base_ && byte < base_ + page_bytes();
}

bool Fiber::open_rest(const void* address) {
  if (whole_ || guard_contains(address)) return false;
  unguard(base_ + page_bytes(), kStackBytes - kShallowBytes);
  return whole_ = true;
}

FiberPool::~FiberPool() {
  fibers_.clear();
  for (std::byte* const slab : slabs_) munmap(slab, kFibersOfSlab * fiber_bytes());
}

/// The first of a slab lies highest, as stacks do that the system places one after the other.
std::byte* FiberPool::room_for_one() {
  const std::size_t place = fibers_.size() % kFibersOfSlab;
  if (place == 0) {
    void* const slab = mmap(nullptr, kFibersOfSlab * fiber_bytes(), PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) throw std::bad_alloc();
    slabs_.push_back(static_cast<std::byte*>(slab));
  }
  return slabs_.back() + (kFibersOfSlab - 1 - place) * fiber_bytes();
}

Fiber& FiberPool::take() {
  if (idle_.empty()) {
    fibers_.push_back(std::make_unique<Fiber>(room_for_one(), fibers_.size()));
    idle_.push_back(fibers_.back().get());
  }
  Fiber& fiber = *idle_.back();
  idle_.pop_back();
  fiber.used = true;
  return fiber;
}

void FiberPool::wipe() {
  for (Fiber* fiber : idle_)
    if (std::exchange(fiber->used, false)) fiber->wipe();
}

void FiberPool::abandon_all() {
  idle_.clear();
  for (auto fiber = fibers_.rbegin(); fiber != fibers_.rend(); ++fiber) {
    (*fiber)->forget_frames();
    idle_.push_back(fiber->get());
  }
}

const Fiber* FiberPool::guard_hit(const void* address) const {
  for (const auto& fiber : fibers_)
    if (fiber->guard_contains(address)) return fiber.get();
  return nullptr;
}

bool FiberPool::contains(const void* address) const { return slab_with(address) < slabs_.size(); }

bool FiberPool::open_rest(const void* address) {
  const std::size_t slab = slab_with(address);
  if (slab == slabs_.size()) return false;
  const auto offset = static_cast<std::size_t>(static_cast<const std::byte*>(address) - slabs_[slab]);
  const std::size_t fiber = (slab + 1) * kFibersOfSlab - 1 - offset / fiber_bytes();
  return fiber < fibers_.size() && fibers_[fiber]->open_rest(address);
}

/// Which one it is on; as many as there are: on none.
std::size_t FiberPool::slab_with(const void* address) const {
  const auto* const byte = static_cast<const std::byte*>(address);
  std::size_t slab = 0;
  while (slab < slabs_.size() &&
         (byte < slabs_[slab] || byte >= slabs_[slab] + kFibersOfSlab * fiber_bytes()))
    ++slab;
  return slab;
}

}  // namespace simt
