// The last thread writes behind the end of a shared array.

#include <cuda_runtime.h>

#include <vector>

__global__ void shift_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  tile[thread + 1] = x[thread];  // bug: thread 63 writes tile[64]
  __syncthreads();
  y[thread] = thread > 0 ? tile[thread] : 0.0f;
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  shift_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
