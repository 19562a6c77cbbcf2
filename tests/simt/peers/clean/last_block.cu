// Blocks leave partial sums; the last to finish adds them, ordered by a fence and an atomic.

#include <cuda_runtime.h>

#include <vector>

__device__ unsigned int finished;

__global__ void add_all_kernel(const float* x, float* y, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0.0f;
  for (int i = 0; i < 32; ++i) sum += x[32 * blockIdx.x + i];
  y[1 + blockIdx.x] = sum;
  __threadfence();
  if (atomicAdd(&finished, 1) + 1 < gridDim.x) return;
  __threadfence();
  float total = 0.0f;
  for (int block = 0; block < gridDim.x; ++block) total += y[1 + block];
  y[0] = total;
}

int main() {
  const int n = 128;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_all_kernel<<<4, 32>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
