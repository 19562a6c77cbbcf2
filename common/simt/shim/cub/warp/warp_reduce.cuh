#pragma once
// cub::WarpReduce: op over the values of the threads of a logical warp. Its result is that of the warp's
// first thread.

#include "../../simt_cub.h"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32, int = 0>
class WarpReduce {
 public:
  struct TempStorage {};

  WarpReduce(TempStorage&) {}

  template <class Op>
  T Reduce(T input, Op op, int valid_items = LOGICAL_WARP_THREADS) {
    return simt::cub::warp_reduce<LOGICAL_WARP_THREADS>(input, op, valid_items);
  }
  T Sum(T input, int valid_items = LOGICAL_WARP_THREADS) { return Reduce(input, cub::Sum(), valid_items); }
  T Max(T input, int valid_items = LOGICAL_WARP_THREADS) { return Reduce(input, cub::Max(), valid_items); }
  T Min(T input, int valid_items = LOGICAL_WARP_THREADS) { return Reduce(input, cub::Min(), valid_items); }

  /// Each segment begins at a thread with a flag; its sum is that of its first thread.
  template <class Flag, class Op>
  T HeadSegmentedReduce(T input, Flag head_flag, Op op) {
    const simt::cub::LogicalWarp<LOGICAL_WARP_THREADS> warp;
    const unsigned heads = __ballot_sync(warp.mask, head_flag ? 1 : 0) & warp.mask;
    const unsigned behind = heads & ~((2u << warp.lane) - 1u);
    return reduce_before(input, op, warp, behind == 0 ? 32 : __builtin_ctz(behind));
  }
  /// Each segment ends at a thread with a flag.
  template <class Flag, class Op>
  T TailSegmentedReduce(T input, Flag tail_flag, Op op) {
    const simt::cub::LogicalWarp<LOGICAL_WARP_THREADS> warp;
    const unsigned tails = __ballot_sync(warp.mask, tail_flag ? 1 : 0) & warp.mask;
    const unsigned from_here = tails & ~((1u << warp.lane) - 1u);
    return reduce_before(input, op, warp, from_here == 0 ? 32 : __builtin_ctz(from_here) + 1);
  }
  template <class Flag>
  T HeadSegmentedSum(T input, Flag head_flag) {
    return HeadSegmentedReduce(input, head_flag, cub::Sum());
  }
  template <class Flag>
  T TailSegmentedSum(T input, Flag tail_flag) {
    return TailSegmentedReduce(input, tail_flag, cub::Sum());
  }

 private:
  template <class Op, class Warp>
  static T reduce_before(T value, Op op, const Warp& warp, int end) {
    const int lane = static_cast<int>(warp.lane), last = static_cast<int>(warp.first) + LOGICAL_WARP_THREADS;
    for (int offset = 1; offset < LOGICAL_WARP_THREADS; offset *= 2) {
      const bool inside = lane + offset < last;
      const T other =
          simt::cub::from_lane(warp.mask, value, static_cast<unsigned>(inside ? lane + offset : lane));
      if (inside && lane + offset < end) value = op(value, other);
    }
    return value;
  }
};

/// A warp of one thread has nothing to do.
template <class T, int kArchitecture>
class WarpReduce<T, 1, kArchitecture> {
 public:
  struct TempStorage {};
  WarpReduce(TempStorage&) {}
  template <class Op>
  T Reduce(T input, Op, int = 1) {
    return input;
  }
  T Sum(T input, int = 1) { return input; }
};

}  // namespace cub
