#pragma once
// Cooperative groups: the grid, the block, tiles of a warp or of several, and the lanes that run together.
// Clusters are not simulated.

#include <type_traits>

#include "cuda_runtime.h"
#include "simt_tile_abi.h"
#include "simt_warp_group.h"

namespace cooperative_groups {

class thread_block;
template <unsigned kSize, class Parent = void>
class thread_block_tile;

/// Any group up to a block, as a value whose kind is known at run time only.
class thread_group {
 public:
  void sync() const {
    if (lanes_ == 0)
      __syncthreads();
    else
      __syncwarp(lanes_);
  }
  unsigned long long size() const { return num_threads(); }
  unsigned long long num_threads() const {
    return lanes_ == 0 ? simt::block_threads() : static_cast<unsigned>(__builtin_popcount(lanes_));
  }
  unsigned long long thread_rank() const {
    return lanes_ == 0 ? simt::block_thread() : simt::rank_among(lanes_);
  }
  unsigned lanes() const { return lanes_; }

 protected:
  explicit thread_group(unsigned lanes) : lanes_(lanes) {}
  unsigned lanes_;  ///< of the caller's warp; 0: the whole block
};

class thread_block : public thread_group {
 public:
  static void sync() { __syncthreads(); }
  static unsigned size() { return simt::block_threads(); }
  static unsigned num_threads() { return simt::block_threads(); }
  static unsigned thread_rank() { return simt::block_thread(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }

 private:
  thread_block() : thread_group(0) {}
  friend thread_block this_thread_block();
};
inline thread_block this_thread_block() { return thread_block(); }

/// What tiles of more than one warp exchange values through on a GPU.
template <unsigned kMaxThreads = 1024>
struct block_tile_memory {
  unsigned char bytes[kMaxThreads];
};
template <unsigned kMaxThreads>
thread_block this_thread_block(block_tile_memory<kMaxThreads>&) {
  return this_thread_block();
}

class grid_group {
 public:
  static bool is_valid() { return simt_grid_can_sync() != 0; }
  static void sync() { simt_sync_grid(); }
  static unsigned long long num_blocks() { return 1ull * gridDim.x * gridDim.y * gridDim.z; }
  static unsigned long long block_rank() {
    return (1ull * blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  }
  static unsigned long long num_threads() { return num_blocks() * simt::block_threads(); }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long thread_rank() {
    return block_rank() * simt::block_threads() + simt::block_thread();
  }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }

 private:
  grid_group() = default;
  friend grid_group this_grid();
};
inline grid_group this_grid() { return grid_group(); }

/// The lanes that came to coalesced_threads() together, or a part of a group. Ranks follow the lanes.
class coalesced_group : public thread_group, public simt::WarpGroup<coalesced_group> {
 public:
  explicit coalesced_group(unsigned lanes, unsigned rank = 0, unsigned count = 1)
      : thread_group(lanes), meta_rank_(rank), meta_count_(count) {}
  void sync() const { __syncwarp(lanes_); }
  unsigned size() const { return num_threads(); }
  unsigned num_threads() const { return static_cast<unsigned>(__builtin_popcount(lanes_)); }
  unsigned thread_rank() const { return simt::rank_among(lanes_); }
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_count_; }

