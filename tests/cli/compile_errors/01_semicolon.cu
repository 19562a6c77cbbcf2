// cpu, line 15: The statement on line 15 needs a ';' at its end.
// gpu, line 16: The statement on line 15 needs a ';' at its end.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i]
  }
}

}  // namespace course
