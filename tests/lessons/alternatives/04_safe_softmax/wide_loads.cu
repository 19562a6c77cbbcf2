// Alternative for lesson 04: four columns a load where both matrices are aligned, blocks of 512 threads, and
// the powers of two that the hardware computes.

#include "safe_softmax.hpp"

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <stdexcept>

#include "device/cuda_check.hpp"
#include "device/reduce.hpp"

namespace course {
namespace {

constexpr int kThreads = 512;
constexpr float kLog2e = 1.44269504f;

/// Calls f(x, col, width) for this thread's columns, `width` of them from col on: first groups of four, then
/// the up to three columns that are left.
template <bool kAligned, class F>
__device__ void for_own_columns(const float* __restrict__ x_row, std::int64_t cols, F f) {
  const std::int64_t groups = kAligned ? cols / 4 : 0;
  const auto* x4 = reinterpret_cast<const float4*>(x_row);
#pragma unroll 4
  for (std::int64_t group = threadIdx.x; group < groups; group += kThreads) f(x4[group], 4 * group, 4);
  for (std::int64_t col = 4 * groups + threadIdx.x; col < cols; col += kThreads)
    f(make_float4(x_row[col], -INFINITY, -INFINITY, -INFINITY), col, 1);
}

/// exp(x - max), as a power of two.
__device__ float exp_from(float x, float max) { return exp2f((x - max) * kLog2e); }

template <bool kAligned>
__global__ void __launch_bounds__(kThreads)
    softmax_kernel(const float* __restrict__ x, std::int64_t x_row_stride, float* __restrict__ y,
                   std::int64_t y_row_stride, std::int64_t cols) {
  __shared__ float max_smem[kThreads / 32], sum_smem[kThreads / 32];
  const float* x_row = x + std::int64_t{blockIdx.x} * x_row_stride;
  float* y_row = y + std::int64_t{blockIdx.x} * y_row_stride;

  float max = -INFINITY;
  for_own_columns<kAligned>(x_row, cols, [&](float4 v, std::int64_t, int) {
    max = fmaxf(fmaxf(fmaxf(max, v.x), fmaxf(v.y, v.z)), v.w);
  });
  max = device::max_block<kThreads>(max, max_smem);
  if (max == -INFINITY) max = 0.0f;

  float sum = 0.0f;
  for_own_columns<kAligned>(x_row, cols, [&](float4 v, std::int64_t, int) {
    sum += (exp_from(v.x, max) + exp_from(v.y, max)) + (exp_from(v.z, max) + exp_from(v.w, max));
  });
  sum = device::sum_block<kThreads>(sum, sum_smem);
  const float scale = sum == 0.0f ? 0.0f : 1.0f / sum;

  for_own_columns<kAligned>(x_row, cols, [&](float4 v, std::int64_t col, int width) {
    const float4 result = make_float4(exp_from(v.x, max) * scale, exp_from(v.y, max) * scale,
                                      exp_from(v.z, max) * scale, exp_from(v.w, max) * scale);
    if (width == 4)
      *reinterpret_cast<float4*>(y_row + col) = result;
    else
      y_row[col] = result.x;
  });
}

bool is_aligned(const void* pointer, std::int64_t row_stride) {
  return reinterpret_cast<std::uintptr_t>(pointer) % sizeof(float4) == 0 && row_stride % 4 == 0;
}

}  // namespace

void safe_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                  std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("rows does not fit a grid");
  if (cols < 0) throw std::invalid_argument("cols must not be negative");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride must be cols or more");
  if (y_row_stride < cols) throw std::invalid_argument("y_row_stride must be cols or more");
  if (rows == 0 || cols == 0) return;
  const auto blocks = static_cast<unsigned>(rows);
  if (is_aligned(x, x_row_stride) && is_aligned(y, y_row_stride)) {
    softmax_kernel<true><<<blocks, kThreads>>>(x, x_row_stride, y, y_row_stride, cols);
  } else {
    softmax_kernel<false><<<blocks, kThreads>>>(x, x_row_stride, y, y_row_stride, cols);
  }
  CUDA_CHECK(cudaGetLastError());
}

}  // namespace course
