// Alternative for lesson 01: a while loop, one allocation for all arrays, and memory freed by hand.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <cstddef>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  std::int64_t i = threadIdx.x + std::int64_t{blockIdx.x} * blockDim.x;
  while (i < n) {
    c[i] = a[i] + b[i];
    i += std::int64_t{blockDim.x} * gridDim.x;
  }
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must not be negative");
  if (n == 0) return;
  std::int64_t blocks = (n + kBlockThreads - 1) / kBlockThreads;
  if (blocks > kMaxBlocks) blocks = kMaxBlocks;
  const dim3 grid(static_cast<unsigned>(blocks)), block(static_cast<unsigned>(kBlockThreads));
  vector_add_kernel<<<grid, block>>>(a, b, c, n);
  CUDA_CHECK(cudaPeekAtLastError());
  CUDA_CHECK(cudaDeviceSynchronize());  // not asked for, but allowed
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must not be negative");
  if (n == 0) return;

  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  float* memory = nullptr;  // a, then b, then c
  CUDA_CHECK(cudaMalloc(&memory, 3 * bytes));
  try {
    CUDA_CHECK(cudaMemcpy(memory, a, bytes, cudaMemcpyHostToDevice));
    CUDA_CHECK(cudaMemcpy(memory + n, b, bytes, cudaMemcpyHostToDevice));
    vector_add(memory, memory + n, memory + 2 * n, n);
    CUDA_CHECK(cudaMemcpy(c, memory + 2 * n, bytes, cudaMemcpyDeviceToHost));
  } catch (...) {
    cudaFree(memory);  // the first error is the one to report
    throw;
  }
  CUDA_CHECK(cudaFree(memory));
}

}  // namespace course
