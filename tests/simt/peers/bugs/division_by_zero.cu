// An integer is divided by an input that may be zero.

#include <cuda_runtime.h>

#include <vector>

__global__ void divide_kernel(const float* x, float* y, int n) {
  y[threadIdx.x] = n / (int)x[threadIdx.x];  // bug: x[0] is 0
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  divide_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
