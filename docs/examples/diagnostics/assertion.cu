// assertion: an assert() in a kernel does not hold.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cassert>
#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
// table counts the elements of x from 1.
__global__ void gather_broken(const float* x, const int* table, float* y, int n) {
  const int index = table[threadIdx.x];
  assert(0 <= index && index < n);
  y[threadIdx.x] = x[index];
}
// [broken]

// [fixed]
__global__ void gather_fixed(const float* x, const int* table, float* y, int n) {
  const int index = table[threadIdx.x] - 1;
  assert(0 <= index && index < n);
  y[threadIdx.x] = x[index];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  int entries[8];
  for (int i = 0; i < 8; ++i) entries[i] = i + 1;  // counted from 1
  int* table = nullptr;
  CUDA_CHECK(cudaMalloc(&table, 8 * sizeof(int)));
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 8 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 8 * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 8 * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(table, entries, sizeof(entries), cudaMemcpyHostToDevice));
  if (fixed)
    gather_fixed<<<1, 8>>>(x, table, y, 8);
  else
    gather_broken<<<1, 8>>>(x, table, y, 8);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(table));
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
