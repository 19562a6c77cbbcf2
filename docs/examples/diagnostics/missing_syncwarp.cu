// missing_syncwarp: lanes of one warp pass a value through shared memory without __syncwarp().
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void rotate_broken(const float* x, float* y) {
  __shared__ float values[32];
  const int lane = threadIdx.x;
  values[lane] = x[lane];
  y[lane] = values[(lane + 1) % 32];
}
// [broken]

// [fixed]
__global__ void rotate_fixed(const float* x, float* y) {
  __shared__ float values[32];
  const int lane = threadIdx.x;
  values[lane] = x[lane];
  __syncwarp();
  y[lane] = values[(lane + 1) % 32];
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
    rotate_fixed<<<1, 32>>>(x, y);
  else
    rotate_broken<<<1, 32>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
