// divergent_barrier: the two sides of a branch wait at two barriers.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void mirror_broken(const float* x, float* y) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  if (t % 2 == 0) {
    values[t] = x[t];
    __syncthreads();
  } else {
    values[t] = -x[t];
    __syncthreads();
  }
  y[t] = values[63 - t];
}
// [broken]

// [fixed]
__global__ void mirror_fixed(const float* x, float* y) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  values[t] = t % 2 == 0 ? x[t] : -x[t];
  __syncthreads();
  y[t] = values[63 - t];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 64 * sizeof(float)));
  if (fixed)
    mirror_fixed<<<1, 64>>>(x, y);
  else
    mirror_broken<<<1, 64>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
