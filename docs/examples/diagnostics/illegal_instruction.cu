// illegal_instruction: a kernel reaches an instruction that stands for "this cannot happen".
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

enum class Mask { none, causal, window };

// [broken]
__device__ bool sees_broken(Mask mask, int query, int key) {
  switch (mask) {
    case Mask::none:
      return true;
    case Mask::causal:
      return key <= query;
    default:
      __builtin_trap();  // "there are only two"
  }
}
// [broken]

// [fixed]
__device__ bool sees_fixed(Mask mask, int query, int key) {
  switch (mask) {
    case Mask::none:
      return true;
    case Mask::causal:
      return key <= query;
    case Mask::window:
      return key <= query && query - key < 4;
  }
  return false;
}
// [fixed]

__global__ void mask_broken(const float* x, float* y, Mask mask) {
  y[threadIdx.x] = sees_broken(mask, 16, threadIdx.x) ? x[threadIdx.x] : 0.0f;
}

__global__ void mask_fixed(const float* x, float* y, Mask mask) {
  y[threadIdx.x] = sees_fixed(mask, 16, threadIdx.x) ? x[threadIdx.x] : 0.0f;
}

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 32 * sizeof(float)));
  if (fixed)
    mask_fixed<<<1, 32>>>(x, y, Mask::window);
  else
    mask_broken<<<1, 32>>>(x, y, Mask::window);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
