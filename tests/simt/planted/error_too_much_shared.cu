// A launch asks for 64 KB of dynamic shared memory without raising the kernel's limit, and nobody looks at
// the error. Beyond 48 KB a kernel must be allowed by cudaFuncSetAttribute(); otherwise the launch fails.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void reverse(const float* x, float* y) {
  extern __shared__ float buffer[];
  buffer[threadIdx.x] = x[threadIdx.x];
  __syncthreads();
  y[threadIdx.x] = buffer[blockDim.x - 1 - threadIdx.x];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&y, 256 * sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  reverse<<<1, 256, 64 * 1024>>>(x, y);  // A
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
