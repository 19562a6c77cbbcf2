// Alternative for lesson 03: four columns a load where the rows are aligned, cooperative groups, and a tree
// over rows that a limited grid takes in turn.

#include "weighted_row_sum.hpp"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

namespace cg = cooperative_groups;

constexpr int kThreads = 128;

/// The thread's share of a row whose start, like that of w, is a multiple of 16 bytes: groups of four
/// columns, then up to three columns that are left.
__device__ float sum_groups_of_four(const float* x_row, const float* w, std::int64_t cols) {
  const auto* x4 = reinterpret_cast<const float4*>(x_row);
  const auto* w4 = reinterpret_cast<const float4*>(w);
  float4 sums = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
  for (std::int64_t group = threadIdx.x; group < cols / 4; group += kThreads) {
    const float4 a = x4[group], b = w4[group];
    sums.x += a.x * b.x;
    sums.y += a.y * b.y;
    sums.z += a.z * b.z;
    sums.w += a.w * b.w;
  }
  const std::int64_t tail = cols / 4 * 4 + threadIdx.x;
  if (tail < cols) sums.x += x_row[tail] * w[tail];
  return (sums.x + sums.y) + (sums.z + sums.w);
}

__device__ float sum_columns(const float* x_row, const float* w, std::int64_t cols) {
  float sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += kThreads) sum += x_row[col] * w[col];
  return sum;
}

template <bool kAligned>
__global__ void row_sum_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                               std::int64_t cols) {
  __shared__ float warp_sums_smem[kThreads / 32];
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const float* x_row = x + std::int64_t{blockIdx.x} * x_row_stride;
  const float own = kAligned ? sum_groups_of_four(x_row, w, cols) : sum_columns(x_row, w, cols);
  const float warp_sum = cg::reduce(warp, own, cg::plus<float>());
  if (warp.thread_rank() == 0) warp_sums_smem[warp.meta_group_rank()] = warp_sum;
  block.sync();
  if (block.thread_rank() > 0) return;
  y[blockIdx.x] = (warp_sums_smem[0] + warp_sums_smem[1]) + (warp_sums_smem[2] + warp_sums_smem[3]);
}

__global__ void tree_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                            std::int64_t rows, std::int64_t cols) {
  __shared__ float sums_smem[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    sums_smem[thread] = sum_columns(x + row * x_row_stride, w, cols);
    for (int half = kThreads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (thread < half) sums_smem[thread] += sums_smem[thread + half];
    }
    if (thread == 0) y[row] = sums_smem[0];
    __syncthreads();  // thread 0 has read sums_smem[1], which the next row may overwrite
  }
}

void require_matrix(std::int64_t x_row_stride, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows does not fit a grid");
  if (cols < 0) throw std::invalid_argument("cols must not be negative");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride must be cols or more");
}

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0;
}

}  // namespace

void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>((rows - 1) / 2 + 1);  // two rows a block
  tree_kernel<<<blocks, kThreads>>>(x, x_row_stride, w, y, rows, cols);
  CUDA_CHECK(cudaGetLastError());
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>(rows);
  if (is_aligned(x) && is_aligned(w) && x_row_stride % 4 == 0) {
    row_sum_kernel<true><<<blocks, kThreads>>>(x, x_row_stride, w, y, cols);
  } else {
    row_sum_kernel<false><<<blocks, kThreads>>>(x, x_row_stride, w, y, cols);
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
