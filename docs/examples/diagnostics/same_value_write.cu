// same_value_write: every thread that finds something sets the same flag.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void has_zero_broken(const float* x, int n, int* found) {
  const int i = threadIdx.x;
  if (i < n && x[i] == 0.0f) *found = 1;
}
// [broken]

// [fixed]
__global__ void has_zero_fixed(const float* x, int n, int* found) {
  const int i = threadIdx.x;
  const int any = __syncthreads_or(i < n && x[i] == 0.0f);
  if (i == 0 && any) *found = 1;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 100;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  int* found = nullptr;
  CUDA_CHECK(cudaMalloc(&found, 1 * sizeof(int)));
  CUDA_CHECK(cudaMemset(found, 0, 1 * sizeof(int)));
  if (fixed)
    has_zero_fixed<<<1, 128>>>(x, n, found);
  else
    has_zero_broken<<<1, 128>>>(x, n, found);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(found));
}
