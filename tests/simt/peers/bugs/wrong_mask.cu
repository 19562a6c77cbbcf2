// All lanes shuffle, but the mask names only half of them.

#include <cuda_runtime.h>

#include <vector>

__global__ void add_lanes_kernel(const float* x, float* y, int n) {
  float sum = x[threadIdx.x];
  for (int step = 16; step > 0; step /= 2)
    sum += __shfl_down_sync(0x0000ffff, sum, step);  // bug: lanes 16 to 31 are not in their own mask
  y[threadIdx.x] = sum;
}

int main() {
  const int n = 32;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_lanes_kernel<<<1, 32>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
