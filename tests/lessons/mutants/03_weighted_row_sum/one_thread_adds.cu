// Mutant of lesson 03: one thread adds the whole row, and its long sum loses digits.
// Expect: one thread gets which adds a whole row by itself

#include "weighted_row_sum.hpp"

#include <cuda_runtime.h>

#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

constexpr int kWarpSize = 32;
constexpr int kBlockWarps = kBlockThreads / kWarpSize;
constexpr unsigned kFullMask = 0xffffffffu;  // all 32 lanes take part in a shuffle
static_assert(kBlockWarps <= kWarpSize, "one warp adds up the sums of all warps");

/// This thread's share of one row: the columns threadIdx.x, threadIdx.x + kBlockThreads, ... below cols.
/// Shapes: x_row, w are (cols).
__device__ float sum_own_columns(const float* x_row, const float* w, std::int64_t cols) {
  float sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) {
    sum += w[col] * x_row[col];
  }
  return sum;
}

/// The sum of `value` over the block, in every thread. All its threads must come here, and only once.
__device__ float sum_block_by_tree(float value) {
  __shared__ float sums_smem[kBlockThreads];
  const int thread = static_cast<int>(threadIdx.x);
  sums_smem[thread] = value;
  __syncthreads();  // all sums are in sums_smem
  for (int half = kBlockThreads / 2; half > 0; half /= 2) {
    if (thread < half) sums_smem[thread] += sums_smem[thread + half];
    __syncthreads();  // the first `half` sums make up the whole; the next step may read them
  }
  return sums_smem[0];
}

/// y[i] for the row i = blockIdx.x. Correct for blocks of kBlockThreads threads.
__global__ void weighted_row_sum_tree_kernel(const float* x, std::int64_t x_row_stride, const float* w,
                                             float* y, std::int64_t cols) {
  const std::int64_t row = blockIdx.x;
  const float sum = sum_block_by_tree(sum_own_columns(x + row * x_row_stride, w, cols));
  if (threadIdx.x == 0) y[row] = sum;
}

/// The sum of `value` over the warp, in lane 0. All lanes must come here together.
__device__ float sum_warp(float value) {
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kFullMask, value, offset);
  }
  return value;  // lanes above 0 hold sums of no use
}

/// The sum of `value` over the block, in thread 0. All its threads must come here, and only once.
__device__ float sum_block(float value) {
  __shared__ float warp_sums_smem[kBlockWarps];
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  value = sum_warp(value);
  if (lane == 0) warp_sums_smem[warp] = value;
  __syncthreads();  // all warps have left their sums
  if (warp == 0) {
    value = lane < kBlockWarps ? warp_sums_smem[lane] : 0.0f;
    value = sum_warp(value);
  }
  return value;
}

__device__ float sum_whole_row(const float* x_row, const float* w, std::int64_t cols) {
  float sum = 0.0f;
  if (threadIdx.x == 0) {
    for (std::int64_t col = 0; col < cols; ++col) sum += w[col] * x_row[col];
  }
  return sum;
}

/// y[i] for the row i = blockIdx.x. Correct for blocks of kBlockThreads threads.
__global__ void weighted_row_sum_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                        std::int64_t cols) {
  const std::int64_t row = blockIdx.x;
  const float sum = sum_whole_row(x + row * x_row_stride, w, cols);
  if (threadIdx.x == 0) y[row] = sum;
}

void require_matrix(std::int64_t x_row_stride, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) {
    throw std::invalid_argument("rows must be 0 to " + std::to_string(kMaxRows) + ", but it is " +
                                std::to_string(rows) + ".");
  }
  if (cols < 0)
    throw std::invalid_argument("cols must be 0 or more, but it is " + std::to_string(cols) + ".");
  if (x_row_stride < cols) {
    throw std::invalid_argument("x_row_stride must be " + std::to_string(cols) +
                                " or more, as many as there are columns, but it is " +
                                std::to_string(x_row_stride) + ".");
  }
}

void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  weighted_row_sum_tree_kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(x, x_row_stride, w, y, cols);
  CUDA_CHECK(cudaGetLastError());
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  weighted_row_sum_kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(x, x_row_stride, w, y, cols);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
