// Lesson 04: softmax of each row, a block a row, in three passes over x: maximum, sum, output.

#include "safe_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"

namespace course {

constexpr int kBlockWarps = kBlockThreads / device::kWarpSize;

/// The largest of this thread's columns, which are threadIdx.x, threadIdx.x + kBlockThreads, ... below cols;
/// -inf if there are none. Ignores NaN.
/// Shapes: x_row is (cols).
__device__ float max_own_columns(const float* x_row, std::int64_t cols) {
  float max = -INFINITY;
  // TODO 1: go through this thread's columns. fmaxf(a, b) is the larger of two numbers.
  return max;
}

/// Σ exp(x_j - shift) over this thread's columns.
__device__ float sum_own_columns(const float* x_row, float shift, std::int64_t cols) {
  float sum = 0.0f;
  // TODO 2: the same columns once more. expf(a) is e to the power of a.
  return sum;
}

/// y_j = exp(x_j - shift) * scale for this thread's columns.
__device__ void write_own_columns(const float* __restrict__ x_row, float* __restrict__ y_row, float shift,
                                  float scale, std::int64_t cols) {
  // TODO 3: and once more.
}

/// Row blockIdx.x of y. Correct for blocks of kBlockThreads threads.
__global__ void __launch_bounds__(kBlockThreads)
    safe_softmax_kernel(const float* __restrict__ x, std::int64_t x_row_stride, float* __restrict__ y,
                        std::int64_t y_row_stride, std::int64_t cols) {
  // TODO 4: where does this block's row begin, in x and in y?
  // TODO 5: its maximum, by device::max_block. What to subtract if that is -inf?
  // TODO 6: its sum of exponentials, by device::sum_block. What to multiply with if that is 0?
  // TODO 7: the output.
}

void require_matrix(const char* stride_name, std::int64_t row_stride, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) {
    throw std::invalid_argument("rows must be 0 to " + std::to_string(kMaxRows) + ", but it is " +
                                std::to_string(rows) + ".");
  }
  if (cols < 0)
    throw std::invalid_argument("cols must be 0 or more, but it is " + std::to_string(cols) + ".");
  if (row_stride < cols) {
    throw std::invalid_argument(std::string(stride_name) + " must be " + std::to_string(cols) +
                                " or more, as many as there are columns, but it is " +
                                std::to_string(row_stride) + ".");
  }
}

void safe_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                  std::int64_t rows, std::int64_t cols) {
  require_matrix("x_row_stride", x_row_stride, rows, cols);
  require_matrix("y_row_stride", y_row_stride, rows, cols);
  // TODO 8: launch a block for each row, and check the launch. When is there nothing to launch?
}

}  // namespace course
