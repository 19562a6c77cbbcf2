// A racing store that an optimiser removes, because the next line overwrites it.

#include <cuda_runtime.h>

#include <vector>

__global__ void publish_kernel(const float* x, float* y, int n) {
  __shared__ float chosen;
  const int thread = threadIdx.x;
  chosen = x[thread];  // bug: every thread writes its own value
  chosen = x[0];       // bug: and this one, which another's line above may overwrite
  __syncthreads();
  y[thread] = chosen;
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  publish_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
