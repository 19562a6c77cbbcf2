// cpu, line -: 01_other_type.cu does not define course::vector_add(const float* a, const float* b, float* c,
//   std::int64_t n) as lessons/01_vector_add/vector_add.hpp declares it. It has vector_add(const float* a,
//   const float* b, float* c, int n) instead.

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

void vector_add(const float* a, const float* b, float* c, int n) {
  if (n == 0) return;
  const unsigned blocks = static_cast<unsigned>((n + kBlockThreads - 1) / kBlockThreads);
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  float* a_device = nullptr;
  CUDA_CHECK(cudaMalloc(&a_device, n * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(a_device, a, n * sizeof(float), cudaMemcpyHostToDevice));
  vector_add(a_device, b, c, n);
  CUDA_CHECK(cudaFree(a_device));
}

}  // namespace course
