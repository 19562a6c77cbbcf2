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

/// Statistics of the columns folded so far.
/// Invariant: max is the largest of them and sum = Σ exp(x_j - max) >= 1, or {-inf, 0} if none is above -inf.
struct RowStats {
  float max = -INFINITY, sum = 0.0f;
};

/// The statistics of the columns in `seen` and one more.
/// Algorithm 3, lines 4 and 5: of exp(old max - new max) and exp(x - new max), one is always exp(0).
__device__ RowStats fold(RowStats seen, float x) {
  // TODO 1: the new maximum, and the sum relative to it. What if x is the first column, -inf, or NaN?
  return seen;
}

/// The statistics of two disjoint sets of columns. RowStats{} is the identity; merge(a, b) and merge(b, a)
/// have the same bits.
__device__ RowStats merge(RowStats a, RowStats b) {
  // TODO 2: the same for two sets. Which sum has to shrink, and by what? What if a set is empty, or both?
  return a;
}

/// The statistics of all lanes of the warp, in every lane. All lanes must come here together.
__device__ RowStats merge_warp(RowStats stats) {
  // TODO 3: in each step, merge with another lane. With which one, so that all end up with the same?
  return stats;
}

/// The statistics of the whole block, in every thread. All threads must come here, and only once.
__device__ RowStats merge_block(RowStats stats) {
  // TODO 4: merge each warp, leave that for the other warps, merge these. Who needs the result?
  return stats;
}

/// The statistics of a row, in every thread of its team. Shapes: x_row is (cols).
template <int kTeamThreads>
__device__ RowStats stats_of_row(const float* x_row, std::int64_t cols) {
  RowStats stats;
  // TODO 5: fold this thread's columns, then merge the team, a warp or a block. What does +inf need?
  return stats;
}

/// max[row] and sum[row] for a row of each team: blockDim.x threads are a team, blockDim.y teams a block.
template <int kTeamThreads>
__global__ void __launch_bounds__(kBlockThreads)
    row_stats_kernel(const float* __restrict__ x, std::int64_t x_row_stride, float* __restrict__ max,
                     float* __restrict__ sum, std::int64_t rows, std::int64_t cols) {
  // TODO 6: which row has this team? What if there is none left? Who writes the two results?
}

/// y[row][...] for a row of each team.
template <int kTeamThreads>
__global__ void __launch_bounds__(kBlockThreads)
    online_softmax_kernel(const float* __restrict__ x, std::int64_t x_row_stride, float* __restrict__ y,
                          std::int64_t y_row_stride, std::int64_t rows, std::int64_t cols) {
  // TODO 8: the statistics of the row, then its columns once more. What if all of them are -inf?
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

/// The block for rows of so many columns: x counts the threads of a team, y the teams.
dim3 block_for(std::int64_t cols) {
  return cols <= kMostColsOfAWarp ? dim3(kWarpSize, kWarpTeams) : dim3(kBlockThreads);
}

void row_stats(const float* x, std::int64_t x_row_stride, float* max, float* sum, std::int64_t rows,
               std::int64_t cols) {
  require_matrix("x_row_stride", x_row_stride, rows, cols);
  // TODO 7: launch the kernel for teams of this size, a team for each row, and check the launch.
}

void online_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                    std::int64_t rows, std::int64_t cols) {
  require_matrix("x_row_stride", x_row_stride, rows, cols);
  require_matrix("y_row_stride", y_row_stride, rows, cols);
  // TODO 9: the same for the other kernel. When is there nothing to do?
}

}  // namespace course
