// inactive_lane: a warp sums with shuffles, and some of its lanes do not come.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void warp_sum_broken(const float* x, float* sum, int n) {
  const int lane = threadIdx.x;
  if (lane >= n) return;
  float value = x[lane];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  if (lane == 0) *sum = value;
}
// [broken]

// [fixed]
__global__ void warp_sum_fixed(const float* x, float* sum, int n) {
  const int lane = threadIdx.x;
  float value = lane < n ? x[lane] : 0.0f;
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  if (lane == 0) *sum = value;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 20;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  float* sum = nullptr;
  CUDA_CHECK(cudaMalloc(&sum, 1 * sizeof(float)));
  if (fixed)
    warp_sum_fixed<<<1, 32>>>(x, sum, n);
  else
    warp_sum_broken<<<1, 32>>>(x, sum, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(sum));
}
