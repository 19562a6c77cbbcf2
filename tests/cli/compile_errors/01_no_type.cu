// cpu, line 12: If i is a new variable, it needs a type in front, as in int i = ...

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

}  // namespace course
