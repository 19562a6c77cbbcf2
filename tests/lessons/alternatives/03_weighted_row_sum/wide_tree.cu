// Alternative for lesson 03: a block of 256 threads for each row, four columns a load where the rows are
// aligned, and sums that thread 0 alone reads in the end.

#include "weighted_row_sum.hpp"

#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

/// This thread's share of the row: groups of four columns if `wide`, then the columns that are left.
__device__ float sum_own_columns(const float* x_row, const float* w, std::int64_t cols, bool wide) {
  const std::int64_t groups = wide ? cols / 4 : 0;
  const auto* x4 = reinterpret_cast<const float4*>(x_row);
  const auto* w4 = reinterpret_cast<const float4*>(w);
  float sum = 0.0f;
  for (std::int64_t group = threadIdx.x; group < groups; group += kBlockThreads) {
    const float4 a = x4[group], b = w4[group];
    sum += (a.x * b.x + a.y * b.y) + (a.z * b.z + a.w * b.w);
  }
  for (std::int64_t col = 4 * groups + threadIdx.x; col < cols; col += kBlockThreads)
    sum += x_row[col] * w[col];
  return sum;
}

__global__ void tree_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                            std::int64_t cols, bool wide) {
  __shared__ float sums_smem[kBlockThreads];
  const unsigned thread = threadIdx.x;
  sums_smem[thread] = sum_own_columns(x + blockIdx.x * x_row_stride, w, cols, wide);
  for (unsigned half = kBlockThreads / 2; half > 0; half /= 2) {
    __syncthreads();  // the sums that this step adds are there
    if (thread < half) sums_smem[thread] += sums_smem[thread + half];
  }
  if (thread == 0) y[blockIdx.x] = sums_smem[0];  // its own sum: no barrier
}

__global__ void shuffle_kernel(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                               std::int64_t cols, bool wide) {
  __shared__ float warp_sums_smem[kBlockThreads / 32];
  float sum = sum_own_columns(x + blockIdx.x * x_row_stride, w, cols, wide);
  for (int bit = 16; bit > 0; bit /= 2) sum += __shfl_xor_sync(~0u, sum, bit);
  if (threadIdx.x % 32 == 0) warp_sums_smem[threadIdx.x / 32] = sum;
  __syncthreads();  // the sums of all warps are there
  if (threadIdx.x > 0) return;
  for (int warp = 1; warp < kBlockThreads / 32; ++warp) sum += warp_sums_smem[warp];
  y[blockIdx.x] = sum;
}

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0;
}

template <class Kernel>
void sum_rows(Kernel kernel, const float* x, std::int64_t x_row_stride, const float* w, float* y,
              std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows does not fit a grid");
  if (cols < 0) throw std::invalid_argument("cols must not be negative");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride must be cols or more");
  if (rows == 0) return;
  const bool wide = is_aligned(x) && is_aligned(w) && x_row_stride % 4 == 0;
  kernel<<<static_cast<unsigned>(rows), kBlockThreads>>>(x, x_row_stride, w, y, cols, wide);
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace

void weighted_row_sum_tree(const float* x, std::int64_t x_row_stride, const float* w, float* y,
                           std::int64_t rows, std::int64_t cols) {
  sum_rows(tree_kernel, x, x_row_stride, w, y, rows, cols);
}

void weighted_row_sum(const float* x, std::int64_t x_row_stride, const float* w, float* y, std::int64_t rows,
                      std::int64_t cols) {
  sum_rows(shuffle_kernel, x, x_row_stride, w, y, rows, cols);
}

}  // namespace course
