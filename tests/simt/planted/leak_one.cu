// A temporary array on the device is never freed. Each cudaMalloc() needs its cudaFree().
//
// expect: leak at A
#include <cuda_runtime.h>

__global__ void square(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));  // A
  cudaMemset(x, 0, 64 * sizeof(float));
  square<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
