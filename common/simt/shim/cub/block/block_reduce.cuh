#pragma once
// cub::BlockReduce: op over the values of all threads of a block. Its result is that of thread 0.

#include "../../simt_cub.h"

namespace cub {

/// All of them are done as BLOCK_REDUCE_WARP_REDUCTIONS is.
enum BlockReduceAlgorithm {
  BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
  BLOCK_REDUCE_RAKING,
  BLOCK_REDUCE_WARP_REDUCTIONS,
};

template <class T, int BLOCK_DIM_X, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS, int BLOCK_DIM_Y = 1,
          int BLOCK_DIM_Z = 1, int = 0>
class BlockReduce {
  static constexpr int kThreads = BLOCK_DIM_X * BLOCK_DIM_Y * BLOCK_DIM_Z, kWarps = (kThreads + 31) / 32;

 public:
  struct TempStorage {
    Uninitialized<T> of_warp[kWarps];
  };

  BlockReduce() : BlockReduce(simt::cub::private_storage<TempStorage>()) {}
  BlockReduce(TempStorage& temp_storage) : own_{temp_storage} {}

  template <class Op>
  T Reduce(T input, Op op, int num_valid = kThreads) {
    const int thread = static_cast<int>(own_.thread), warp = thread / 32, left = kThreads - 32 * warp;
    T result = simt::cub::warp_reduce<32>(input, op, num_valid - 32 * warp, left < 32 ? left : 32);
    if (kWarps == 1) return result;
    if (thread % 32 == 0) own_.storage.of_warp[warp].Alias() = result;
    __syncthreads();
    if (thread == 0)
      for (int other = 1; other < kWarps && 32 * other < num_valid; ++other)
        result = op(result, own_.storage.of_warp[other].Alias());
    return result;
  }
  template <int ITEMS_PER_THREAD, class Op>
  T Reduce(T (&inputs)[ITEMS_PER_THREAD], Op op) {
    return Reduce(ThreadReduce(inputs, op), op);
  }
  T Sum(T input, int num_valid = kThreads) { return Reduce(input, cub::Sum(), num_valid); }
  template <int ITEMS_PER_THREAD>
  T Sum(T (&inputs)[ITEMS_PER_THREAD]) {
    return Reduce(inputs, cub::Sum());
  }

 private:
  simt::cub::Primitive<TempStorage> own_;
};

}  // namespace cub
