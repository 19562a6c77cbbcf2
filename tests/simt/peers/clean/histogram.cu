// Threads count into shared bins, and blocks into global ones, with atomics.

#include <cuda_runtime.h>

#include <vector>

__global__ void count_kernel(const float* x, float* y, int n) {
  __shared__ int bins[8];
  const int thread = threadIdx.x;
  if (thread < 8) bins[thread] = 0;
  __syncthreads();
  atomicAdd(&bins[(int)x[64 * blockIdx.x + thread]], 1);
  __syncthreads();
  if (thread < 8) atomicAdd(reinterpret_cast<int*>(y) + thread, bins[thread]);
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
  count_kernel<<<2, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
