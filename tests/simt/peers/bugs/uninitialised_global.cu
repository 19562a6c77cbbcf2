// The input was allocated, but never written.

#include <cuda_runtime.h>

__global__ void absolute_kernel(const float* x, float* y, int n) {
  const float value = x[threadIdx.x];  // bug: nobody wrote x
  y[threadIdx.x] = value < 0 ? -value : value;
}

int main() {
  const int n = 64;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  absolute_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
