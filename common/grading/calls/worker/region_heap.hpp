#pragma once
/// @file
/// A heap within one region of memory, which can be closed as a whole. Of its own notes, only which pages are
/// free lies elsewhere: all functions need the region to be open.

#include <cstddef>
#include <map>
#include <memory_resource>
#include <mutex>

namespace course::grading {

class RegionHeap {
 public:
  /// The region has whole pages, and outlives the heap.
  RegionHeap(std::byte* begin, std::size_t bytes) : begin_(begin), bytes_(bytes), pages_(begin, bytes) {}

  bool contains(const void* memory) const {
    const auto* const byte = static_cast<const std::byte*>(memory);
    return byte >= begin_ && byte < begin_ + bytes_;
  }

  /// Null if there is no room. `alignment` is a power of two, of at most 4096.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  /// Ends the program if the memory was released before.
  void release(void* memory) noexcept;
  /// What was asked for.
  static std::size_t bytes_of(void* memory) { return block_of(memory).bytes; }

 private:
  /// Hands out whole pages, the lowest that are free.
  class Pages : public std::pmr::memory_resource {
   public:
    Pages(std::byte* begin, std::size_t bytes) : free_{{begin, bytes}} {}

   private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void* memory, std::size_t bytes, std::size_t alignment) override;
    bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

    std::map<std::byte*, std::size_t> free_;  ///< runs of pages, none next to another
  };

  /// Lies right in front of the memory.
  struct alignas(16) Block {
    std::size_t bytes = 0;  ///< that were asked for
    std::size_t front = 0;  ///< how much lies in front of them, with this; 0: released
  };
  static Block& block_of(void* memory) { return static_cast<Block*>(memory)[-1]; }

  std::byte* begin_;
  std::size_t bytes_;
  std::mutex mutex_;
  Pages pages_;
  std::pmr::unsynchronized_pool_resource pool_{&pages_};
};

}  // namespace course::grading
