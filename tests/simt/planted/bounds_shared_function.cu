// A helper fills a shared buffer through a pointer with one element more than the buffer has. A pointer
// carries no bounds; the memory behind the array is not the block's to use.
//
// expect: out_of_bounds at A, bins[64]
#include <cuda_runtime.h>

__device__ void clear(int* counts, int n) {
  for (int i = threadIdx.x; i <= n; i += blockDim.x) counts[i] = 0;  // A
}

__global__ void histogram(const unsigned char* x, int n, int* out) {
  __shared__ int bins[64];
  clear(bins, 64);
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[x[i] % 64], 1);
  __syncthreads();
  if (threadIdx.x < 64) out[threadIdx.x] = bins[threadIdx.x];
}

int main() {
  const int n = 500;
  unsigned char* x;
  int* out;
  cudaMalloc(&x, n);
  cudaMalloc(&out, 64 * sizeof(int));
  cudaMemset(x, 5, n);
  histogram<<<1, 128>>>(x, n, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
  return 0;
}
