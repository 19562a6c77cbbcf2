// The first thread of a block reads the shared element before the first. Element -1 of a shared array is
// whatever lies before it; the block's first thread needs a case of its own.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

// Marks where a run of equal keys begins.
__global__ void mark_heads(const int* x, int* heads) {
  __shared__ int keys[64];
  const int t = threadIdx.x;
  keys[t] = x[t];
  __syncthreads();
  heads[t] = keys[t] != keys[t - 1];  // A
}

int main() {
  int *x, *heads;
  cudaMalloc(&x, 64 * sizeof(int));
  cudaMalloc(&heads, 64 * sizeof(int));
  cudaMemset(x, 0, 64 * sizeof(int));
  mark_heads<<<1, 64>>>(x, heads);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(heads);
  return 0;
}
