// Alternative for lesson 04: blocks of 256 threads that take several rows in turn; the warps' values go
// through shared memory to one warp and back.

#include "safe_softmax.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;

struct Larger {
  static __device__ float identity() { return -INFINITY; }
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};
struct Plus {
  static __device__ float identity() { return 0.0f; }
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// The values of the block combined, in every thread.
template <class Combine>
__device__ float combine_block(float value, float* values_smem) {
  const Combine combine;
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int offset = 16; offset > 0; offset /= 2)
    value = combine(value, __shfl_down_sync(0xffffffffu, value, offset));
  if (lane == 0) values_smem[warp] = value;
  __syncthreads();  // all warps have left their values
  if (warp == 0) {
    value = lane < kWarps ? values_smem[lane] : Combine::identity();
    for (int offset = kWarps / 2; offset > 0; offset /= 2)
      value = combine(value, __shfl_down_sync(0xffffffffu, value, offset));
    if (lane == 0) values_smem[0] = value;
  }
  __syncthreads();  // the result lies in values_smem[0]
  value = values_smem[0];
  __syncthreads();  // all have read it
  return value;
}

__global__ void softmax_kernel(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                               std::int64_t rows, std::int64_t cols) {
  __shared__ float values_smem[kWarps];
  for (std::int64_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float* x_row = x + row * x_row_stride;
    float* y_row = y + row * y_row_stride;
    float max = Larger::identity();
    for (std::int64_t col = threadIdx.x; col < cols; col += kThreads) max = fmaxf(max, x_row[col]);
    max = combine_block<Larger>(max, values_smem);
    float sum = 0.0f;
    for (std::int64_t col = threadIdx.x; col < cols; col += kThreads) {
      const float value = x_row[col];
      if (value != -INFINITY) sum += expf(value - max);
    }
    sum = combine_block<Plus>(sum, values_smem);
    for (std::int64_t col = threadIdx.x; col < cols; col += kThreads) {
      const float value = x_row[col];
      y_row[col] = value == -INFINITY && sum == sum ? 0.0f : expf(value - max) / sum;
    }
  }
}

}  // namespace

void safe_softmax(const float* x, std::int64_t x_row_stride, float* y, std::int64_t y_row_stride,
                  std::int64_t rows, std::int64_t cols) {
  if (rows < 0 || rows > kMaxRows) throw std::invalid_argument("too many or negative rows");
  if (cols < 0) throw std::invalid_argument("negative cols");
  if (x_row_stride < cols) throw std::invalid_argument("x_row_stride is too small");
  if (y_row_stride < cols) throw std::invalid_argument("y_row_stride is too small");
  if (rows == 0 || cols == 0) return;
  const auto blocks = static_cast<unsigned>((rows - 1) / 2 + 1);  // two rows each
  softmax_kernel<<<blocks, kThreads>>>(x, x_row_stride, y, y_row_stride, rows, cols);
  CUDA_CHECK(cudaPeekAtLastError());
}

}  // namespace course
