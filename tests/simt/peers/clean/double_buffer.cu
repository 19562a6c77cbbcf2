// Two tiles take turns, so that one barrier a round is enough.

#include <cuda_runtime.h>

#include <vector>

__global__ void add_rounds_kernel(const float* x, float* y, int n) {
  __shared__ float tile[2][64];
  const int thread = threadIdx.x;
  float sum = 0.0f;
  for (int round = 0; round < n / 64; ++round) {
    tile[round % 2][thread] = x[64 * round + thread];
    __syncthreads();
    sum += tile[round % 2][63 - thread];
  }
  y[thread] = sum;
}

int main() {
  const int n = 256;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_rounds_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
