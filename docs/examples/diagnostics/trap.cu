// trap: a kernel stops itself with __trap().
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [broken]
__global__ void enqueue_broken(const int* x, int* queue, int* size, int capacity) {
  if (x[threadIdx.x] != 0) return;
  const int place = atomicAdd(size, 1);
  if (place >= capacity) __trap();
  queue[place] = threadIdx.x;
}
// [broken]

// [fixed]
// The host reads *size afterwards: above capacity, it tells how large the queue has to be.
__global__ void enqueue_fixed(const int* x, int* queue, int* size, int capacity) {
  if (x[threadIdx.x] != 0) return;
  const int place = atomicAdd(size, 1);
  if (place < capacity) queue[place] = threadIdx.x;
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  int* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 32 * sizeof(int)));
  CUDA_CHECK(cudaMemset(x, 0, 32 * sizeof(int)));
  int* queue = nullptr;
  CUDA_CHECK(cudaMalloc(&queue, 8 * sizeof(int)));
  CUDA_CHECK(cudaMemset(queue, 0, 8 * sizeof(int)));
  int* size = nullptr;
  CUDA_CHECK(cudaMalloc(&size, 1 * sizeof(int)));
  CUDA_CHECK(cudaMemset(size, 0, 1 * sizeof(int)));
  if (fixed)
    enqueue_fixed<<<1, 32>>>(x, queue, size, 8);
  else
    enqueue_broken<<<1, 32>>>(x, queue, size, 8);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(queue));
  CUDA_CHECK(cudaFree(size));
}
