// both, line 14: blocks belongs to vector_add, on line 21: a function sees only its own names, so
//   vector_add_kernel has to make its own, or get it as a parameter.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < blocks) {
    c[i] = a[i] + b[i];
  }
}

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n == 0) return;
  const unsigned blocks = static_cast<unsigned>((n + kBlockThreads - 1) / kBlockThreads);
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
