// Threads beyond n return, and the rest of the warp reads their registers in a shuffle reduction. A shuffle
// from a lane that has returned gives an undefined value: all lanes must stay, with neutral values.
//
// expect: inactive_lane at A
#include <cuda_runtime.h>

__global__ void sum_warps(const float* x, int n, float* sums) {
  const int i = blockIdx.x * 32 + threadIdx.x;
  if (i >= n) return;
  float v = x[i];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);  // A
  if (threadIdx.x == 0) sums[blockIdx.x] = v;
}

int main() {
  const int n = 80;
  float *x, *sums;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sums, 3 * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  sum_warps<<<3, 32>>>(x, n, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
