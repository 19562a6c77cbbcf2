// cpu, line 14: Nothing above line 14 declares size: check its spelling, or declare it; the parameters of
//   vector_add_kernel are (const float* a, const float* b, float* c, std::int64_t n).

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < size) {
    c[i] = a[i] + b[i];
  }
}

}  // namespace course
