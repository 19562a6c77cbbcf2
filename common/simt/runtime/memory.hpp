#pragma once
/// @file
/// Device memory: an address range of its own, which host code cannot touch.
///
/// One file in memory is mapped twice. Kernels see the *device view*, which is inaccessible while no kernel
/// runs; the runtime copies through the *runtime view*, which is accessible for just as long as it does.
/// Around each allocation lie red zones with a known pattern.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "simt/control.hpp"
#include "simt/runtime/call_stack.hpp"

namespace simt {

inline constexpr std::size_t kRedZoneBytes = 256;
inline constexpr std::size_t kAllocationAlignment = 256;
inline constexpr std::size_t kWideCapacity = std::size_t{6} << 30;  ///< of the arena when it is spread out

/// @brief Of a page of this machine's memory.
std::size_t page_bytes();

/// @brief Memory of zeros with nothing near it that a program could run into, or look for from there; null if
/// there is none.
void* take_memory_apart(std::size_t bytes);
void give_back_memory_apart(void* memory, std::size_t bytes);

/// Bytes as a set of disjoint ranges.
class ByteRanges {
 public:
  void add(std::size_t begin, std::size_t end);
  bool covers(std::size_t begin, std::size_t end) const;
  const std::map<std::size_t, std::size_t>& all() const { return ends_; }  ///< begin -> end, disjoint

 private:
  std::map<std::size_t, std::size_t> ends_;  ///< begin -> end
};

/// An allocation, for those who watch kernels.
struct DeviceRange {
  std::size_t offset = 0, bytes = 0;    ///< within the arena
  std::uint64_t serial = 0;             ///< no two allocations have the same
  const CallStack* caller = nullptr;    ///< of cudaMalloc
  const ByteRanges* written = nullptr;  ///< what copies and cudaMemset wrote, from the allocation's start
};

/// Memory that host code and kernels may both touch: page-locked or managed.
struct HostSharedRange {
  const std::byte* begin = nullptr;
  std::size_t bytes = 0;
  bool managed = false;
};

/// An allocation whose red zone was overwritten.
struct RedZoneHit {
  std::size_t allocation_bytes = 0;
  CallStack allocated_at;
  std::ptrdiff_t first = 0;  ///< byte offset of the first changed byte, relative to the allocation
  std::size_t changed_bytes = 0;
};

class DeviceMemory {
 public:
  DeviceMemory();
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Null if the arena or the machine has no room. New memory holds a pattern that reads as NaN.
  void* allocate(std::size_t bytes, const CallStack& caller);
  /// False if the pointer is not the start of a live allocation.
  bool release(void* pointer);
  void release_all();
  /// Host code has freed memory that work which was put off may need: no call may name it from now on, and it
  /// is in use no more. False as of release().
  bool give_up(void* pointer);
  /// What was given up is as it was before: that work begins.
  void restore_given_up();

  // Memory of a graph keeps its address while it is not allocated: release() of it only sets it aside.
  /// Memory for a graph, set aside. Null if there is no room.
  void* reserve(std::size_t bytes, const CallStack& caller);
  /// Allocates what was set aside, as new memory. False if it is allocated already.
  bool take_back(void* pointer);
  /// The graph is gone: what is set aside is free; what is allocated is as any other memory.
  void unreserve(void* pointer);

  /// True if [pointer, pointer + bytes) lies within one live allocation, or one that was set aside.
  bool owns(const void* pointer, std::size_t bytes) const;
  /// True if the address is within the arena, allocated or not. Safe in a signal handler.
  bool contains(const void* address) const;
  std::byte* base() const { return device_; }
  /// From now on, allocations lie at least as far apart as they are large, and kernels may touch all between:
  /// a wild index then hits nobody.
  void spread_out(bool wide) { wide_ = wide; }
  /// Lets no more than so many bytes be in use; 0: as many as there is room for.
  void limit(std::size_t bytes) { limit_ = bytes; }
  /// The allocations there are, by offset. Valid until the next allocation or release.
  std::vector<DeviceRange> ranges() const;
  /// The allocation that begins nearest below an address of the arena, or holds it.
  std::optional<DeviceRange> range_at(const void* device_pointer) const;

