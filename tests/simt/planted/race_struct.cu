// Warps leave their softmax statistics as structs in shared memory, and the first warp merges them without
// waiting. All members of a struct that another warp wrote are behind the same barrier: __syncthreads()
// before the read.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

struct RowStats {
  float max, sum;
};

__device__ RowStats merge(RowStats a, RowStats b) {
  const float max = fmaxf(a.max, b.max);
  return {max, a.sum * expf(a.max - max) + b.sum * expf(b.max - max)};
}

__device__ RowStats merge_warp(RowStats stats) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const RowStats other{__shfl_xor_sync(0xffffffff, stats.max, offset),
                         __shfl_xor_sync(0xffffffff, stats.sum, offset)};
    stats = merge(stats, other);
  }
  return stats;
}

__global__ void row_statistics(const float* x, RowStats* stats) {
  __shared__ RowStats of_warp[32];
  const int t = threadIdx.x, lane = t % 32, warp = t / 32;
  const RowStats mine = merge_warp({x[blockIdx.x * 1024 + t], 1.0f});
  if (lane == 0) of_warp[warp] = mine;  // A
  if (warp == 0) {
    const RowStats collected = of_warp[lane];  // B
    const RowStats row = merge_warp(collected);
    if (lane == 0) stats[blockIdx.x] = row;
  }
}

int main() {
  float* x;
  RowStats* stats;
  cudaMalloc(&x, 1024 * sizeof(float));
  cudaMalloc(&stats, sizeof(RowStats));
  cudaMemset(x, 0, 1024 * sizeof(float));
  row_statistics<<<1, 1024>>>(x, stats);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(stats);
  return 0;
}
