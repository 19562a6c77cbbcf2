// cpu, line 11: Nothing is called __share__ here: is __shared__ meant?

#include "weighted_row_sum.hpp"

#include <cuda_runtime.h>

namespace course {

__global__ void weighted_row_sum_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                        std::int64_t cols) {
  __share__ float sums_smem[kBlockThreads];
  const float* x_row = x + blockIdx.x * x_row_stride;
  float sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) sum += x_row[col] * w[col];
  sums_smem[threadIdx.x] = sum;
  __syncthreads();
  for (int half = kBlockThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums_smem[threadIdx.x] += sums_smem[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) y[blockIdx.x] = sums_smem[0];
}

}  // namespace course
