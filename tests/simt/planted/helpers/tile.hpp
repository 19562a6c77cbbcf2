#pragma once
// What planted programs call: functions of a header, as a course's own are. They are right; how they are
// called is not.

#include <cuda_runtime.h>

/// tile_smem = kCount numbers, brought by all threads of the block.
template <int kCount>
__device__ void load_tile(const float* from, float* tile_smem) {
  for (int i = static_cast<int>(threadIdx.x); i < kCount; i += static_cast<int>(blockDim.x))
    tile_smem[i] = from[i];
}

template <int kCount>
__device__ float sum_tile(const float* tile_smem) {
  float sum = 0.0f;
  for (int i = 0; i < kCount; ++i) sum += tile_smem[i];
  return sum;
}

inline __device__ float sum_warp(float value) {
  for (int bit = 16; bit > 0; bit /= 2) value += __shfl_xor_sync(0xffffffffu, value, bit);
  return value;
}

/// The sum over a block of kBlockThreads threads; all of them must come here.
template <int kBlockThreads>
__device__ float sum_block(float value, float* warp_sums_smem) {
  const int thread = static_cast<int>(threadIdx.x);
  value = sum_warp(value);
  if (thread % 32 == 0) warp_sums_smem[thread / 32] = value;
  __syncthreads();
  value = 0.0f;
  for (int warp = 0; warp < kBlockThreads / 32; ++warp) value += warp_sums_smem[warp];
  return value;
}
