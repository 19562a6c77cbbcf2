// Lesson 05: softmax of each row in two passes over x, statistics and output, where lesson 04 takes three.
// Milakov & Gimelshein 2018 (arXiv:1805.02867), Algorithm 3.

#include "online_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"

namespace course {

using device::kFullMask;
using device::kWarpSize;

// A team is the threads that share a row: a warp for a short one, a block for a long one.
constexpr int kBlockThreads = 1024;
constexpr int kWarpTeams = 8;                    // in a block, if each team is one warp
constexpr std::int64_t kMostColsOfAWarp = 4096;  // beyond it a block is faster (NVIDIA H200, 2026-11-21)

// [fold]
/// Statistics of the columns folded so far.
/// Invariant: max is the largest of them and sum = Σ exp(x_j - max) >= 1, or {-inf, 0} if none is above -inf.
struct RowStats {
  float max = -INFINITY, sum = 0.0f;
};

/// The statistics of the columns in `seen` and one more.
/// Algorithm 3, lines 4 and 5: of exp(old max - new max) and exp(x - new max), one is always exp(0).
__device__ RowStats fold(RowStats seen, float x) {
  // TODO 1: the new maximum, and the sum relative to it. What if x is the first column, -inf, or NaN?
  float factor = expf(-fabsf(x - seen.max));
  if (x == -INFINITY) factor = 0.0f;  // also where -inf - -inf has just given NaN
  if (x > seen.max) {
    seen = {x, seen.sum * factor + 1.0f};
  } else {
    seen.sum += factor;  // a NaN comes here, too, and stays in the sum
  }
  // [done]
  return seen;
}
// [fold]

// [merge]
/// The statistics of two disjoint sets of columns. RowStats{} is the identity; merge(a, b) and merge(b, a)
/// have the same bits.
__device__ RowStats merge(RowStats a, RowStats b) {
  // TODO 2: the same for two sets. Which sum has to shrink, and by what? What if a set is empty, or both?
  if (a.max < b.max) {
    const RowStats low = a;
    a = b;
    b = low;
  }
  if (b.sum == 0.0f) return a;  // two empty sides would give exp(-inf - -inf) = NaN
  a.sum += b.sum * expf(b.max - a.max);
  // [done]
  return a;
}
// [merge]

// [team]
/// The statistics of all lanes of the warp, in every lane. All lanes must come here together.
__device__ RowStats merge_warp(RowStats stats) {
  // TODO 3: in each step, merge with another lane. With which one, so that all end up with the same?
  for (int bit = kWarpSize / 2; bit > 0; bit /= 2) {
    const float max = __shfl_xor_sync(kFullMask, stats.max, bit);
    const float sum = __shfl_xor_sync(kFullMask, stats.sum, bit);
    stats = merge(stats, {max, sum});
  }
  // [done]
  return stats;
}

/// The statistics of the whole block, in every thread. All threads must come here, and only once.
__device__ RowStats merge_block(RowStats stats) {
  // TODO 4: merge each warp, leave that for the other warps, merge these. Who needs the result?
  constexpr int kBlockWarps = kBlockThreads / kWarpSize;
  __shared__ float max_smem[kBlockWarps], sum_smem[kBlockWarps];
  const int lane = static_cast<int>(threadIdx.x) % kWarpSize;
  const int warp = static_cast<int>(threadIdx.x) / kWarpSize;
  stats = merge_warp(stats);
  if (lane == 0) {
    max_smem[warp] = stats.max;
    sum_smem[warp] = stats.sum;
  }
  __syncthreads();  // the statistics of all warps are there
  stats = RowStats{};
  if (lane < kBlockWarps) stats = {max_smem[lane], sum_smem[lane]};
  stats = merge_warp(stats);  // in every warp: then all threads have the result without another barrier
  // [done]
  return stats;
}
// [team]

// [row]
/// The statistics of a row, in every thread of its team. Shapes: x_row is (cols).
template <int kTeamThreads>
__device__ RowStats stats_of_row(const float* x_row, std::int64_t cols) {
  RowStats stats;
  // TODO 5: fold this thread's columns, then merge the team, a warp or a block. What does +inf need?
#pragma unroll 8  // eight loads are under way at a time
  for (std::int64_t col = threadIdx.x; col < cols; col += kTeamThreads) {
    stats = fold(stats, x_row[col]);
  }
  stats = kTeamThreads == kWarpSize ? merge_warp(stats) : merge_block(stats);
  if (stats.max == INFINITY) stats.sum = NAN;  // it has the term exp(inf - inf), which fold() takes for 1
  // [done]
  return stats;
}
// [row]

// [kernels]
/// max[row] and sum[row] for a row of each team: blockDim.x threads are a team, blockDim.y teams a block.
template <int kTeamThreads>
__global__ void __launch_bounds__(kBlockThreads)
    row_stats_kernel(const float* __restrict__ x, std::int64_t x_row_stride, float* __restrict__ max,
                     float* __restrict__ sum, std::int64_t rows, std::int64_t cols) {
  // TODO 6: which row has this team? What if there is none left? Who writes the two results?
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // happens only to teams of one warp, which meet at no barrier
  const RowStats stats = stats_of_row<kTeamThreads>(x + row * x_row_stride, cols);
  if (threadIdx.x == 0) {
    max[row] = stats.max;
    sum[row] = stats.sum;
  }
  // [done]
}

/// y[row][...] for a row of each team.
template <int kTeamThreads>
__global__ void __launch_bounds__(kBlockThreads)
    online_softmax_kernel(const float* __restrict__ x, std::int64_t x_row_stride, float* __restrict__ y,
                          std::int64_t y_row_stride, std::int64_t rows, std::int64_t cols) {
  // TODO 8: the statistics of the row, then its columns once more. What if all of them are -inf?
  const std::int64_t row = std::int64_t{blockIdx.x} * blockDim.y + threadIdx.y;
  if (row >= rows) return;  // happens only to teams of one warp, which meet at no barrier
  const float* x_row = x + row * x_row_stride;
  float* y_row = y + row * y_row_stride;
  RowStats stats = stats_of_row<kTeamThreads>(x_row, cols);
  if (stats.sum == 0.0f) stats = {0.0f, 1.0f};  // only -inf: exp(-inf - 0) / 1 is the 0 that is wanted
  const float scale = 1.0f / stats.sum;
#pragma unroll 4
  for (std::int64_t col = threadIdx.x; col < cols; col += kTeamThreads) {
    y_row[col] = expf(x_row[col] - stats.max) * scale;
  }
  // [done]
}
// [kernels]

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

// [launch]
/// The block for rows of so many columns: x counts the threads of a team, y the teams.
dim3 block_for(std::int64_t cols) {
  return cols <= kMostColsOfAWarp ? dim3(kWarpSize, kWarpTeams) : dim3(kBlockThreads);
}

void row_stats(const float* x, std::int64_t x_row_stride, float* max, float* sum, std::int64_t rows,
               std::int64_t cols) {
  require_matrix("x_row_stride", x_row_stride, rows, cols);
  // TODO 7: launch the kernel for teams of this size, a team for each row, and check the launch.
  if (rows == 0) return;
  const dim3 block = block_for(cols);
  const auto blocks = static_cast<unsigned>((rows - 1) / block.y + 1);
  const auto kernel = block.x == kWarpSize ? row_stats_kernel<kWarpSize> : row_stats_kernel<kBlockThreads>;
  kernel<<<blocks, block>>>(x, x_row_stride, max, sum, rows, cols);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}

void online_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                    std::int64_t rows, std::int64_t cols) {
  require_matrix("x_row_stride", x_row_stride, rows, cols);
  require_matrix("y_row_stride", y_row_stride, rows, cols);
  // TODO 9: the same for the other kernel. When is there nothing to do?
  if (rows == 0 || cols == 0) return;
  const dim3 block = block_for(cols);
  const auto blocks = static_cast<unsigned>((rows - 1) / block.y + 1);
  const auto kernel =
      block.x == kWarpSize ? online_softmax_kernel<kWarpSize> : online_softmax_kernel<kBlockThreads>;
  kernel<<<blocks, block>>>(x, x_row_stride, y, y_row_stride, rows, cols);
  CUDA_CHECK(cudaGetLastError());
  // [done]
}
// [launch]

}  // namespace course
