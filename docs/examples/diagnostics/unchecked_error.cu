// unchecked_error: CUDA refuses a launch, and nobody asks.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;
}

// [broken]
void fill_all_broken(float* x, int n) { fill<<<1, n>>>(x, n); }
// [broken]

// [fixed]
void fill_all_fixed(float* x, int n) {
  fill<<<(n + 255) / 256, 256>>>(x, n);
  CUDA_CHECK(cudaGetLastError());
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 2048;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  if (fixed)
    fill_all_fixed(x, n);
  else
    fill_all_broken(x, n);
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
}