  /// @brief Copies bytes for the runtime. Either side may be device memory; ranges must lie within one
  /// allocation, and may overlap.
  void copy(void* to, const void* from, std::size_t bytes);
  void set(void* to, int value, std::size_t bytes);

  /// Bytes of a live allocation have got values from the host's side.
  void note_written(const void* device_pointer, std::size_t bytes);

  /// Keeps kernels out of whole pages of a live allocation.
  void fence(void* begin, std::size_t bytes);
  /// Opens the device view to kernels, closes it again, both for what was ever allocated.
  void open();
  void close();

  /// For an allocation, wherever it lies.
  std::uint64_t take_serial();
  std::uint64_t allocations_so_far() const;
  /// Those that are live, without the first `before` that ever were allocated, in no order.
  std::vector<Allocation> live(std::uint64_t before) const;
  /// Overwritten red zones, each reported once: the pattern is put back.
  std::vector<RedZoneHit> check_red_zones();
  std::size_t bytes_in_use() const;
  std::size_t capacity() const { return wide_ ? std::min(capacity_, kWideCapacity) : capacity_; }

 private:
  struct Block {
    std::size_t bytes = 0;  ///< as asked for
    CallStack caller;
    std::uint64_t serial = 0;
    std::size_t span = 0;  ///< with the red zones
    ByteRanges written{};
    bool given_up = false;
  };
  class RuntimeView;
  std::size_t offset_of(const void* pointer) const {
    return static_cast<std::size_t>(static_cast<const std::byte*>(pointer) - device_);
  }
  std::size_t block_span(std::size_t bytes) const;
  static void check_zone(std::byte* zone, std::size_t size, std::ptrdiff_t offset, RedZoneHit& hit);

  mutable std::mutex mutex_;
  std::byte* device_ = nullptr;
  std::byte* runtime_ = nullptr;
  std::size_t capacity_ = 0;
  std::size_t high_water_ = 0;                 ///< bytes of the arena that were ever in use
  std::map<std::size_t, Block> live_;          ///< by arena offset of the first byte after the red zone
  std::map<std::size_t, Block> aside_;         ///< the same, of graphs
  std::set<std::size_t> of_graphs_;            ///< which of either belong to graphs
  std::map<std::size_t, std::size_t> free_;    ///< offset -> span of holes below the high-water mark
  std::map<std::size_t, std::size_t> fences_;  ///< offset -> bytes
  std::size_t in_use_ = 0;
  std::uint64_t next_serial_ = 1;
  bool wide_ = false;
  std::size_t limit_ = 0;
};

/// Memory of the host that one side must not touch.
class ClosedRanges {
 public:
  void add(void* begin, std::size_t bytes);
  void remove(void* begin);
  void close();                              ///< inaccessible
  void open();                               ///< as before
  bool contains(const void* address) const;  ///< safe in a signal handler

 private:
  struct Range {
    std::byte* begin;
    std::size_t bytes;
  };
  std::vector<Range> ranges_;
};

DeviceMemory& device_memory();
/// True if all of it is one allocation's, or one variable's whose address the host has asked for.
bool kernels_may_touch(const void* begin, std::size_t bytes);
/// The page-locked and managed allocations there are, by address.
std::vector<HostSharedRange> host_shared_ranges();
/// As DeviceMemory::live(), of page-locked and managed memory.
std::vector<Allocation> live_shared(std::uint64_t before);
/// The device has been reset: what there is of them is no leak any more.
void forget_shared();
/// Closed while a kernel runs: protect_host_range() of control.hpp.
ClosedRanges& protected_host_ranges();
/// Open while a kernel runs: keep_for_kernels().
ClosedRanges& kernels_own_ranges();

}  // namespace simt
