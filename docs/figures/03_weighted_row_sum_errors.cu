// Measures what summing in parts does for the rounding error, for the figure of lesson 03. Prints CSV:
// parts,cols,error, where error is the root mean square over 16 rows of |float32 sum - float64 sum| / float64
// sum. scripts/figure_weighted_row_sum.py draws it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "device/cuda_check.hpp"

namespace {

constexpr int kRows = 16, kMostParts = 256, kLeastLog2 = 8, kMostLog2 = 20;

/// A number in [0, 1) that looks random, a multiple of 2^-24.
float number(std::uint32_t i) {
  i = (i ^ i >> 16) * 2246822519u;
  i = (i ^ i >> 13) * 3266489917u;
  return static_cast<float>((i ^ i >> 16) >> 8) * 0x1p-24f;
}

/// y[row] = the sum of the row, by blockDim.x threads (a power of two) and a tree.
/// Shapes: x is (gridDim.x, cols), y is (gridDim.x).
__global__ void sum_in_parts_kernel(const float* x, float* y, int cols) {
  __shared__ float sums_smem[kMostParts];
  const float* x_row = x + std::int64_t{blockIdx.x} * cols;
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  float sum = 0.0f;
  for (int col = thread; col < cols; col += threads) sum += x_row[col];
  sums_smem[thread] = sum;
  __syncthreads();
  for (int half = threads / 2; half > 0; half /= 2) {
    if (thread < half) sums_smem[thread] += sums_smem[thread + half];
    __syncthreads();
  }
  if (thread == 0) y[blockIdx.x] = sums_smem[0];
}

double root_mean_square_error(const std::vector<float>& x, const std::vector<float>& y, int cols) {
  double squares = 0;
  for (int row = 0; row < kRows; ++row) {
    double sum = 0;  // exact: multiples of 2^-24 below 2^20 fit 53 bits
    for (int col = 0; col < cols; ++col)
      sum += static_cast<double>(x[static_cast<std::size_t>(row * cols + col)]);
    const double error = (static_cast<double>(y[static_cast<std::size_t>(row)]) - sum) / sum;
    squares += error * error;
  }
  return std::sqrt(squares / kRows);
}

}  // namespace

int main() {
  const std::size_t most = std::size_t{kRows} << kMostLog2;
  std::vector<float> x(most), y(kRows);
  for (std::size_t i = 0; i < most; ++i) x[i] = number(static_cast<std::uint32_t>(i));
  float *x_device = nullptr, *y_device = nullptr;
  CUDA_CHECK(cudaMalloc(&x_device, most * sizeof(float)));
  CUDA_CHECK(cudaMalloc(&y_device, kRows * sizeof(float)));
  CUDA_CHECK(cudaMemcpy(x_device, x.data(), most * sizeof(float), cudaMemcpyHostToDevice));
  std::printf("parts,cols,error\n");
  for (const int parts : {1, 32, 256}) {
    for (int log2 = kLeastLog2; log2 <= kMostLog2; ++log2) {
      const int cols = 1 << log2;
      sum_in_parts_kernel<<<kRows, parts>>>(x_device, y_device, cols);
      CUDA_CHECK(cudaGetLastError());
      CUDA_CHECK(cudaMemcpy(y.data(), y_device, kRows * sizeof(float), cudaMemcpyDeviceToHost));
      std::printf("%d,%d,%.2e\n", parts, cols, root_mean_square_error(x, y, cols));
    }
  }
  CUDA_CHECK(cudaFree(x_device));
  CUDA_CHECK(cudaFree(y_device));
}
