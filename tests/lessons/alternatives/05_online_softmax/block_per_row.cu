// Alternative for lesson 05: a block of 1024 threads for each row, short or long, in both kernels; one warp
// merges what the others have.

#include "online_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kThreads = 1024;

/// The statistics of two disjoint sets of columns: the maximum in x, the sum in y.
__device__ float2 merge(float2 a, float2 b) {
  const float max = fmaxf(a.x, b.x), base = max == -INFINITY ? 0.0f : max;
  return make_float2(max, a.y * expf(a.x - base) + b.y * expf(b.x - base));
}

__device__ float2 merge_warp(float2 stats) {
  for (int bit = 1; bit < 32; bit *= 2)
    stats = merge(stats, make_float2(__shfl_xor_sync(~0u, stats.x, bit), __shfl_xor_sync(~0u, stats.y, bit)));
  return stats;
}

/// The statistics of a row, in every thread.
__device__ float2 stats_of_row(const float* x_row, std::int64_t cols) {
  __shared__ float2 stats_smem[kThreads / 32];
  float2 stats = make_float2(-INFINITY, 0.0f);
  for (std::int64_t col = threadIdx.x; col < cols; col += kThreads)
    stats = merge(stats, make_float2(x_row[col], 1.0f));
  stats = merge_warp(stats);
  if (threadIdx.x % 32 == 0) stats_smem[threadIdx.x / 32] = stats;
  __syncthreads();  // the statistics of all warps are there
  if (threadIdx.x < 32) {
    stats = merge_warp(stats_smem[threadIdx.x]);
    if (stats.x == INFINITY) stats.y = NAN;
    if (threadIdx.x == 0) stats_smem[0] = stats;
  }
  __syncthreads();  // those of the row are there
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
    y[row * y_row_stride + col] = expf(x[row * x_row_stride + col] - base) / divisor;
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
