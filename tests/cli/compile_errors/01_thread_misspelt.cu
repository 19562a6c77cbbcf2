// cpu, line 13: 'threadIDx' was not declared in this scope; did you mean 'threadIdx'?
// gpu, line 13: Nothing is called threadIDx here: is threadIdx meant?

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ void vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIDx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

}  // namespace course
