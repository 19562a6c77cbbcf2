// Alternative for lesson 03: four rows a block, which share each weight that is read; a Kogge-Stone tree.

#include "weighted_row_sum.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kRows = 4;  // rows a block
constexpr int kWarps = kBlockThreads / 32;

__global__ void four_rows_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                 std::int64_t rows, std::int64_t cols) {
  __shared__ float sums_smem[kRows][kWarps];
  const std::int64_t first_row = std::int64_t{blockIdx.x} * kRows;
  const int lane = static_cast<int>(threadIdx.x) % 32, warp = static_cast<int>(threadIdx.x) / 32;
  float sums[kRows] = {};
  for (std::int64_t col = threadIdx.x; col < cols; col += kBlockThreads) {
    const float weight = w[col];
    for (int r = 0; r < kRows; ++r)
      if (first_row + r < rows) sums[r] += weight * x[(first_row + r) * x_row_stride + col];
  }
  for (int r = 0; r < kRows; ++r) {
    for (int offset = 16; offset > 0; offset /= 2) sums[r] += __shfl_down_sync(0xffffffffu, sums[r], offset);
    if (lane == 0) sums_smem[r][warp] = sums[r];
  }
  __syncthreads();
  if (warp > 0) return;
  // Eight lanes for each of the four rows.
  float sum = sums_smem[lane / kWarps][lane % kWarps];
  for (int offset = kWarps / 2; offset > 0; offset /= 2)
    sum += __shfl_down_sync(0xffffffffu, sum, offset, kWarps);
  if (lane % kWarps == 0 && first_row + lane / kWarps < rows) y[first_row + lane / kWarps] = sum;
}

__global__ void kogge_stone_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                   std::int64_t cols) {
  __shared__ float sums_smem[2][kBlockThreads];  // read the one, write the other
  const int thread = static_cast<int>(threadIdx.x);
  float sum = 0.0f;
  for (std::int64_t col = thread; col < cols; col += kBlockThreads)
    sum += w[col] * x[std::int64_t{blockIdx.x} * x_row_stride + col];
  int side = 0;
  for (int step = 1; step < kBlockThreads; step *= 2, side = 1 - side) {
    sums_smem[side][thread] = sum;
    __syncthreads();
    if (thread + step < kBlockThreads) sum += sums_smem[side][thread + step];
  }
  if (thread == 0) y[blockIdx.x] = sum;
}

void require_matrix(std::int64_t x_row_stride, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("too many or negative rows");
  if (cols < 0) throw std::invalid_argument("negative cols");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride is too small");
}

}  // namespace

void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  kogge_stone_kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(x, x_row_stride, w, y, cols);
  CUDA_CHECK(cudaPeekAtLastError());
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>((rows - 1) / kRows + 1);
  four_rows_kernel<<<blocks, kBlockThreads>>>(x, x_row_stride, w, y, rows, cols);
  CUDA_CHECK(cudaPeekAtLastError());
}

}  // namespace course
