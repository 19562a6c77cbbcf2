// The threads past the end leave before the sum over the block, whose barrier lies in a helper. Their part of
// it is never there: let them bring 0 instead of leaving.
//
// expect: exited_threads at B, other side A
// expect: inactive_lane at B
// expect: uninitialised_read at B, warp_sums[2]
#include "helpers/tile.hpp"

__global__ void sum_row(const float* x, float* y, int n) {
  __shared__ float warp_sums[4];
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;                                 // A
  const float sum = sum_block<128>(x[i], warp_sums);  // B
  if (i == 0) *y = sum;
}

int main() {
  const int n = 40;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  sum_row<<<1, 128>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
