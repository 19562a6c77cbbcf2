// Blocks pass a running sum along a chain of volatile flags, with a fence on the reading side only. volatile
// keeps the accesses, not their order: __threadfence() must precede the store of the flag.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void chained_sum(const int* x, int* prefix, volatile int* ready) {
  const int b = blockIdx.x;
  int sum = 0;
  if (b > 0) {
    while (ready[b - 1] == 0) {
    }
    __threadfence();
    sum = prefix[b - 1];  // B
  }
  prefix[b] = sum + x[b];  // A
  ready[b] = 1;
}

int main() {
  const int blocks = 5;
  int *x, *prefix, *ready;
  cudaMalloc(&x, blocks * sizeof(int));
  cudaMalloc(&prefix, blocks * sizeof(int));
  cudaMalloc(&ready, blocks * sizeof(int));
  cudaMemset(x, 1, blocks * sizeof(int));
  cudaMemset(prefix, 0, blocks * sizeof(int));
  cudaMemset(ready, 0, blocks * sizeof(int));
  chained_sum<<<blocks, 1>>>(x, prefix, ready);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(prefix);
  cudaFree(ready);
  return 0;
}
