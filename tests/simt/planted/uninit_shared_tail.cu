// The guard of the load skips the tail of the last block, and the reduction adds the skipped elements all
// the same. Shared memory starts with anything in it: threads without an element must store the neutral one.
//
// expect: uninitialised_read at A
#include <cuda_runtime.h>

__global__ void sum_blocks(const float* x, int n, float* sums) {
  __shared__ float s[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  if (i < n) s[t] = x[i];
  __syncthreads();
  for (int half = 64; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];  // A
    __syncthreads();
  }
  if (t == 0) sums[blockIdx.x] = s[0];
}

int main() {
  const int n = 200;
  float *x, *sums;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&sums, 2 * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  sum_blocks<<<2, 128>>>(x, n, sums);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sums);
  return 0;
}
