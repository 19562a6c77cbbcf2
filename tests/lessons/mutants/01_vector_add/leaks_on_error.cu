// Mutant of lesson 01: the device memory is freed only if every copy succeeds.
// Expect: never freed

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

/// c[i] = a[i] + b[i] for all i in [0, n). Correct for every number of blocks and threads.
__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;  // threads in the grid
  for (std::int64_t i = first; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}

void require_size(std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more, but it is " + std::to_string(n) + ".");
}

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  require_size(n);
  if (n == 0) return;  // CUDA refuses a grid of 0 blocks

  const std::int64_t blocks_for_all = (n - 1) / kBlockThreads + 1;  // rounded up; n + 255 could overflow
  const auto blocks = static_cast<unsigned>(std::min(blocks_for_all, kMaxBlocks));
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());  // a launch returns nothing: this is where a refused one shows
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  require_size(n);
  if (n == 0) return;

  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  float *a_device = nullptr, *b_device = nullptr, *c_device = nullptr;
  CUDA_CHECK(cudaMalloc(&a_device, bytes));
  CUDA_CHECK(cudaMalloc(&b_device, bytes));
  CUDA_CHECK(cudaMalloc(&c_device, bytes));
  CUDA_CHECK(cudaMemcpy(a_device, a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(b_device, b, bytes, cudaMemcpyHostToDevice));
  vector_add(a_device, b_device, c_device, n);
  CUDA_CHECK(cudaMemcpy(c, c_device, bytes, cudaMemcpyDeviceToHost));  // waits for the kernel
  CUDA_CHECK(cudaFree(a_device));
  CUDA_CHECK(cudaFree(b_device));
  CUDA_CHECK(cudaFree(c_device));
}

}  // namespace course
