// leak: one way out of a function does not free what it allocated.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

__global__ void negate(const float* x, float* y) { y[threadIdx.x] = -x[threadIdx.x]; }

// [broken]
void negate_twice_broken(float* x, int n) {
  float* scratch = nullptr;
  CUDA_CHECK(cudaMalloc(&scratch, 64 * sizeof(float)));
  if (n != 64) return;
  negate<<<1, 64>>>(x, scratch);
  negate<<<1, 64>>>(scratch, x);
  CUDA_CHECK(cudaFree(scratch));
}
// [broken]

// [fixed]
void negate_twice_fixed(float* x, int n) {
  if (n != 64) return;
  float* scratch = nullptr;
  CUDA_CHECK(cudaMalloc(&scratch, 64 * sizeof(float)));
  negate<<<1, 64>>>(x, scratch);
  negate<<<1, 64>>>(scratch, x);
  CUDA_CHECK(cudaFree(scratch));
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  if (fixed)
    negate_twice_fixed(x, 32);
  else
    negate_twice_broken(x, 32);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
}
