// Alternative for lesson 05: a block of 128 threads for each row, four columns rescaled at once, exponentials
// of base 2, and warps merged by one warp.

#include "online_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kThreads = 128, kColumns = 4;
constexpr float kLog2E = 1.44269504f;

/// e^x. The product is rounded, so x must not be large: here it is a difference to a maximum.
__device__ float exponential(float x) { return exp2f(x * kLog2E); }

/// Merges the maximum and the sum of another thread into this one's.
__device__ void merge_in(float& max, float& sum, float other_max, float other_sum) {
  const float new_max = fmaxf(max, other_max), base = new_max == -INFINITY ? 0.0f : new_max;
  sum = sum * exponential(max - base) + other_sum * exponential(other_max - base);
  max = new_max;
}

__device__ float2 stats_of_row(const float* x_row, std::int64_t cols) {
  __shared__ float2 stats_smem[kThreads / 32];
  float max = -INFINITY, sum = 0.0f;
  for (std::int64_t first = threadIdx.x; first < cols; first += kThreads * kColumns) {
    float x_rmem[kColumns], batch_max = -INFINITY;
    for (int i = 0; i < kColumns; ++i) {
      const std::int64_t col = first + i * kThreads;
      x_rmem[i] = col < cols ? x_row[col] : -INFINITY;
      batch_max = fmaxf(batch_max, x_rmem[i]);
    }
    merge_in(max, sum, batch_max, 0.0f);
    for (int i = 0; i < kColumns; ++i) sum += exponential(x_rmem[i] - (max == -INFINITY ? 0.0f : max));
  }
  for (int bit = 1; bit < 32; bit *= 2)
    merge_in(max, sum, __shfl_xor_sync(~0u, max, bit), __shfl_xor_sync(~0u, sum, bit));
  if (threadIdx.x % 32 == 0) stats_smem[threadIdx.x / 32] = make_float2(max, sum);
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int warp = 1; warp < kThreads / 32; ++warp)
      merge_in(max, sum, stats_smem[warp].x, stats_smem[warp].y);
    if (max == INFINITY) sum = NAN;
    stats_smem[0] = make_float2(max, sum);
  }
  __syncthreads();
  return stats_smem[0];
}

__global__ void stats_kernel(const float* x, std::int64_t x_row_stride, float* max, float* sum,
                             std::int64_t cols) {
  const std::int64_t row = blockIdx.x;
  const float2 stats = stats_of_row(x + row * x_row_stride, cols);
  if (threadIdx.x > 0) return;
  max[row] = stats.x;
  sum[row] = stats.y;
}

__global__ void softmax_kernel(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                               std::int64_t cols) {
  const std::int64_t row = blockIdx.x;
  const float2 stats = stats_of_row(x + row * x_row_stride, cols);
  const float base = stats.x == -INFINITY ? 0.0f : stats.x, divisor = stats.y == 0.0f ? 1.0f : stats.y;
  for (std::int64_t col = threadIdx.x; col < cols; col += kThreads)
    y[row * y_row_stride + col] = exponential(x[row * x_row_stride + col] - base) / divisor;
}

void require_matrix(std::int64_t row_stride, std::int64_t rows, std::int64_t cols, const char* stride) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows cannot be " + std::to_string(rows));
  if (cols < 0) throw std::invalid_argument("cols cannot be " + std::to_string(cols));
  if (row_stride < cols) throw std::invalid_argument(std::string(stride) + " is less than cols");
}

}  // namespace

void row_stats(const float* x, std::int64_t x_row_stride, float* max, float* sum, std::int64_t rows,
               std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols, "x_row_stride");
  if (rows == 0) return;
  stats_kernel<<<static_cast<unsigned>(rows), kThreads>>>(x, x_row_stride, max, sum, cols);
  CUDA_CHECK(cudaGetLastError());
}

void online_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                    std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols, "x_row_stride");
  require_matrix(y_row_stride, rows, cols, "y_row_stride");
  if (rows == 0 || cols == 0) return;
  softmax_kernel<<<static_cast<unsigned>(rows), kThreads>>>(x, x_row_stride, y, y_row_stride, cols);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
