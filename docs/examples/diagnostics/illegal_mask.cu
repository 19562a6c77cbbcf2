// illegal_mask: half of the lanes call a shuffle whose mask does not name them.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void sum_halves_broken(const float* x, float* sums) {
  const int lane = threadIdx.x;
  float value = x[lane];
  for (int offset = 8; offset > 0; offset /= 2) value += __shfl_xor_sync(0x0000ffff, value, offset);
  if (lane % 16 == 0) sums[lane / 16] = value;
}
// [broken]

// [fixed]
__global__ void sum_halves_fixed(const float* x, float* sums) {
  const int lane = threadIdx.x;
  float value = x[lane];
  for (int offset = 8; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffff, value, offset);
  if (lane % 16 == 0) sums[lane / 16] = value;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * sizeof(float)));
  float* sums = nullptr;
  CUDA_CHECK(cudaMalloc(&sums, 2 * sizeof(float)));
  if (fixed)
    sum_halves_fixed<<<1, 32>>>(x, sums);
  else
    sum_halves_broken<<<1, 32>>>(x, sums);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(sums));
}
