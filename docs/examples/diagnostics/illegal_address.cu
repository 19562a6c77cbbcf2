// illegal_address: an index below zero, computed without a sign, wraps round to four thousand million.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void differences_broken(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = x[i] - x[i - 1];
}
// [broken]

// [fixed]
__global__ void differences_fixed(const float* x, float* y) {
  const unsigned i = threadIdx.x;
  y[i] = i > 0 ? x[i] - x[i - 1] : x[0];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 32;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
  if (fixed)
    differences_fixed<<<1, n>>>(x, y);
  else
    differences_broken<<<1, n>>>(x, y);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
