// bank_conflict: a tile in shared memory is read along its columns.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void transpose_broken(const float* x, float* y) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
// [broken]

__global__ void transpose_fixed(const float* x, float* y) {
  // [fixed]
  __shared__ float tile[32][33];
  // [fixed]
  tile[threadIdx.y][threadIdx.x] = x[threadIdx.y * 32 + threadIdx.x];
  __syncthreads();
  y[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const dim3 block(32, 32);
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * 32 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * 32 * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 32 * 32 * sizeof(float)));
  if (fixed)
    transpose_fixed<<<1, block>>>(x, y);
  else
    transpose_broken<<<1, block>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
