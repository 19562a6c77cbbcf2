// Four floats are loaded at once, from an address that is no multiple of 16.

#include <cuda_runtime.h>

#include <vector>

__global__ void add_quads_kernel(const float* x, float* y, int n) {
  const float4 quad = *reinterpret_cast<const float4*>(x + 4 * threadIdx.x + 1);  // bug: one float off
  y[threadIdx.x] = quad.x + quad.y + quad.z + quad.w;
}

int main() {
  const int n = 80;
  std::vector<float> values(n);
  for (int i = 0; i < n; ++i) values[i] = i % 7;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemcpy(x, values.data(), n * sizeof(float), cudaMemcpyHostToDevice);
  add_quads_kernel<<<1, 16>>>(x, y, n);
  const cudaError_t error = cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return error == cudaSuccess ? 0 : 1;
}
