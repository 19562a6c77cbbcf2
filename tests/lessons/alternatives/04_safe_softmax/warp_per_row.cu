// Alternative for lesson 04: a warp for each row, without a barrier, with a true division; rows short enough
// stay in registers, so that x is read once.

#include "safe_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"

namespace course {
namespace {

constexpr int kRowsPerBlock = 8;
constexpr int kKept = 8;  // columns a lane, in registers

/// The maximum, or a finite number below all others: -inf minus that is -inf, and its exponential 0.
__device__ float shift_for(float max) { return fmaxf(max, -3.402823466e+38f); }

__device__ float quotient(float part, float sum) { return sum == 0.0f ? 0.0f : part / sum; }

__global__ void short_rows_kernel(const float* x, std::int64_t x_row_stride, float* y,
                                  std::int64_t y_row_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;  // whole warps leave together
  const int lane = static_cast<int>(threadIdx.x);
  float x_rmem[kKept], max = -INFINITY, sum = 0.0f;
#pragma unroll
  for (int k = 0; k < kKept; ++k) {
    const int col = lane + 32 * k;
    x_rmem[k] = col < cols ? x[row * x_row_stride + col] : -INFINITY;
    max = fmaxf(max, x_rmem[k]);
  }
  max = shift_for(device::max_warp(max));
#pragma unroll
  for (int k = 0; k < kKept; ++k) sum += x_rmem[k] = expf(x_rmem[k] - max);
  sum = device::sum_warp(sum);
#pragma unroll
  for (int k = 0; k < kKept; ++k)
    if (lane + 32 * k < cols) y[row * y_row_stride + lane + 32 * k] = quotient(x_rmem[k], sum);
}

__global__ void long_rows_kernel(const float* x, std::int64_t x_row_stride, float* y,
                                 std::int64_t y_row_stride, std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;  // whole warps leave together
  const float* x_row = x + row * x_row_stride;
  float max = -INFINITY, sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += 32) max = fmaxf(max, x_row[col]);
  max = shift_for(device::max_warp(max));
  for (std::int64_t col = threadIdx.x; col < cols; col += 32) sum += expf(x_row[col] - max);
  sum = device::sum_warp(sum);
  for (std::int64_t col = threadIdx.x; col < cols; col += 32)
    y[row * y_row_stride + col] = quotient(expf(x_row[col] - max), sum);
}

}  // namespace

void safe_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                  std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows is out of range");
  if (cols < 0) throw std::invalid_argument("cols is negative");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride is less than the number of columns");
  if (y_row_stride < cols) throw std::invalid_argument("y_row_stride is less than the number of columns");
  if (rows == 0 || cols == 0) return;
  const auto blocks = static_cast<unsigned>((rows - 1) / kRowsPerBlock + 1);
  const dim3 block(32, kRowsPerBlock);
  if (cols <= 32 * kKept) {
    short_rows_kernel<<<blocks, block>>>(x, x_row_stride, y, y_row_stride, rows, cols);
  } else {
    long_rows_kernel<<<blocks, block>>>(x, x_row_stride, y, y_row_stride, rows, cols);
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
