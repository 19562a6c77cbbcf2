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

// [columns]
/// This thread's share of one row: the columns threadIdx.x, threadIdx.x + kBlockThreads, ... below cols.
/// Shapes: x_row, w are (cols).
__device__ float sum_own_columns(const float* x_row, const float* w, std::int64_t cols) {
  float sum = 0.0f;
  // TODO 1: add this thread's columns, each times its weight. Some threads may have none.
  for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) {
    sum += w[col] * x_row[col];
  }
  // [done]
  return sum;
}
// [columns]

// [tree]
/// The sum of `value` over the block, in every thread. All its threads must come here, and only once.
__device__ float sum_block_by_tree(float value) {
  __shared__ float sums_smem[kBlockThreads];
  // TODO 2: leave your value for the others. When may they read it?
  // TODO 3: half of the threads add what the other half left; then half of these ... Who waits, and when?
  const int thread = static_cast<int>(threadIdx.x);
  sums_smem[thread] = value;
  __syncthreads();  // all sums are in sums_smem
  for (int half = kBlockThreads / 2; half > 0; half /= 2) {
    if (thread < half) sums_smem[thread] += sums_smem[thread + half];
    __syncthreads();  // the first `half` sums make up the whole; the next step may read them
  }
  // [done]
  return sums_smem[0];
}
// [tree]

/// y[i] for the row i = blockIdx.x. Correct for blocks of kBlockThreads threads.
__global__ void weighted_row_sum_tree_kernel(const float* x, std::int64_t x_row_stride, const float* w,
                                             float* y, std::int64_t cols) {
  // TODO 4: where does this block's row begin? Sum it, with the two functions above. Who writes the result?
  const std::int64_t row = blockIdx.x;
  const float sum = sum_block_by_tree(sum_own_columns(x + row * x_row_stride, w, cols));
  if (threadIdx.x == 0) y[row] = sum;
  // [done]
}

// [shuffles]
/// The sum of `value` over the warp, in lane 0. All lanes must come here together.
__device__ float sum_warp(float value) {
  // TODO 6: the same tree in a warp: a lane adds what the lane `offset` above it holds. Which offsets?
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    value += __shfl_down_sync(kFullMask, value, offset);
  }
  // [done]
  return value;  // lanes above 0 hold sums of no use
}

/// The sum of `value` over the block, in thread 0. All its threads must come here, and only once.
__device__ float sum_block(float value) {
  // TODO 7: sum each warp; leave these sums in shared memory; let one warp sum them. Where is the barrier?
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
  // [done]
  return value;
}
// [shuffles]

// [kernel]
/// y[i] for the row i = blockIdx.x. Correct for blocks of kBlockThreads threads.
__global__ void weighted_row_sum_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                        std::int64_t cols) {
  // TODO 8: as in TODO 4, with sum_block().
  const std::int64_t row = blockIdx.x;
  const float sum = sum_block(sum_own_columns(x + row * x_row_stride, w, cols));
  if (threadIdx.x == 0) y[row] = sum;
  // [done]
}
// [kernel]

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

// [launch]
void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  // TODO 5: launch a block for each row, and check the launch. What if there are no rows? No columns?
  if (rows == 0) return;
  weighted_row_sum_tree_kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(x, x_row_stride, w, y, cols);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  // TODO 9: the same launch, of the other kernel.
  if (rows == 0) return;
  weighted_row_sum_kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(x, x_row_stride, w, y, cols);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [launch]

}  // namespace course
