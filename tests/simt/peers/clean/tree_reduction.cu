// A sum over a block by halves, with a barrier after each.

#include <cuda_runtime.h>

#include <vector>

__global__ void add_block_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  tile[thread] = x[64 * blockIdx.x + thread];
  __syncthreads();
  for (int step = 32; step > 0; step /= 2) {
    if (thread < step) tile[thread] += tile[thread + step];
    __syncthreads();
  }
  if (thread == 0) y[blockIdx.x] = tile[0];
}

int main() {
  const int n = 128;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_block_kernel<<<2, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
