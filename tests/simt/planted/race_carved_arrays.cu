// Dynamic shared memory is carved into two arrays, and the second begins halfway through the first. Two
// threads may not write the same element between barriers; offsets of carved arrays must add up whole
// arrays.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void pair_up(const int* x, int* out) {
  extern __shared__ int scratch[];
  const int t = threadIdx.x, n = blockDim.x;
  int* keys = scratch;
  int* positions = scratch + n / 2;
  keys[t] = x[t] * 2 + 1;      // A
  positions[t] = 2 * (n - t);  // B
  __syncthreads();
  out[t] = keys[n - 1 - t] + positions[t];
}

int main() {
  const int n = 128;
  int *x, *out;
  cudaMalloc(&x, n * sizeof(int));
  cudaMalloc(&out, n * sizeof(int));
  cudaMemset(x, 0, n * sizeof(int));
  pair_up<<<1, n, 2 * n * sizeof(int)>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
  return 0;
}
