// A prefix sum in one array: each thread reads its own element again after the barrier.

#include <cuda_runtime.h>

#include <vector>

__global__ void scan_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  tile[thread] = x[thread];
  __syncthreads();
  for (int step = 1; step < 64; step *= 2) {
    const float left = thread >= step ? tile[thread - step] : 0.0f;
    __syncthreads();
    tile[thread] += left;
    __syncthreads();
  }
  y[thread] = tile[thread];
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  scan_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
