// division_by_zero: the mean of a group that has no members.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void means_broken(const int* sums, const int* counts, int* means) {
  const int group = threadIdx.x;
  means[group] = sums[group] / counts[group];
}
// [broken]

// [fixed]
__global__ void means_fixed(const int* sums, const int* counts, int* means) {
  const int group = threadIdx.x;
  means[group] = counts[group] > 0 ? sums[group] / counts[group] : 0;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  int* sums = nullptr;
  CUDA_CHECK(cudaMalloc(&sums, 8 * sizeof(int)));
  CUDA_CHECK(cudaMemset(sums, 0, 8 * sizeof(int)));
  int* counts = nullptr;
  CUDA_CHECK(cudaMalloc(&counts, 8 * sizeof(int)));
  CUDA_CHECK(cudaMemset(counts, 0, 8 * sizeof(int)));
  int* means = nullptr;
  CUDA_CHECK(cudaMalloc(&means, 8 * sizeof(int)));
  if (fixed)
    means_fixed<<<1, 8>>>(sums, counts, means);
  else
    means_broken<<<1, 8>>>(sums, counts, means);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(sums));
  CUDA_CHECK(cudaFree(counts));
  CUDA_CHECK(cudaFree(means));
}
