// Half of a shared array is filled, all of it is read.

#include <cuda_runtime.h>

#include <vector>

__global__ void half_fill_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  if (thread < 32) tile[thread] = x[thread];
  __syncthreads();
  const float value = tile[thread];  // bug: nobody wrote the second half
  y[thread] = value < 0 ? -value : value;
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  half_fill_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
