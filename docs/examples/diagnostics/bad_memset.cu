// bad_memset: cudaMemset is given more bytes than the array has.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
void clear_broken(float* x) { (void)cudaMemset(x, 0, 64 * sizeof(double)); }
// [broken]

// [fixed]
void clear_fixed(float* x) { CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float))); }
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  if (fixed)
    clear_fixed(x);
  else
    clear_broken(x);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  CUDA_CHECK(cudaFree(x));
}
