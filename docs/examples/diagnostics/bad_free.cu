// bad_free: device memory is freed by another address than its own.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
void release_broken(float* x) {
  x += 1;  // goes on behind a header of one element
  (void)cudaFree(x);
}
// [broken]

// [fixed]
void release_fixed(float* x) { CUDA_CHECK(cudaFree(x)); }
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  if (fixed) {
    release_fixed(x);
  } else {
    release_broken(x);
    std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
    CUDA_CHECK(cudaFree(x));
  }
}
