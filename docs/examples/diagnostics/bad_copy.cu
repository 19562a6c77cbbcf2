// bad_copy: a copy's direction does not fit its pointers.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
void fetch_broken(const float* x, float* values) {
  (void)cudaMemcpy(values, x, 64 * sizeof(float), cudaMemcpyHostToDevice);
}
// [broken]

// [fixed]
void fetch_fixed(const float* x, float* values) {
  CUDA_CHECK(cudaMemcpy(values, x, 64 * sizeof(float), cudaMemcpyDeviceToHost));
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  float values[64];
  if (fixed)
    fetch_fixed(x, values);
  else
    fetch_broken(x, values);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  CUDA_CHECK(cudaFree(x));
}
