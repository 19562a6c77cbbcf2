// The input was never allocated.

#include <cuda_runtime.h>

__global__ void double_kernel(const float* x, float* y, int n) {
  y[threadIdx.x] = 2 * x[threadIdx.x];  // bug: x is null
}

int main() {
  const int n = 64;
  float *x = nullptr, *y;
  cudaMalloc(&y, n * sizeof(float));
  double_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
