#pragma once
// cub::BlockScan: prefix sums, or whatever op makes, over all threads of a block, or over their items in
// blocked order.

#include "../../simt_cub.h"

namespace cub {

/// All of them are done as BLOCK_SCAN_WARP_SCANS is.
enum BlockScanAlgorithm { BLOCK_SCAN_RAKING, BLOCK_SCAN_RAKING_MEMOIZE, BLOCK_SCAN_WARP_SCANS };

template <class T, int BLOCK_DIM_X, BlockScanAlgorithm = BLOCK_SCAN_RAKING, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockScan {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    Uninitialized<T> of_warp[kWarps], prefix;
  };

  BlockScan() : BlockScan(simt::cub::private_storage<TempStorage>()) {}
  BlockScan(TempStorage& temp_storage) : own_{temp_storage} {}

  // --- Sums. `block_aggregate` is the sum of all; `prefix_op(block_aggregate)` is called by the first warp,
  // and what it returns to thread 0 comes before everything.
  void ExclusiveSum(T input, T& output) { ExclusiveScan(input, output, T{}, cub::Sum()); }
  void ExclusiveSum(T input, T& output, T& block_aggregate) {
    ExclusiveScan(input, output, T{}, cub::Sum(), block_aggregate);
  }
  template <class PrefixOp>
  void ExclusiveSum(T input, T& output, PrefixOp& prefix_op) {
    ExclusiveScan(input, output, cub::Sum(), prefix_op);
  }
  template <int ITEMS>
  void ExclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS]) {
    ExclusiveScan(input, output, T{}, cub::Sum());
  }
  template <int ITEMS>
  void ExclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], T& block_aggregate) {
    ExclusiveScan(input, output, T{}, cub::Sum(), block_aggregate);
  }
  template <int ITEMS, class PrefixOp>
  void ExclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], PrefixOp& prefix_op) {
    ExclusiveScan(input, output, cub::Sum(), prefix_op);
  }
  void InclusiveSum(T input, T& output) { InclusiveScan(input, output, cub::Sum()); }
  void InclusiveSum(T input, T& output, T& block_aggregate) {
    InclusiveScan(input, output, cub::Sum(), block_aggregate);
  }
  template <class PrefixOp>
  void InclusiveSum(T input, T& output, PrefixOp& prefix_op) {
    InclusiveScan(input, output, cub::Sum(), prefix_op);
  }
  template <int ITEMS>
  void InclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS]) {
    InclusiveScan(input, output, cub::Sum());
  }
  template <int ITEMS>
  void InclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], T& block_aggregate) {
    InclusiveScan(input, output, cub::Sum(), block_aggregate);
  }
  template <int ITEMS, class PrefixOp>
  void InclusiveSum(T (&input)[ITEMS], T (&output)[ITEMS], PrefixOp& prefix_op) {
    InclusiveScan(input, output, cub::Sum(), prefix_op);
  }

  // --- Exclusive scans. Without an initial value, the output of thread 0's first item means nothing. The
  // aggregate leaves the initial value out.
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial_value, Op op) {
    put_exclusive(input, output, op, scan(input, op), &initial_value);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, T initial_value, Op op, T& block_aggregate) {
    const Result result = scan(input, op);
    put_exclusive(input, output, op, result, &initial_value);
    block_aggregate = result.all;
  }
  template <class Op, class PrefixOp>
  void ExclusiveScan(T input, T& output, Op op, PrefixOp& prefix_op) {
    const Result result = scan(input, op);
    const T prefix = before_all(result.all, prefix_op);
    put_exclusive(input, output, op, result, &prefix);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, Op op) {
    put_exclusive(input, output, op, scan(input, op), nullptr);
  }
  template <class Op>
  void ExclusiveScan(T input, T& output, Op op, T& block_aggregate) {
    const Result result = scan(input, op);
    put_exclusive(input, output, op, result, nullptr);
    block_aggregate = result.all;
  }
  template <int ITEMS, class Op>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], T initial_value, Op op) {
    put_exclusive(input, output, op, scan(ThreadReduce(input, op), op), &initial_value);
  }
  template <int ITEMS, class Op>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], T initial_value, Op op, T& block_aggregate) {
    const Result result = scan(ThreadReduce(input, op), op);
    put_exclusive(input, output, op, result, &initial_value);
    block_aggregate = result.all;
  }
  template <int ITEMS, class Op, class PrefixOp>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], Op op, PrefixOp& prefix_op) {
    const Result result = scan(ThreadReduce(input, op), op);
    const T prefix = before_all(result.all, prefix_op);
    put_exclusive(input, output, op, result, &prefix);
  }
  template <int ITEMS, class Op>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], Op op) {
    put_exclusive(input, output, op, scan(ThreadReduce(input, op), op), nullptr);
  }
  template <int ITEMS, class Op>
  void ExclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], Op op, T& block_aggregate) {
    const Result result = scan(ThreadReduce(input, op), op);
    put_exclusive(input, output, op, result, nullptr);
    block_aggregate = result.all;
  }

  // --- Inclusive scans
  template <class Op>
  void InclusiveScan(T input, T& output, Op op) {
    put_inclusive(input, output, op, scan(input, op), nullptr);
  }
  template <class Op>
  void InclusiveScan(T input, T& output, Op op, T& block_aggregate) {
    const Result result = scan(input, op);
    put_inclusive(input, output, op, result, nullptr);
    block_aggregate = result.all;
  }
  template <class Op, class PrefixOp>
  void InclusiveScan(T input, T& output, Op op, PrefixOp& prefix_op) {
    const Result result = scan(input, op);
    const T prefix = before_all(result.all, prefix_op);
    put_inclusive(input, output, op, result, &prefix);
  }
  template <int ITEMS, class Op>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], Op op) {
    put_inclusive(input, output, op, scan(ThreadReduce(input, op), op), nullptr);
  }
  template <int ITEMS, class Op>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], Op op, T& block_aggregate) {
    const Result result = scan(ThreadReduce(input, op), op);
    put_inclusive(input, output, op, result, nullptr);
    block_aggregate = result.all;
  }
  template <int ITEMS, class Op, class PrefixOp>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], Op op, PrefixOp& prefix_op) {
    const Result result = scan(ThreadReduce(input, op), op);
    const T prefix = before_all(result.all, prefix_op);
    put_inclusive(input, output, op, result, &prefix);
  }
  template <int ITEMS, class Op>
  void InclusiveScan(T (&input)[ITEMS], T (&output)[ITEMS], T initial_value, Op op) {
    put_inclusive(input, output, op, scan(ThreadReduce(input, op), op), &initial_value);
  }

 private:
  struct Result {
    T before;  ///< op over the threads before this one; thread 0: nothing
    T all;     ///< over all threads
  };

  template <class Op>
  Result scan(T mine, Op op) {
    const int thread = static_cast<int>(own_.thread), warp = thread / 32, lane = thread % 32;
    const T inclusive = simt::cub::warp_inclusive_scan<32>(mine, op);
    if (lane == 31 || thread == kThreads - 1) own_.storage.of_warp[warp].Alias() = inclusive;
    Result result{simt::cub::from_rank_before<32>(inclusive), inclusive};
    __syncthreads();
    T sum = own_.storage.of_warp[0].Alias();
    for (int other = 1; other <= kWarps; ++other) {
      if (other == warp) result.before = lane == 0 ? sum : op(sum, result.before);
      if (other < kWarps) sum = op(sum, own_.storage.of_warp[other].Alias());
    }
    result.all = sum;
    return result;
  }

  template <class PrefixOp>
  T before_all(const T& all, PrefixOp& prefix_op) {
    if (own_.thread < 32) {
      const T prefix = prefix_op(all);
      if (own_.thread == 0) own_.storage.prefix.Alias() = prefix;
    }
    __syncthreads();
    return own_.storage.prefix.Alias();
  }

  /// What comes before this thread's first item, if anything does.
  template <class Op>
  bool begin(Op op, const Result& result, const T* initial, T& before) const {
    if (own_.thread == 0 && initial == nullptr) return false;
    before = own_.thread == 0 ? *initial : initial == nullptr ? result.before : op(*initial, result.before);
    return true;
  }
  template <class Op>
  void put_exclusive(const T& input, T& output, Op op, const Result& result, const T* initial) const {
    T before = input;
    begin(op, result, initial, before);
    output = before;
  }
  template <class Op>
  void put_inclusive(const T& input, T& output, Op op, const Result& result, const T* initial) const {
    T before = input;
    output = begin(op, result, initial, before) ? op(before, input) : input;
  }
  // `input` and `output` may be the same.
  template <int ITEMS, class Op>
  void put_exclusive(T (&input)[ITEMS], T (&output)[ITEMS], Op op, const Result& result,
                     const T* initial) const {
    T before = input[0];
    bool any = begin(op, result, initial, before);
    for (int i = 0; i < ITEMS; ++i) {
      const T item = input[i];
      output[i] = before;
      before = any ? op(before, item) : item;
      any = true;
    }
  }
  template <int ITEMS, class Op>
  void put_inclusive(T (&input)[ITEMS], T (&output)[ITEMS], Op op, const Result& result,
                     const T* initial) const {
    T before = input[0];
    bool any = begin(op, result, initial, before);
    for (int i = 0; i < ITEMS; ++i) {
      output[i] = before = any ? op(before, input[i]) : input[i];
      any = true;
    }
  }

  simt::cub::Primitive<TempStorage> own_;
};

}  // namespace cub
