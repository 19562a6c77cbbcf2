// Alternative for lesson 04: a warp for each row, and as many rows in a block as the contract allows.

#include "safe_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"

namespace course {
namespace {

constexpr int kRowsPerBlock = 32;

__global__ void softmax_kernel(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                               std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;  // whole warps leave together
  const float* x_row = x + row * x_row_stride;
  float max = -INFINITY, sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += 32) max = fmaxf(max, x_row[col]);
  max = device::max_warp(max);
  // Of nothing but -inf and NaN, any finite number will do.
  if (max == -INFINITY) max = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += 32) sum += expf(x_row[col] - max);
  sum = device::sum_warp(sum);
  const float factor = sum == 0.0f ? 0.0f : 1.0f / sum;
  for (std::int64_t col = threadIdx.x; col < cols; col += 32)
    y[row * y_row_stride + col] = expf(x_row[col] - max) * factor;
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
  softmax_kernel<<<blocks, dim3(32, kRowsPerBlock)>>>(x, x_row_stride, y, y_row_stride, rows, cols);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
