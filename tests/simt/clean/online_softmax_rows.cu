// Looks wrong: lanes with no column left go on shuffling statistics of nothing, and whole warps return early.
// It is right: an empty lane holds the identity of the merge, and all 32 lanes of a row come to every
// shuffle.

#include <cuda_runtime.h>

#include <cmath>

__global__ void softmax_kernel(const float* x, float* y, int rows, int cols) {
  const int lane = threadIdx.x % 32, row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (row >= rows) return;  // all lanes of the warp have the same row
  float largest = -INFINITY, sum = 0.0f;
  for (int col = lane; col < cols; col += 32) {
    const float value = x[row * cols + col], before = largest;
    largest = fmaxf(largest, value);
    sum = sum * (sum > 0.0f ? expf(before - largest) : 0.0f) + expf(value - largest);
  }
  for (int step = 16; step > 0; step /= 2) {
    const float other_largest = __shfl_xor_sync(0xffffffffu, largest, step);
    const float other_sum = __shfl_xor_sync(0xffffffffu, sum, step), both = fmaxf(largest, other_largest);
    sum = (sum > 0.0f ? sum * expf(largest - both) : 0.0f) +
          (other_sum > 0.0f ? other_sum * expf(other_largest - both) : 0.0f);
    largest = both;
  }
  for (int col = lane; col < cols; col += 32) y[row * cols + col] = expf(x[row * cols + col] - largest) / sum;
}

int main() {
  constexpr int kRows = 5, kCols = 23;  // fewer columns than lanes
  float x[kRows][kCols], y[kRows][kCols] = {}, *d_x, *d_y;
  for (int i = 0; i < kRows * kCols; ++i) x[i / kCols][i % kCols] = i * 37 % 41 * 0.25f - 5.0f;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_y, sizeof y);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  softmax_kernel<<<2, 128>>>(d_x, d_y, kRows, kCols);  // eight warps for five rows
  cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_y);
  for (int row = 0; row < kRows; ++row) {
    double sum = 0.0;
    for (float value : x[row]) sum += std::exp(double(value));
    for (int col = 0; col < kCols; ++col)
      if (!(std::fabs(y[row][col] - std::exp(double(x[row][col])) / sum) < 1e-5)) return 1;
  }
  return 0;
}
