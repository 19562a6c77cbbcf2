// The number of blocks is rounded down, so the last 44 elements are never computed, and the next kernel
// reads them. A grid must be rounded up to cover all elements: (n + threads - 1) / threads.
//
// expect: uninitialised_read at A, x[256]
#include <cuda_runtime.h>

__global__ void ramp(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 0.5f * i;
}

__global__ void square(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i] * x[i];  // A
}

int main() {
  const int n = 300, threads = 128;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  ramp<<<n / threads, threads>>>(x, n);
  square<<<1, threads>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
