// exited_threads: threads without an element return before the barrier at which their warp waits.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void swap_pairs_broken(const float* x, float* y, int n) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  if (t >= n) return;
  values[t] = x[t];
  __syncthreads();
  y[t] = values[t ^ 1];
}
// [broken]

// [fixed]
__global__ void swap_pairs_fixed(const float* x, float* y, int n) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  if (t < n) values[t] = x[t];
  __syncthreads();
  if (t < n) y[t] = values[t ^ 1];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 50;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
  if (fixed)
    swap_pairs_fixed<<<1, 64>>>(x, y, n);
  else
    swap_pairs_broken<<<1, 64>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
