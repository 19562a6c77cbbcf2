// Blocks add their sums with atomicAdd() to a variable that was never set to zero. An atomic reads before it
// writes: its target needs a first value, by cudaMemset() for one.
//
// expect: uninitialised_read at A, sum[0]
#include <cuda_runtime.h>

__global__ void sum_all(const int* x, int* sum) {
  int v = x[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffff, v, offset);
  if (threadIdx.x == 0) atomicAdd(sum, v);  // A
}

int main() {
  int *x, *sum;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  sum_all<<<4, 32>>>(x, sum);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(sum);
  return 0;
}
