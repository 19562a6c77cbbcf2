#pragma once
// What tiles and coalesced groups have in common: shuffles, votes and matches among some lanes of a warp,
// with lanes named by their rank in the group.

#include <cstring>
#include <type_traits>

#include "simt_kernel.h"

namespace simt {

SIMT_SHIM_INLINE unsigned block_threads() { return blockDim.x * blockDim.y * blockDim.z; }
SIMT_SHIM_INLINE unsigned block_thread() {
  return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

/// The caller's rank among those lanes.
SIMT_SHIM_INLINE unsigned rank_among(unsigned lanes) {
  return static_cast<unsigned>(__builtin_popcount(lanes & ((1u << simt_lane()) - 1u)));
}
/// The lane with that rank; the group must have one.
SIMT_SHIM_INLINE unsigned nth_lane(unsigned lanes, unsigned rank) {
  for (; rank > 0; --rank) lanes &= lanes - 1u;
  return static_cast<unsigned>(__builtin_ctz(lanes));
}
/// One bit for each lane, moved to the position of the lane's rank.
SIMT_SHIM_INLINE unsigned by_rank(unsigned bits, unsigned lanes) {
  unsigned packed = 0;
  for (unsigned rank = 0; lanes != 0; ++rank, lanes &= lanes - 1u)
    if ((bits & lanes & -lanes) != 0) packed |= 1u << rank;
  return packed;
}

/// Mix-in for a group that has lanes(), num_threads() and thread_rank().
template <class Group>
class WarpGroup {
 public:
  template <class T>
  T shfl(T value, unsigned rank) const {
    return from_rank(simt_shuffle_index, value, rank % count());
  }
  template <class T>
  T shfl_up(T value, unsigned delta) const {
    const unsigned rank = self().thread_rank();
    return from_rank(simt_shuffle_up, value, rank < delta ? rank : rank - delta);
  }
  template <class T>
  T shfl_down(T value, unsigned delta) const {
    const unsigned rank = self().thread_rank();
    return from_rank(simt_shuffle_down, value, rank + delta < count() ? rank + delta : rank);
  }
  template <class T>
  T shfl_xor(T value, unsigned lane_mask) const {
    const unsigned rank = self().thread_rank(), partner = rank ^ lane_mask;
    return from_rank(simt_shuffle_xor, value, partner < count() ? partner : rank);
  }
  int any(int predicate) const { return __any_sync(self().lanes(), predicate); }
  int all(int predicate) const { return __all_sync(self().lanes(), predicate); }
  unsigned ballot(int predicate) const {
    return by_rank(__ballot_sync(self().lanes(), predicate), self().lanes());
  }
  template <class T>
  unsigned match_any(T value) const {
    return by_rank(__match_any_sync(self().lanes(), value), self().lanes());
  }
  template <class T>
  unsigned match_all(T value, int& all_equal) const {
    return by_rank(__match_all_sync(self().lanes(), value, &all_equal), self().lanes());
  }

 private:
  const Group& self() const { return *static_cast<const Group*>(this); }
  unsigned count() const { return static_cast<unsigned>(self().num_threads()); }

  template <class T>
  T from_rank(SimtShuffle kind, const T& value, unsigned rank) const {
    static_assert(std::is_trivially_copyable_v<T>, "values that move between lanes are plain bytes");
    const unsigned lane = nth_lane(self().lanes(), rank);
    T result;
    for (std::size_t at = 0; at < sizeof(T); at += 8) {
      const std::size_t bytes = sizeof(T) - at < 8 ? sizeof(T) - at : 8;
      std::uint64_t bits = 0;
      __builtin_memcpy(&bits, reinterpret_cast<const char*>(&value) + at, bytes);
      bits = simt_shuffle(bytes > 4 ? static_cast<SimtShuffle>(kind | simt_shuffle_wide) : kind,
                          self().lanes(), bits, lane);
      __builtin_memcpy(reinterpret_cast<char*>(&result) + at, &bits, bytes);
    }
    return result;
  }
};

}  // namespace simt
