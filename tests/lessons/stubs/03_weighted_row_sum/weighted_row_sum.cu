// Lesson 03: the weighted sum of each row, a block a row: with a tree in shared memory, then with shuffles.

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
  // TODO 1: add this thread's columns, each times its weight. Some threads may have none.
  return sum;
}

/// The sum of `value` over the block, in every thread. All its threads must come here, and only once.
__device__ float sum_block_by_tree(float value) {
  __shared__ float sums_smem[kBlockThreads];
  // TODO 2: leave your value for the others. When may they read it?
  // TODO 3: half of the threads add what the other half left; then half of these ... Who waits, and when?
  return sums_smem[0];
}

/// y[i] for the row i = blockIdx.x. Correct for blocks of kBlockThreads threads.
__global__ void weighted_row_sum_tree_kernel(const float* x, std::int64_t x_row_stride, const float* w,
                                             float* y, std::int64_t cols) {
  // TODO 4: where does this block's row begin? Sum it, with the two functions above. Who writes the result?
}

/// The sum of `value` over the warp, in lane 0. All lanes must come here together.
__device__ float sum_warp(float value) {
  // TODO 6: the same tree in a warp: a lane adds what the lane `offset` above it holds. Which offsets?
  return value;  // lanes above 0 hold sums of no use
}

/// The sum of `value` over the block, in thread 0. All its threads must come here, and only once.
__device__ float sum_block(float value) {
  // TODO 7: sum each warp; leave these sums in shared memory; let one warp sum them. Where is the barrier?
  return value;
}

/// y[i] for the row i = blockIdx.x. Correct for blocks of kBlockThreads threads.
__global__ void weighted_row_sum_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                        std::int64_t cols) {
  // TODO 8: as in TODO 4, with sum_block().
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
  // TODO 5: launch a block for each row, and check the launch. What if there are no rows? No columns?
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  // TODO 9: the same launch, of the other kernel.
}

}  // namespace course
