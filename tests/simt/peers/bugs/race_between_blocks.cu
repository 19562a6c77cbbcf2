// Every block adds to one number in global memory, without an atomic.

#include <cuda_runtime.h>

#include <vector>

__global__ void add_blocks_kernel(const float* x, float* y, int n) {
  if (threadIdx.x == 0) y[0] += x[blockIdx.x];  // bug: blocks run at the same time
}

int main() {
  const int n = 128;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  cudaMemset(y, 0, n * sizeof(float));
  add_blocks_kernel<<<4, 32>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
