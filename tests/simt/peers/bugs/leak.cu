// One of two arrays is never freed.

#include <cuda_runtime.h>

#include <vector>

__global__ void double_kernel(const float* x, float* y, int n) { y[threadIdx.x] = 2 * x[threadIdx.x]; }

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));  // bug: never freed
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  double_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
