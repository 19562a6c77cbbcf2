#include "simt/runtime/runtime_objects.hpp"

#include <sys/mman.h>

#include <new>

#include "simt/runtime/memory.hpp"

namespace simt {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 30;

std::size_t whole_objects(std::size_t bytes) {
  constexpr std::size_t kAlignment = alignof(std::max_align_t);
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

void* RuntimeObjects::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  bytes = whole_objects(bytes);
  if (std::vector<void*>& free = free_[bytes]; !free.empty()) {
    void* const object = free.back();
    free.pop_back();
    return object;
  }
  if (begin_ == nullptr) {
    void* const region =
        mmap(nullptr, kMostBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (region == MAP_FAILED) throw std::bad_alloc();
    begin_ = end_ = static_cast<std::byte*>(region);
  }
  if (bytes > kMostBytes - static_cast<std::size_t>(end_ - begin_)) throw std::bad_alloc();
  end_ += bytes;
  return end_ - bytes;
}

void RuntimeObjects::release(void* object, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  free_[whole_objects(bytes)].push_back(object);
}

WritableRange RuntimeObjects::range() const {
  const auto begin = reinterpret_cast<std::uintptr_t>(begin_), end = reinterpret_cast<std::uintptr_t>(end_);
  return {begin, (end + page_bytes() - 1) / page_bytes() * page_bytes()};
}

void RuntimeObjects::open() const {
  if (keeps_apart_ && begin_ != nullptr)
    mprotect(begin_, range().end - range().begin, PROT_READ | PROT_WRITE);
}

void RuntimeObjects::close() const {
  if (keeps_apart_ && begin_ != nullptr) mprotect(begin_, range().end - range().begin, PROT_NONE);
}

RuntimeObjects& runtime_objects() {
  static auto* const objects = new RuntimeObjects;  // never destroyed: calls may come at any time
  return *objects;
}

}  // namespace simt
