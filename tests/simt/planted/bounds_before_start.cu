// A difference with the left neighbour reads x[-1] in the first thread. The first element has no left
// neighbour; the kernel must leave it out or give it a value.
//
// expect: out_of_bounds at A, x[-1]
#include <cuda_runtime.h>

__global__ void differences(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] - x[i - 1];  // A
}

int main() {
  const int n = 300;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  differences<<<3, 128>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
