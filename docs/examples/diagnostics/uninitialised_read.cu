// uninitialised_read: a reduction reads places in shared memory that no thread has filled.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void sum_broken(const float* x, float* sum, int n) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  if (t < n) part[t] = x[t];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) *sum = part[0];
}
// [broken]

__global__ void sum_fixed(const float* x, float* sum, int n) {
  __shared__ float part[128];
  const int t = threadIdx.x;
  // [fixed]
  part[t] = t < n ? x[t] : 0.0f;
  // [fixed]
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) part[t] += part[t + half];
    __syncthreads();
  }
  if (t == 0) *sum = part[0];
}

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 100;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  float* sum = nullptr;
  CUDA_CHECK(cudaMalloc(&sum, 1 * sizeof(float)));
  if (fixed)
    sum_fixed<<<1, 128>>>(x, sum, n);
  else
    sum_broken<<<1, 128>>>(x, sum, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(sum));
}
