// misaligned: rows of 6 floats begin at multiples of 24 bytes, not of 16.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void sum_rows_broken(const float* x, float* sums) {
  const float* row = x + 6 * threadIdx.x;
  const float4 a = *reinterpret_cast<const float4*>(row);
  const float2 b = *reinterpret_cast<const float2*>(row + 4);
  sums[threadIdx.x] = a.x + a.y + a.z + a.w + b.x + b.y;
}
// [broken]

// [fixed]
__global__ void sum_rows_fixed(const float* x, float* sums) {
  const float2* row = reinterpret_cast<const float2*>(x) + 3 * threadIdx.x;
  const float2 a = row[0], b = row[1], c = row[2];
  sums[threadIdx.x] = a.x + a.y + b.x + b.y + c.x + c.y;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int rows = 32;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, rows * 6 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, rows * 6 * sizeof(float)));
  float* sums = nullptr;
  CUDA_CHECK(cudaMalloc(&sums, rows * sizeof(float)));
  if (fixed)
    sum_rows_fixed<<<1, rows>>>(x, sums);
  else
    sum_rows_broken<<<1, rows>>>(x, sums);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(sums));
}
