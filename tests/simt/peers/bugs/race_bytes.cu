// Bytes are written one by one and read in pairs, without a barrier.

#include <cuda_runtime.h>

#include <vector>

__global__ void pair_bytes_kernel(const float* x, float* y, int n) {
  __shared__ unsigned short pairs[32];
  const int thread = threadIdx.x;
  reinterpret_cast<unsigned char*>(pairs)[thread] = x[thread];  // bug: no barrier between this byte
  y[thread] = pairs[(63 - thread) / 2];                         // bug: and this pair
}

int main() {
  const int n = 64;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  pair_bytes_kernel<<<1, 64>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
