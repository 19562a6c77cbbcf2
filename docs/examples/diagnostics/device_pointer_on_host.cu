// device_pointer_on_host: host code reads a result where it lies, in device memory.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

__global__ void fill(float* x) { x[threadIdx.x] = 0.5f * threadIdx.x; }

// [broken]
void print_broken(const float* x) { std::printf("%g\n", x[3]); }
// [broken]

// [fixed]
void print_fixed(const float* x) {
  float value = 0.0f;
  CUDA_CHECK(cudaMemcpy(&value, x + 3, sizeof(float), cudaMemcpyDeviceToHost));
  std::printf("%g\n", value);
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(float)));
  fill<<<1, 32>>>(x);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  if (fixed)
    print_fixed(x);
  else
    print_broken(x);
  CUDA_CHECK(cudaFree(x));
}