 private:
  unsigned meta_rank_, meta_count_;
};
inline coalesced_group coalesced_threads() { return coalesced_group(__activemask()); }

template <unsigned kSize>
class thread_block_tile<kSize, void> : public thread_group,
                                       public simt::WarpGroup<thread_block_tile<kSize, void>> {
  static_assert(kSize != 0 && (kSize & (kSize - 1)) == 0, "the size of a tile is a power of two");

 public:
  static void sync() { __syncwarp(tile_lanes()); }
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned thread_rank() { return simt_lane() % kSize; }
  unsigned meta_group_rank() const { return simt::block_thread() % parent_ / kSize; }
  unsigned meta_group_size() const { return (parent_ + kSize - 1) / kSize; }

 protected:
  explicit thread_block_tile(unsigned parent_threads) : thread_group(tile_lanes()), parent_(parent_threads) {}

 private:
  static unsigned tile_lanes() {
    return (kSize == 32 ? ~0u : (1u << kSize % 32) - 1u) << (simt_lane() & ~(kSize - 1u));
  }
  unsigned parent_;  ///< threads of the group that was divided
};

/// Of several warps, which meet and exchange values through memory of the block.
template <unsigned kSize>
requires(kSize > 32) class thread_block_tile<kSize, void> {
  static_assert((kSize & (kSize - 1)) == 0 && kSize <= 512, "a tile of several warps has 64 to 512 threads");

 public:
  static void sync() { simt_tile_sync(kSize); }
  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  static unsigned thread_rank() { return simt::block_thread() % kSize; }
  unsigned meta_group_rank() const { return simt::block_thread() % parent_ / kSize; }
  unsigned meta_group_size() const { return (parent_ + kSize - 1) / kSize; }

  template <class T>
  T shfl(const T& value, unsigned rank) const {
    T result;
    exchange(value, [&](std::size_t at, std::size_t bytes) {
      const std::uint64_t bits = simt_tile_get(simt::block_thread() / kSize * kSize + rank % kSize);
      __builtin_memcpy(reinterpret_cast<char*>(&result) + at, &bits, bytes);
    });
    return result;
  }
  int any(int predicate) const { return count(predicate) != 0; }
  int all(int predicate) const { return count(predicate) == kSize; }

 protected:
  explicit thread_block_tile(unsigned parent_threads) : parent_(parent_threads) {}

 private:
  template <class T, class Take>
  void exchange(const T& value, Take take) const {
    static_assert(std::is_trivially_copyable_v<T>, "values that move between threads are plain bytes");
    for (std::size_t at = 0; at < sizeof(T); at += 8) {
      const std::size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
      std::uint64_t mine = 0;
      __builtin_memcpy(&mine, reinterpret_cast<const char*>(&value) + at, bytes);
      simt_tile_put(mine);
      sync();
      take(at, bytes);
      sync();
    }
  }
  unsigned count(int predicate) const {
    unsigned yes = 0;
    exchange(static_cast<int>(predicate != 0), [&](std::size_t, std::size_t) {
      for (unsigned rank = 0; rank < kSize; ++rank)
        yes += static_cast<unsigned>(simt_tile_get(simt::block_thread() / kSize * kSize + rank));
    });
    return yes;
  }
  unsigned parent_;  ///< threads of the group that was divided
};

template <unsigned kSize, class Parent>
class thread_block_tile : public thread_block_tile<kSize, void> {
 public:
  explicit thread_block_tile(const Parent& parent)
      : thread_block_tile<kSize, void>(static_cast<unsigned>(parent.num_threads())) {}
};

// --- Dividing groups -------------------------------------------------------------------------------------

template <unsigned kSize, class Parent>
thread_block_tile<kSize, Parent> tiled_partition(const Parent& parent) {
  return thread_block_tile<kSize, Parent>(parent);
}

/// Consecutive ranks form a tile.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  const unsigned tile = parent.thread_rank() / size;
  unsigned lanes = 0;
  for (unsigned rank = tile * size; rank < (tile + 1) * size && rank < parent.num_threads(); ++rank)
    lanes |= 1u << simt::nth_lane(parent.lanes(), rank);
  return coalesced_group(lanes, tile, (parent.num_threads() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  simt_check(size <= 32 && (size & (size - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
  const unsigned lanes = parent.lanes() != 0 ? parent.lanes() : ~0u;
  return tiled_partition(coalesced_group(lanes), size);
}

/// The threads of a tile or a coalesced group that have the same label.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label) {
  return coalesced_group(__match_any_sync(group.lanes(), label));
}
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.lanes(), predicate);
  return coalesced_group(predicate ? yes : group.lanes() & ~yes, predicate ? 1 : 0, 2);
}

// --- Free functions --------------------------------------------------------------------------------------

template <class Group>
void sync(const Group& group) {
  group.sync();
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.num_threads();
}
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
auto invoke_one_broadcast(const Group& group, Function&& function, Arguments&&... arguments) {
  std::decay_t<decltype(function(static_cast<Arguments&&>(arguments)...))> result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

}  // namespace cooperative_groups
