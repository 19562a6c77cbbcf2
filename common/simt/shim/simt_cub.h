#pragma once
// What the parts of CUB have in common: operators, moves between the lanes of a warp, and the work of a
// logical warp, which the primitives of a block are built of.

#include "simt_library.h"

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <type_traits>

#include "cuda_runtime.h"
#include "simt_warp_group.h"

namespace cub {

#define SIMT_CUB_OPERATOR(Name, expression)                      \
  struct Name {                                                  \
    template <class T, class U>                                  \
    SIMT_SHIM_INLINE auto operator()(T a, U b) const {           \
      return static_cast<std::common_type_t<T, U> >(expression); \
    }                                                            \
  };
SIMT_CUB_OPERATOR(Sum, a + b)
SIMT_CUB_OPERATOR(Difference, a - b)
SIMT_CUB_OPERATOR(Division, a / b)
SIMT_CUB_OPERATOR(Max, b < a ? a : b)
SIMT_CUB_OPERATOR(Min, b < a ? b : a)
#undef SIMT_CUB_OPERATOR
struct Equality {
  template <class T, class U>
  SIMT_SHIM_INLINE bool operator()(const T& a, const U& b) const {
    return a == b;
  }
};
struct Inequality {
  template <class T, class U>
  SIMT_SHIM_INLINE bool operator()(const T& a, const U& b) const {
    return a != b;
  }
};

template <class Key, class Value>
struct KeyValuePair {
  Key key;
  Value value;
};
/// Of two pairs the one with the larger value, or at equal values the one with the smaller key.
struct ArgMax {
  template <class Pair>
  SIMT_SHIM_INLINE Pair operator()(const Pair& a, const Pair& b) const {
    return a.value < b.value || (!(b.value < a.value) && b.key < a.key) ? b : a;
  }
};
struct ArgMin {
  template <class Pair>
  SIMT_SHIM_INLINE Pair operator()(const Pair& a, const Pair& b) const {
    return b.value < a.value || (!(a.value < b.value) && b.key < a.key) ? b : a;
  }
};

struct NullType {};

/// Memory for a T that no constructor runs on, as CUB's of the same name.
template <class T>
struct Uninitialized {
  alignas(T) unsigned char storage[sizeof(T)];
  T& Alias() { return *reinterpret_cast<T*>(storage); }
};

inline cudaError_t Debug(cudaError_t error, const char* file, int line) {
  if (error != cudaSuccess)
    std::fprintf(stderr, "CUDA error %d [%s, %d]: %s\n", error, file, line, cudaGetErrorString(error));
  return error;
}
#define CubDebug(e) cub::Debug(static_cast<cudaError_t>(e), __FILE__, __LINE__)
#define CubDebugExit(e)              \
  do {                               \
    if (CubDebug((e))) std::exit(1); \
  } while (0)

SIMT_SHIM_INLINE int RowMajorTid(int, int, int) { return static_cast<int>(simt::block_thread()); }
SIMT_SHIM_INLINE unsigned LaneId() { return simt_lane(); }
SIMT_SHIM_INLINE unsigned WarpId() { return simt::block_thread() / 32; }

/// The sum, or whatever op makes, of a thread's own items, from the first on.
template <int kItems, class T, class Op>
SIMT_SHIM_INLINE T ThreadReduce(T (&input)[kItems], Op op) {
  T result = input[0];
  for (int i = 1; i < kItems; ++i) result = op(result, input[i]);
  return result;
}

}  // namespace cub

namespace simt::cub {

/// The value of another lane, in as many shuffles as it takes; one's own where there is no such lane.
template <class T>
SIMT_SHIM_INLINE T from_lane(unsigned mask, const T& value, unsigned lane) {
  static_assert(std::is_trivially_copyable_v<T> || std::is_copy_constructible_v<T>);
  constexpr std::size_t kWords = (sizeof(T) + 7) / 8;
  std::uint64_t words[kWords] = {};
  std::memcpy(words, static_cast<const void*>(&value), sizeof(T));
  for (std::size_t i = 0; i < kWords; ++i) words[i] = simt_shuffle(simt_shuffle_index, mask, words[i], lane);
  T result = value;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

/// The lanes of a logical warp of `kThreads`, and the caller's place among them. A warp of 32 threads, or of
/// a number that is no power of 2, is the first lanes of a warp of the hardware.
template <int kThreads>
struct LogicalWarp {
  static_assert(kThreads >= 1 && kThreads <= 32, "a logical warp of CUB has 1 to 32 threads");
  static constexpr bool kShares = kThreads < 32 && (kThreads & (kThreads - 1)) == 0;
  unsigned lane = simt_lane(), first = kShares ? lane / kThreads * kThreads : 0;
  unsigned mask = (kThreads == 32 ? ~0u : (1u << kThreads % 32) - 1u) << first;
  unsigned rank() const { return lane - first; }
};

/// A tree over ranks: each step takes the value `offset` ranks further on. Rank 0 has op over the first
/// `valid` values, in their order; the others have sums of no use. `threads`: that the warp has, if it is a
/// block's last.
template <int kThreads, class T, class Op>
SIMT_SHIM_INLINE T warp_reduce(T value, Op op, int valid, int threads = kThreads) {
  const LogicalWarp<kThreads> warp;
  const int rank = static_cast<int>(warp.rank());
  for (int offset = 1; offset < kThreads; offset *= 2) {
    const bool inside = rank + offset < threads;
    const T other = from_lane(warp.mask, value, warp.lane + static_cast<unsigned>(inside ? offset : 0));
    if (inside && rank + offset < valid) value = op(value, other);
  }
  return value;
}

template <int kThreads, class T, class Op>
SIMT_SHIM_INLINE T warp_inclusive_scan(T value, Op op) {
  const LogicalWarp<kThreads> warp;
  const int rank = static_cast<int>(warp.rank());
  for (int offset = 1; offset < kThreads; offset *= 2) {
    const T other =
        from_lane(warp.mask, value, warp.lane - static_cast<unsigned>(rank < offset ? 0 : offset));
    if (rank >= offset) value = op(other, value);
  }
  return value;
}

/// The inclusive result of the rank before; rank 0 gets its own.
template <int kThreads, class T>
SIMT_SHIM_INLINE T from_rank_before(const T& inclusive) {
  const LogicalWarp<kThreads> warp;
  return from_lane(warp.mask, inclusive, warp.lane - (warp.rank() == 0 ? 0u : 1u));
}

/// A primitive's shared memory where the program hands it none: one for each type, as in CUB.
template <class Storage>
SIMT_SHIM_INLINE Storage& private_storage() {
  __shared__ Storage storage;
  SIMT_NAME_SHARED(storage);
  return storage;
}

/// What makes an object of a primitive of the memory that it is given, and of the caller's place in the
/// block.
template <class Storage>
struct Primitive {
  Storage& storage;
  unsigned thread = simt::block_thread();
};

}  // namespace simt::cub
