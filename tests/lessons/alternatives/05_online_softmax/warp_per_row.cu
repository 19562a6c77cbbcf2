// Alternative for lesson 05: a warp for each row of any length, a column as a set to merge, and statistics
// that lane 0 hands to the others.

#include "online_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kWarps = 32;

struct Running {
  float m, l;
};

__device__ Running combine(Running a, Running b) {
  const float m = fmaxf(a.m, b.m);
  if (m == -INFINITY) return {m, a.l + b.l};  // 0, or NaN of a lane that has seen nothing else
  return {m, a.l * expf(a.m - m) + b.l * expf(b.m - m)};
}

__device__ Running stats_of_row(const float* x_row, std::int64_t cols) {
  Running running{-INFINITY, 0.0f};
  for (std::int64_t col = threadIdx.x; col < cols; col += 32) {
    const float x = x_row[col];
    running = combine(running, {x, x == -INFINITY ? 0.0f : expf(x - x)});  // 1, but NaN for +inf and NaN
  }
  for (int offset = 1; offset < 32; offset *= 2)
    running = combine(running,
                      {__shfl_down_sync(~0u, running.m, offset), __shfl_down_sync(~0u, running.l, offset)});
  running.m = __shfl_sync(~0u, running.m, 0);
  running.l = __shfl_sync(~0u, running.l, 0);
  return running;
}

__global__ void stats_kernel(const float* x, std::int64_t x_row_stride, float* max, float* sum,
                             std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kWarps + threadIdx.y;
  if (row >= rows) return;
  const Running running = stats_of_row(x + row * x_row_stride, cols);
  if (threadIdx.x == 0) max[row] = running.m;
  if (threadIdx.x == 1) sum[row] = running.l;
}

__global__ void softmax_kernel(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                               std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kWarps + threadIdx.y;
  if (row >= rows) return;
  const Running running = stats_of_row(x + row * x_row_stride, cols);
  for (std::int64_t col = threadIdx.x; col < cols; col += 32)
    y[row * y_row_stride + col] =
        running.l == 0.0f ? 0.0f : expf(x[row * x_row_stride + col] - running.m) / running.l;
}

void require_matrix(std::int64_t row_stride, std::int64_t rows, std::int64_t cols, const char* stride) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows is out of range");
  if (cols < 0) throw std::invalid_argument("cols is negative");
  if (row_stride < cols) throw std::invalid_argument(stride);
}

}  // namespace

void row_stats(const float* x, std::int64_t x_row_stride, float* max, float* sum, std::int64_t rows,
               std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols, "x_row_stride is less than cols");
  if (rows == 0) return;
  stats_kernel<<<static_cast<unsigned>((rows + kWarps - 1) / kWarps), dim3(32, kWarps)>>>(
      x, x_row_stride, max, sum, rows, cols);
  CUDA_CHECK(cudaGetLastError());
}

void online_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                    std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols, "x_row_stride is less than cols");
  require_matrix(y_row_stride, rows, cols, "y_row_stride is less than cols");
  if (rows == 0 || cols == 0) return;
  softmax_kernel<<<static_cast<unsigned>((rows + kWarps - 1) / kWarps), dim3(32, kWarps)>>>(
      x, x_row_stride, y, y_row_stride, rows, cols);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
