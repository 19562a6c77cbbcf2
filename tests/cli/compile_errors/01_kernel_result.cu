// cpu, line 14: A kernel is __global__ void and returns nothing. Let 'vector_add_kernel' write its results
//   to an array that it gets as a pointer.
// gpu, line 14: A kernel is __global__ void and returns nothing: write results to an array that it gets as a
//   pointer.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

namespace course {

__global__ float vector_add_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) {
    c[i] = a[i] + b[i];
  }
}

}  // namespace course
