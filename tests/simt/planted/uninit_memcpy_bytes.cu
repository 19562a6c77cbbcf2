// The host copies n bytes of an array of n floats, so three quarters of it never arrive. The size of
// cudaMemcpy() is in bytes: n * sizeof(float).
//
// expect: uninitialised_read at A, x[64]
#include <cuda_runtime.h>

__global__ void square(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const float v = x[i];  // A
    y[i] = v * v;
  }
}

int main() {
  const int n = 256;
  float values[n] = {}, *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values, n, cudaMemcpyHostToDevice);
  square<<<2, 128>>>(x, y, n);
  cudaMemcpy(values, y, n * sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
