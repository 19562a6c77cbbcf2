// race: a value in shared memory is read before its writer is known to have written it.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void reverse_broken(const float* x, float* y) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  values[t] = x[t];
  y[t] = values[63 - t];
}
// [broken]

// [fixed]
__global__ void reverse_fixed(const float* x, float* y) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  values[t] = x[t];
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
    reverse_fixed<<<1, 64>>>(x, y);
  else
    reverse_broken<<<1, 64>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
