// The threads of the first warp take three rounds of a loop with a barrier, the others two. The number of
// __syncthreads() that a thread passes must be the same for all threads of the block.
//
// expect: divergent_barrier at A, other side B
#include <cuda_runtime.h>

__global__ void sum_columns(const float* x, float* sums, int n) {
  __shared__ float partial[64];
  const int t = threadIdx.x;
  float sum = 0.0f;
  for (int i = t; i < n; i += 64) {
    sum += x[i];
    __syncthreads();  // A
  }
  partial[t] = sum;
  __syncthreads();  // B
  if (t < 32) sums[t] = partial[t] + partial[t + 32];
}

int main() {
  const int n = 160;
  float *x, *sums;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sums, 32 * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  sum_columns<<<1, 64>>>(x, sums, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
