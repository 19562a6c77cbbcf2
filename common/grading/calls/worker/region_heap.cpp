#include "grading/calls/worker/region_heap.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <new>
#include <utility>

#include "grading/calls/shared_memory.hpp"

namespace course::grading {

void* RegionHeap::Pages::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (alignment > whole_pages(1)) throw std::bad_alloc();
  const std::size_t whole = whole_pages(bytes);
  const auto run = std::ranges::find_if(free_, [=](const auto& entry) { return entry.second >= whole; });
  if (run == free_.end()) throw std::bad_alloc();
  const auto [begin, there] = *run;
  free_.erase(run);
  if (there > whole) free_.emplace(begin + whole, there - whole);
  return begin;
}

void RegionHeap::Pages::do_deallocate(void* memory, std::size_t bytes, std::size_t) {
  auto* const begin = static_cast<std::byte*>(memory);
  std::size_t whole = whole_pages(bytes);
  madvise(begin, whole, MADV_DONTNEED);  // the system may have it back
  auto next = free_.lower_bound(begin);
  if (next != free_.end() && next->first == begin + whole) {
    whole += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == begin) {
      before->second += whole;
      return;
    }
  }
  free_.emplace(begin, whole);
}

void* RegionHeap::allocate(std::size_t bytes, std::size_t alignment) noexcept try {
  const std::size_t front = std::max(alignment, sizeof(Block));
  if (bytes > bytes_) return nullptr;
  const std::lock_guard lock(mutex_);
  auto* const memory = static_cast<std::byte*>(pool_.allocate(front + bytes, front)) + front;
  block_of(memory) = {bytes, front};
  return memory;
} catch (const std::bad_alloc&) {
  return nullptr;
}

void RegionHeap::release(void* memory) noexcept {
  const std::lock_guard lock(mutex_);
  const Block block = std::exchange(block_of(memory), {});
  if (block.front == 0) std::abort();
  pool_.deallocate(static_cast<std::byte*>(memory) - block.front, block.front + block.bytes, block.front);
}

}  // namespace course::grading
