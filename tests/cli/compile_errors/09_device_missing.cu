// cpu, line 12: sum_warp is in namespace device: write device::sum_warp.

#include "flash2_forward.hpp"

#include <cuda_runtime.h>

#include "device/reduce.hpp"

namespace course {

__global__ void sum_kernel(const float* x, float* y) {
  const float sum = sum_warp(x[threadIdx.x]);
  if (threadIdx.x == 0) *y = sum;
}

}  // namespace course
