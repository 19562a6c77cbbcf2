// main() initialises device memory in a loop of its own. Memory from cudaMalloc() is written by kernels,
// cudaMemcpy() and cudaMemset(), not by host code.
//
// expect: device_pointer_on_host at A
#include <cuda_runtime.h>

__global__ void increment(int* x) { x[threadIdx.x] += 1; }

int main() {
  int* x;
  cudaMalloc(&x, 32 * sizeof(int));
  for (int i = 0; i < 32; ++i) x[i] = i;  // A
  increment<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
