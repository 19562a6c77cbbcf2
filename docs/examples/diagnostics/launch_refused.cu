// launch_refused: a launch asks for a grid without blocks.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;
}

// [broken]
void fill_all_broken(float* x, int n) { fill<<<n / 256, 256>>>(x, n); }
// [broken]

// [fixed]
void fill_all_fixed(float* x, int n) {
  if (n > 0) fill<<<(n + 255) / 256, 256>>>(x, n);
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  if (fixed)
    fill_all_fixed(x, 64);
  else
    fill_all_broken(x, 64);
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  CUDA_CHECK(cudaFree(x));
}
