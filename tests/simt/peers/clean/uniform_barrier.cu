// A barrier inside a branch that a whole block takes, or leaves, together.

#include <cuda_runtime.h>

#include <vector>

__global__ void mirror_first_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x, i = 64 * blockIdx.x + thread;
  if (blockIdx.x == 0) {
    tile[thread] = x[i];
    __syncthreads();
    y[i] = tile[63 - thread];
  } else {
    y[i] = x[i];
  }
}

int main() {
  const int n = 128;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  mirror_first_kernel<<<2, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
