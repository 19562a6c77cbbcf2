// hostile: Is honest on the device, but adds host arrays on the host, and throws where copies would fail.
// lesson: 01
// verdict: fail
// says: vector_add_host launched no kernel
// trick: other

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  for (std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < n; i += stride) {
    c[i] = a[i] + b[i];
  }
}

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>(std::min((n - 1) / kBlockThreads + 1, kMaxBlocks));
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n > std::int64_t{1} << 32) throw std::runtime_error("too little memory");
  if (n > 0 && (a == nullptr || b == nullptr || c == nullptr)) throw std::runtime_error("a copy failed");
  for (std::int64_t i = 0; i < n; ++i) c[i] = a[i] + b[i];
}

}  // namespace course
