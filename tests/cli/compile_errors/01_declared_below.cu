// both, line 13: last is declared only on line 14, and C++ reads from top to bottom: declare it before line 13.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x;
  const std::int64_t i = first + threadIdx.x < last ? first + threadIdx.x : n;
  const std::int64_t last = first + blockDim.x < n ? first + blockDim.x : n;
  if (i < last) c[i] = a[i] + b[i];
}

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t last = n;
  if (last == 0) return;
  vector_add_kernel<<<static_cast<unsigned>((last - 1) / kBlockThreads + 1), kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
