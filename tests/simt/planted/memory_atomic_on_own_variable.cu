// Each thread adds up a row with atomicAdd(), to a variable of its own. A GPU has atomics on global and
// shared memory alone.
//
// expect: illegal_address at A
#include <cuda_runtime.h>

__global__ void sum_rows(const float* x, float* sums, int cols) {
  float sum = 0;
  for (int col = 0; col < cols; ++col) atomicAdd(&sum, x[threadIdx.x * cols + col]);  // A
  sums[threadIdx.x] = sum;
}

int main() {
  const int rows = 32, cols = 4;
  float *x, *sums;
  cudaMalloc(&x, rows * cols * sizeof(float));
  cudaMalloc(&sums, rows * sizeof(float));
  cudaMemset(x, 0, rows * cols * sizeof(float));
  sum_rows<<<1, rows>>>(x, sums, cols);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
}
