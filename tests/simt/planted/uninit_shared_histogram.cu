// A histogram in shared memory starts to count without clearing its bins. Every block finds shared memory
// with anything in it, even if the block before left it clean.
//
// expect: uninitialised_read at A
#include <cuda_runtime.h>

__global__ void histogram(const unsigned char* x, unsigned* out) {
  __shared__ unsigned bins[16];
  __syncthreads();
  atomicAdd(&bins[x[blockIdx.x * 64 + threadIdx.x] % 16], 1u);  // A
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

int main() {
  unsigned char values[128], *x;
  unsigned* out;
  for (int i = 0; i < 128; ++i) values[i] = i;
  cudaMalloc(&x, sizeof values);
  cudaMalloc(&out, 16 * sizeof(unsigned));
  cudaMemcpy(x, values, sizeof values, cudaMemcpyHostToDevice);
  cudaMemset(out, 0, 16 * sizeof(unsigned));
  histogram<<<2, 64>>>(x, out);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(out);
  return 0;
}
