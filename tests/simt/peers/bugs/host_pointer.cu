// The kernel is given the address of a vector in host memory.

#include <cuda_runtime.h>

#include <vector>

__global__ void double_kernel(const float* x, float* y, int n) {
  y[threadIdx.x] = 2 * x[threadIdx.x];  // bug: x is host memory
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float* y;
  cudaMalloc(&y, n * sizeof(float));
  double_kernel<<<1, 64>>>(values.data(), y, n);  // bug: no address of the device
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
