// A launch with too many threads in a block, whose error nobody looks at.

#include <cuda_runtime.h>

#include <vector>

__global__ void double_kernel(const float* x, float* y, int n) { y[threadIdx.x] = 2 * x[threadIdx.x]; }

int main() {
  const int n = 5000;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  double_kernel<<<1, 5000>>>(x, y, n);  // bug: more threads than a block may have, and nobody asks
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
