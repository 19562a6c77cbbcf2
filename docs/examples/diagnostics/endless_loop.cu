// endless_loop: the step of a loop does not fit its type, and is 0.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void scale_broken(const float* x, float* y, unsigned n) {
  const std::uint8_t step = blockDim.x;
  for (unsigned i = threadIdx.x; i < n; i += step) y[i] = 2.0f * x[i];
}
// [broken]

// [fixed]
__global__ void scale_fixed(const float* x, float* y, unsigned n) {
  const unsigned step = blockDim.x;
  for (unsigned i = threadIdx.x; i < n; i += step) y[i] = 2.0f * x[i];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const unsigned n = 1000;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
  if (fixed)
    scale_fixed<<<1, 256>>>(x, y, n);
  else
    scale_broken<<<1, 256>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
