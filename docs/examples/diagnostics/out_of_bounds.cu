// out_of_bounds: threads of the last block have no element, and touch one all the same.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void scale_broken(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= factor;
}
// [broken]

// [fixed]
__global__ void scale_fixed(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= factor;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 1000;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  if (fixed)
    scale_fixed<<<(n + 255) / 256, 256>>>(x, 2.0f, n);
  else
    scale_broken<<<(n + 255) / 256, 256>>>(x, 2.0f, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
}
