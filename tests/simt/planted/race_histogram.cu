// A histogram in shared memory counts with ++, which reads, adds and writes in three steps. Threads of
// different warps that may hit the same bin need atomicAdd().
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__global__ void count_remainders(const int* x, int* histogram) {
  __shared__ int bins[32];
  const int t = threadIdx.x;
  if (t < 32) bins[t] = 0;
  __syncthreads();
  bins[x[t] & 31]++;  // A
  __syncthreads();
  if (t < 32) atomicAdd(&histogram[t], bins[t]);
}

int main() {
  int values[256], *x, *histogram;
  for (int i = 0; i < 256; ++i) values[i] = i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&histogram, 32 * sizeof(int));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(histogram, 0, 32 * sizeof(int));
  count_remainders<<<1, 256>>>(x, histogram);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(histogram);
  return 0;
}
