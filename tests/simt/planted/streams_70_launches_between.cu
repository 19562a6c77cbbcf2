// One kernel fills an array in one stream, another one reads it in a second stream. Many launches of other
// kernels between the two order nothing.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;  // B
}

__global__ void scale(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];  // A
}

__global__ void nothing() {}

int main() {
  const int n = 100;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  cudaStream_t first, second;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  fill<<<4, 32, 0, first>>>(x, n);
  for (int i = 0; i < 70; ++i) nothing<<<1, 1, 0, first>>>();
  for (int i = 0; i < 70; ++i) nothing<<<1, 1, 0, second>>>();
  scale<<<4, 32, 0, second>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaStreamDestroy(first);
  cudaStreamDestroy(second);
  cudaFree(x);
  cudaFree(y);
  return 0;
}
