// both, line 23: std::min takes two values of one type, and these are of two types: name the one that you
//   want, as in std::min<std::int64_t>(a, b).

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>

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
  const unsigned blocks = static_cast<unsigned>(std::min((n - 1) / kBlockThreads + 1, 1024));
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
