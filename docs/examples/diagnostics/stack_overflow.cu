// stack_overflow: a recursion misses its end.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
// The root is its own parent.
__device__ int depth_broken(const int* parent, int node) {
  if (parent[node] < 0) return 0;
  return 1 + depth_broken(parent, parent[node]);
}
// [broken]

// [fixed]
__device__ int depth_fixed(const int* parent, int node) {
  int depth = 0;
  for (; parent[node] != node; node = parent[node]) ++depth;
  return depth;
}
// [fixed]

__global__ void depths_broken(const int* parent, int* depths) {
  depths[threadIdx.x] = depth_broken(parent, threadIdx.x);
}

__global__ void depths_fixed(const int* parent, int* depths) {
  depths[threadIdx.x] = depth_fixed(parent, threadIdx.x);
}

int main(int argc, char**) {
  const bool fixed = argc > 1;
  int* parent = nullptr;
  CUDA_CHECK(cudaMalloc(&parent, 8 * sizeof(int)));
  CUDA_CHECK(cudaMemset(parent, 0, 8 * sizeof(int)));
  int* depths = nullptr;
  CUDA_CHECK(cudaMalloc(&depths, 8 * sizeof(int)));
  if (fixed)
    depths_fixed<<<1, 8>>>(parent, depths);
  else
    depths_broken<<<1, 8>>>(parent, depths);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(parent));
  CUDA_CHECK(cudaFree(depths));
}
