#pragma once
// cub::WarpScan: prefix sums, or whatever op makes, over the threads of a logical warp.

#include "../../simt_cub.h"

namespace cub {

template <class T, int LOGICAL_WARP_THREADS = 32, int = 0>
class WarpScan {
 public:
  struct TempStorage {};

  WarpScan(TempStorage&) {}

  template <class Op>
  void InclusiveScan(T input, T& inclusive_output, Op op) {
    inclusive_output = simt::cub::warp_inclusive_scan<LOGICAL_WARP_THREADS>(input, op);
  }
  template <class Op>
  void InclusiveScan(T input, T& inclusive_output, Op op, T& warp_aggregate) {
    InclusiveScan(input, inclusive_output, op);
    warp_aggregate = Broadcast(inclusive_output, LOGICAL_WARP_THREADS - 1);
  }
  void InclusiveSum(T input, T& inclusive_output) { InclusiveScan(input, inclusive_output, cub::Sum()); }
  void InclusiveSum(T input, T& inclusive_output, T& warp_aggregate) {
    InclusiveScan(input, inclusive_output, cub::Sum(), warp_aggregate);
  }

  /// Without an initial value, the output of the first thread means nothing.
  template <class Op>
  void ExclusiveScan(T input, T& exclusive_output, Op op) {
    T inclusive = input;
    Scan(input, inclusive, exclusive_output, op);
  }
  template <class Op>
  void ExclusiveScan(T input, T& exclusive_output, Op op, T& warp_aggregate) {
    T inclusive = input;
    Scan(input, inclusive, exclusive_output, op);
    warp_aggregate = Broadcast(inclusive, LOGICAL_WARP_THREADS - 1);
  }
  template <class Op>
  void ExclusiveScan(T input, T& exclusive_output, T initial_value, Op op) {
    T inclusive = input;
    Scan(input, inclusive, exclusive_output, initial_value, op);
  }
  /// The aggregate leaves the initial value out.
  template <class Op>
  void ExclusiveScan(T input, T& exclusive_output, T initial_value, Op op, T& warp_aggregate) {
    ExclusiveScan(input, exclusive_output, op, warp_aggregate);
    exclusive_output = first() ? initial_value : op(initial_value, exclusive_output);
  }
  void ExclusiveSum(T input, T& exclusive_output) { ExclusiveScan(input, exclusive_output, T{}, cub::Sum()); }
  void ExclusiveSum(T input, T& exclusive_output, T& warp_aggregate) {
    ExclusiveScan(input, exclusive_output, T{}, cub::Sum(), warp_aggregate);
  }

  template <class Op>
  void Scan(T input, T& inclusive_output, T& exclusive_output, Op op) {
    InclusiveScan(input, inclusive_output, op);
    exclusive_output = simt::cub::from_rank_before<LOGICAL_WARP_THREADS>(inclusive_output);
  }
  template <class Op>
  void Scan(T input, T& inclusive_output, T& exclusive_output, T initial_value, Op op) {
    Scan(input, inclusive_output, exclusive_output, op);
    inclusive_output = op(initial_value, inclusive_output);
    exclusive_output = first() ? initial_value : op(initial_value, exclusive_output);
  }

  T Broadcast(T input, unsigned src_lane) {
    const simt::cub::LogicalWarp<LOGICAL_WARP_THREADS> warp;
    return simt::cub::from_lane(warp.mask, input, warp.first + src_lane);
  }

 private:
  static bool first() { return simt::cub::LogicalWarp<LOGICAL_WARP_THREADS>().rank() == 0; }
};

}  // namespace cub
