// Records how the recurrence of lesson 05 moves along a row, for the lesson's figure. Prints CSV:
// col,x,max,sum,unrescaled, where `unrescaled` is the sum of a thread that forgets to rescale it.
// scripts/figure_online_softmax.py draws it.

#include <cuda_runtime.h>

#include <cmath>
#include <cstdint>
#include <cstdio>

#include "device/cuda_check.hpp"

namespace {

constexpr int kCols = 96;

/// A number that looks random, with a bell-shaped distribution of standard deviation 2.
float number(std::uint32_t i) {
  float sum = 0.0f;
  for (std::uint32_t j = 0; j < 12; ++j) {
    std::uint32_t bits = (12 * i + j) * 2654435761u + 2132u;
    bits = (bits ^ bits >> 16) * 2246822519u;
    bits = (bits ^ bits >> 13) * 3266489917u;
    sum += static_cast<float>((bits ^ bits >> 16) >> 8) * 0x1p-24f;
  }
  return 2.0f * (sum - 6.0f);
}

/// max, sum and unrescaled after each column. Shapes: all are (kCols). One thread.
__global__ void trace_kernel(const float* x, float* max, float* sum, float* unrescaled) {
  float m = -INFINITY, l = 0.0f, wrong = 0.0f;
  for (int col = 0; col < kCols; ++col) {
    const float new_m = fmaxf(m, x[col]);
    l = l * expf(m - new_m) + expf(x[col] - new_m);
    wrong = wrong + expf(x[col] - new_m);
    m = new_m;
    max[col] = m, sum[col] = l, unrescaled[col] = wrong;
  }
}

}  // namespace

int main() {
  float x[kCols], results[3][kCols];
  for (int col = 0; col < kCols; ++col) x[col] = number(static_cast<std::uint32_t>(col));
  float* device = nullptr;
  CUDA_CHECK(cudaMalloc(&device, 4 * sizeof(x)));
  CUDA_CHECK(cudaMemcpy(device, x, sizeof(x), cudaMemcpyHostToDevice));
  trace_kernel<<<1, 1>>>(device, device + kCols, device + 2 * kCols, device + 3 * kCols);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaMemcpy(results, device + kCols, sizeof(results), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaFree(device));
  std::printf("col,x,max,sum,unrescaled\n");
  for (int col = 0; col < kCols; ++col)
    std::printf("%d,%.4f,%.4f,%.4f,%.4f\n", col, x[col], results[0][col], results[1][col], results[2][col]);
}
