// cpu, line 22: vector_add_kernel takes (const float* a, const float* b, float* c, std::int64_t n): give
//   the launch an argument of that type for each of them, in that order.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n == 0) return;
  const unsigned blocks = static_cast<unsigned>((n + kBlockThreads - 1) / kBlockThreads);
  vector_add_kernel<<<blocks, kBlockThreads>>>(c, b, a, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
