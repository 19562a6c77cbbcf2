// null_pointer: an output that the caller may leave out is written all the same.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
// largest may be nullptr: then nobody wants it.
__global__ void row_sum_broken(const float* x, int cols, float* sums, float* largest) {
  float sum = 0.0f, most = -INFINITY;
  for (int col = 0; col < cols; ++col) {
    const float value = x[threadIdx.x * cols + col];
    sum += value;
    most = fmaxf(most, value);
  }
  sums[threadIdx.x] = sum;
  largest[threadIdx.x] = most;
}
// [broken]

__global__ void row_sum_fixed(const float* x, int cols, float* sums, float* largest) {
  float sum = 0.0f, most = -INFINITY;
  for (int col = 0; col < cols; ++col) {
    const float value = x[threadIdx.x * cols + col];
    sum += value;
    most = fmaxf(most, value);
  }
  sums[threadIdx.x] = sum;
  // [fixed]
  if (largest != nullptr) largest[threadIdx.x] = most;
  // [fixed]
}

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int cols = 8;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * cols * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * cols * sizeof(float)));
  float* sums = nullptr;
  CUDA_CHECK(cudaMalloc(&sums, 32 * sizeof(float)));
  if (fixed)
    row_sum_fixed<<<1, 32>>>(x, cols, sums, nullptr);
  else
    row_sum_broken<<<1, 32>>>(x, cols, sums, nullptr);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(sums));
}
