// The guard of a copy kernel says i <= n where it must say i < n. An array of n elements ends with element n
// - 1.
//
// expect: out_of_bounds at A, x[1000]
// expect: out_of_bounds at B, y[1000]
#include <cuda_runtime.h>

__global__ void copy(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) {
    const float value = x[i];  // A
    y[i] = value;              // B
  }
}

int main() {
  const int n = 1000;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  copy<<<4, 256>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
