// A launch asks for no bytes of the dynamic shared memory that the kernel uses.
//
// expect: out_of_bounds at A
// expect: out_of_bounds at B
#include <cuda_runtime.h>

__global__ void reverse(float* x) {
  extern __shared__ float kept[];
  kept[threadIdx.x] = x[threadIdx.x];  // A
  __syncthreads();
  x[threadIdx.x] = kept[31 - threadIdx.x];  // B
}

int main() {
  float* x = nullptr;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  reverse<<<1, 32>>>(x);
  cudaDeviceSynchronize();
  cudaFree(x);
}
