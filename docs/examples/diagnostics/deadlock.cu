// deadlock: a shuffle names all lanes, and half of them never come to it.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void fold_broken(const float* x, float* y) {
  const int lane = threadIdx.x;
  float value = x[lane];
  if (lane < 16) value += __shfl_down_sync(0xffffffff, value, 16);
  __syncthreads();
  y[lane] = value;
}
// [broken]

// [fixed]
__global__ void fold_fixed(const float* x, float* y) {
  const int lane = threadIdx.x;
  float value = x[lane];
  const float other = __shfl_down_sync(0xffffffff, value, 16);
  if (lane < 16) value += other;
  __syncthreads();
  y[lane] = value;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 32 * sizeof(float)));
  if (fixed)
    fold_fixed<<<1, 32>>>(x, y);
  else
    fold_broken<<<1, 32>>>(x, y);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
