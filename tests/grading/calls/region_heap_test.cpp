// The heap within a region of memory.
#include "grading/calls/worker/region_heap.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "support/catch.hpp"

using namespace course::grading;

namespace {

constexpr std::size_t kBytes = 1 << 20;

struct Region {
  alignas(4096) std::byte memory[kBytes];
};

}  // namespace

TEST_CASE("a region's heap gives memory within the region, aligned as it was asked for") {
  const auto region = std::make_unique<Region>();
  RegionHeap heap(region->memory, kBytes);
  for (const std::size_t alignment : {1, 16, 64, 256, 4096}) {
    auto* const memory = static_cast<std::byte*>(heap.allocate(100, alignment));
    CAPTURE(alignment);
    REQUIRE(memory != nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(memory) % alignment == 0);
    CHECK(heap.contains(memory));
    CHECK(heap.contains(memory + 99));
    CHECK(RegionHeap::bytes_of(memory) == 100);
    std::memset(memory, 1, 100);
  }
  CHECK_FALSE(heap.contains(region->memory + kBytes));
  CHECK(heap.allocate(1, 8192) == nullptr);
}

TEST_CASE("what a region's heap gives does not overlap, and can be had again") {
  const auto region = std::make_unique<Region>();
  RegionHeap heap(region->memory, kBytes);
  for (int round = 0; round < 50; ++round) {
    std::vector<unsigned char*> blocks;
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t bytes = i % 10 == 0 ? 9000 : 1 + 7 * i;
      blocks.push_back(static_cast<unsigned char*>(heap.allocate(bytes, 16)));
      REQUIRE(blocks.back() != nullptr);
      std::memset(blocks.back(), static_cast<int>(i), bytes);
    }
    for (std::size_t i = 0; i < 100; ++i) {
      const std::size_t bytes = i % 10 == 0 ? 9000 : 1 + 7 * i;
      CHECK(std::count(blocks[i], blocks[i] + bytes, static_cast<unsigned char>(i)) ==
            static_cast<std::ptrdiff_t>(bytes));
      heap.release(blocks[i]);
    }
  }
}

TEST_CASE("a region's heap that is full says so, and has room again afterwards") {
  const auto region = std::make_unique<Region>();
  RegionHeap heap(region->memory, kBytes);
  CHECK(heap.allocate(2 * kBytes, 16) == nullptr);
  void* const most = heap.allocate(kBytes * 3 / 4, 16);
  REQUIRE(most != nullptr);
  CHECK(heap.allocate(kBytes * 3 / 4, 16) == nullptr);
  heap.release(most);
  void* const again = heap.allocate(kBytes * 3 / 4, 16);
  CHECK(again != nullptr);
  CHECK(heap.allocate(std::size_t(-1), 16) == nullptr);
}
