// The two halves of a block meet at two different barriers.

#include <cuda_runtime.h>

#include <vector>

__global__ void two_barriers_kernel(const float* x, float* y, int n) {
  __shared__ float tile[64];
  const int thread = threadIdx.x;
  if (thread < 32) {
    tile[thread] = x[thread];
    __syncthreads();  // bug: half of the block waits here
  } else {
    tile[thread] = -x[thread];
    __syncthreads();  // bug: the other half here
  }
  y[thread] = tile[63 - thread];
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  two_barriers_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
