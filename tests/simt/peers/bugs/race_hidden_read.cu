// A racing read that an optimiser moves into a branch that this run does not take.

#include <cuda_runtime.h>

#include <vector>

__global__ void maybe_mirror_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  tile[thread] = x[thread];                  // bug: no barrier between this write
  const float opposite = tile[63 - thread];  // bug: and this read
  if (n < 0) y[thread] = opposite;
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  maybe_mirror_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
