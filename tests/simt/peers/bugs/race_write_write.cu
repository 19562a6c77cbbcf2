// Two warps fold their values into the same 32 elements.

#include <cuda_runtime.h>

#include <vector>

__global__ void fold_kernel(const float* x, float* y, int n) {
  __shared__ float tile[32];
  const int thread = threadIdx.x;
  tile[thread % 32] = x[thread];  // bug: threads 32 apart write one element
  __syncthreads();
  if (thread < 32) y[thread] = tile[thread];
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  fold_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
