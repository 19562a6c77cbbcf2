// Looks wrong: shared memory is written and read again and again without a barrier.
// It is right: each thread touches only its own elements, and a thread sees its own writes in order.

#include <cuda_runtime.h>

__global__ void horner_kernel(const int* x, int* y) {
  __shared__ int powers[4][64];  // used as four private values of each thread
  const int thread = threadIdx.x;
  powers[0][thread] = 1;
  for (int k = 1; k < 4; ++k) powers[k][thread] = powers[k - 1][thread] * x[thread];
  int sum = 0;
  for (int k = 3; k >= 0; --k) sum += (k + 1) * powers[k][thread];
  powers[0][thread] = sum;
  y[thread] = powers[0][thread];
}

int main() {
  int x[64], y[64] = {}, *d_x, *d_y;
  for (int i = 0; i < 64; ++i) x[i] = i - 32;
  cudaMalloc(&d_x, sizeof x);
  cudaMalloc(&d_y, sizeof y);
  cudaMemcpy(d_x, x, sizeof x, cudaMemcpyHostToDevice);
  horner_kernel<<<1, 64>>>(d_x, d_y);
  cudaMemcpy(y, d_y, sizeof y, cudaMemcpyDeviceToHost);
  cudaFree(d_x);
  cudaFree(d_y);
  for (int i = 0; i < 64; ++i)
    if (y[i] != 1 + 2 * x[i] + 3 * x[i] * x[i] + 4 * x[i] * x[i] * x[i]) return 1;
  return 0;
}
