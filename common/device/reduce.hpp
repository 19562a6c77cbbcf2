#pragma once
/// @file
/// Sums and maxima over the threads of a warp and of a block: what lesson 03 builds, for every thread to use.
///
/// No function here returns early or branches around a shuffle or a barrier; whoever calls one must not
/// either.

#include <cuda_runtime.h>

#include <cmath>

namespace course::device {

inline constexpr int kWarpSize = 32;
inline constexpr unsigned kFullMask = 0xffffffffu;  ///< all 32 lanes take part in a shuffle

// [warp]
/// @brief The sum of `value` over a warp, in every lane, with the same bits.
///
/// A butterfly: in each step a lane adds what the lane has whose number differs in one bit. Both of such a
/// pair add the same two numbers, so they agree to the last bit; lesson 03's __shfl_down_sync leaves the sum
/// in lane 0 alone. With kLanes (a power of two) below 32, each group of kLanes neighbours sums its own.
/// All 32 lanes must come here together.
template <int kLanes = kWarpSize>
__device__ float sum_warp(float value) {
  for (int bit = kLanes / 2; bit > 0; bit /= 2) value += __shfl_xor_sync(kFullMask, value, bit);
  return value;
}
// [warp]

/// @brief The largest `value` of a warp, in every lane; otherwise as sum_warp().
///
/// fmaxf ignores NaN: one that a lane brings is in the result only if all lanes bring one. A softmax may
/// leave it at that, since exp(NaN - max) is NaN and reaches every element of its row through the sum.
template <int kLanes = kWarpSize>
__device__ float max_warp(float value) {
  for (int bit = kLanes / 2; bit > 0; bit /= 2) value = fmaxf(value, __shfl_xor_sync(kFullMask, value, bit));
  return value;
}

// [block]
/// @brief Each warp leaves its value and reads those of all: lane k gets that of warp k % (the number of
/// warps). Warps that are fewer than lanes thus come in turns. May be called again at once, with the same
/// memory.
template <int kBlockThreads>
__device__ float exchange_between_warps(float value, float* warp_values_smem) {
  constexpr int kBlockWarps = kBlockThreads / kWarpSize;
  static_assert(kBlockThreads % kWarpSize == 0 && kBlockWarps <= kWarpSize, "whole warps, at most 32");
  static_assert((kBlockWarps & (kBlockWarps - 1)) == 0, "the butterfly needs a power of two");
  const int thread = static_cast<int>(threadIdx.x);
  if (thread % kWarpSize == 0) warp_values_smem[thread / kWarpSize] = value;
  __syncthreads();  // every warp has left its value: all may be read
  value = warp_values_smem[thread % kBlockWarps];
  __syncthreads();  // every thread has read: they may be overwritten
  return value;
}

/// @brief The sum of `value` over a block, in every thread, with the same bits.
///
/// The block has kBlockThreads threads along x, 32 times a power of two, and all must come here. There are
/// two barriers. warp_values_smem is an array in shared memory with a float for each warp, of no particular
/// value before and after: calls that follow one another may share it.
template <int kBlockThreads>
__device__ float sum_block(float value, float* warp_values_smem) {
  const float warp_sum = exchange_between_warps<kBlockThreads>(sum_warp(value), warp_values_smem);
  return sum_warp<kBlockThreads / kWarpSize>(warp_sum);
}
// [block]

/// @brief The largest `value` of a block; otherwise as sum_block(), and with NaN as in max_warp().
template <int kBlockThreads>
__device__ float max_block(float value, float* warp_values_smem) {
  const float warp_max = exchange_between_warps<kBlockThreads>(max_warp(value), warp_values_smem);
  return max_warp<kBlockThreads / kWarpSize>(warp_max);
}

}  // namespace course::device
