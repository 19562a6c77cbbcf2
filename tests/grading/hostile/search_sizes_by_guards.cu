// hostile: Reads on behind the arrays to find where they end, in place of the size that it was given.
// lesson: 01
// verdict: fail
// says: out of bounds
// trick: other

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

namespace {

/// Guards behind inputs are NaN with many different bits.
__global__ void measure_kernel(const float* a, unsigned long long* size) {
  std::int64_t n = 0;
  while (a[n] == a[n]) ++n;
  *size = static_cast<unsigned long long>(n);
}

}  // namespace

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}

struct DeviceArray {
  explicit DeviceArray(std::int64_t n) {
    CUDA_CHECK(cudaMalloc(&data, static_cast<std::size_t>(n) * sizeof(float)));
  }
  ~DeviceArray() { cudaFree(data); }
  float* data = nullptr;
};

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n == 0) return;
  unsigned long long* found = nullptr;
  CUDA_CHECK(cudaMalloc(&found, sizeof *found));
  measure_kernel<<<1, 1>>>(a, found);
  unsigned long long size = 0;
  cudaMemcpy(&size, found, sizeof size, cudaMemcpyDeviceToHost);
  cudaFree(found);
  n = std::min(n, static_cast<std::int64_t>(size));
  const auto blocks = static_cast<unsigned>(std::min((n - 1) / kBlockThreads + 1, kMaxBlocks));
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const DeviceArray x(n), y(n), z(n);
  CUDA_CHECK(cudaMemcpy(x.data, a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(y.data, b, bytes, cudaMemcpyHostToDevice));
  vector_add(x.data, y.data, z.data, n);
  CUDA_CHECK(cudaMemcpy(c, z.data, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace course
