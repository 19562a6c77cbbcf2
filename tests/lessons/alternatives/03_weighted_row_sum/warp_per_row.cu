// Alternative for lesson 03: a warp for each row, without a barrier; a tree that ends inside one warp.

#include "weighted_row_sum.hpp"

#include <cuda_runtime.h>

#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kRowsPerBlock = 8;

__global__ void warp_per_row_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                                    std::int64_t rows, std::int64_t cols) {
  const std::int64_t row = std::int64_t{blockIdx.x} * kRowsPerBlock + threadIdx.y;
  if (row >= rows) return;  // the whole warp leaves, so the shuffles below stay legal
  float sum = 0.0f;
  for (std::int64_t col = threadIdx.x; col < cols; col += 32)
    sum = fmaf(w[col], x[row * x_row_stride + col], sum);
  for (int mask = 1; mask < 32; mask *= 2) sum += __shfl_xor_sync(~0u, sum, mask);
  if (threadIdx.x == 0) y[row] = sum;
}

__global__ void tree_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                            std::int64_t cols) {
  extern __shared__ float sums_smem[];
  const unsigned thread = threadIdx.x;
  float sum = 0.0f;
  for (std::int64_t col = thread; col < cols; col += blockDim.x)
    sum += w[col] * x[std::int64_t{blockIdx.x} * x_row_stride + col];
  sums_smem[thread] = sum;
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half >= 32; half /= 2) {
    if (thread < half) sums_smem[thread] = sum += sums_smem[thread + half];
    __syncthreads();
  }
  if (thread >= 32) return;
  for (unsigned half = 16; half > 0; half /= 2) {
    if (thread < half) sums_smem[thread] = sum += sums_smem[thread + half];
    __syncwarp();
  }
  if (thread == 0) y[blockIdx.x] = sum;
}

void require_matrix(std::int64_t x_row_stride, std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows is out of range");
  if (cols < 0) throw std::invalid_argument("cols is negative");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride is less than the number of columns");
}

}  // namespace

void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  tree_kernel<<<static_cast<unsigned>(rows), 128, 128 * sizeof(float)>>>(x, x_row_stride, w, y, cols);
  CUDA_CHECK(cudaGetLastError());
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  require_matrix(x_row_stride, rows, cols);
  if (rows == 0) return;
  const auto blocks = static_cast<unsigned>((rows - 1) / kRowsPerBlock + 1);
  warp_per_row_kernel<<<blocks, dim3(32, kRowsPerBlock)>>>(x, x_row_stride, w, y, rows, cols);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
