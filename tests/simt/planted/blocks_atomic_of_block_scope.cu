// All blocks add to one counter, each by an atomic that is one for its own threads alone.
//
// expect: race at A, other side A
#include <cuda_runtime.h>

__global__ void count(const int* x, int n, int* positive) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && x[i] > 0) atomicAdd_block(positive, 1);  // A
}

int main() {
  const int n = 128;
  int *x, *positive;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&positive, sizeof(int));
  cudaMemset(x, 1, n * sizeof(int));
  cudaMemset(positive, 0, sizeof(int));
  count<<<4, 32>>>(x, n, positive);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(positive);
  return 0;
}
