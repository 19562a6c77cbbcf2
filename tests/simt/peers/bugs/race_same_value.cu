// Every thread that sees a large value raises the same flag.

#include <cuda_runtime.h>

#include <vector>

__global__ void raise_flag_kernel(const float* x, float* y, int n) {
  __shared__ int found;
  const int thread = threadIdx.x;
  if (thread == 0) found = 0;
  __syncthreads();
  if (x[thread] > 3) found = 1;  // bug: several threads write it, all the same value
  __syncthreads();
  y[thread] = found;
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  raise_flag_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
