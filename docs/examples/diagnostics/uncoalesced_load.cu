// uncoalesced_load: neighbouring threads load elements that lie far apart.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void scale_broken(const float* x, float* y, int n) {
  const int each = n / blockDim.x;  // elements for each thread, side by side
  for (int k = 0; k < each; ++k) {
    const int i = threadIdx.x * each + k;
    y[i] = 2.0f * x[i];
  }
}
// [broken]

// [fixed]
__global__ void scale_fixed(const float* x, float* y, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = 2.0f * x[i];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const int n = 2048;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, n * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, n * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, n * sizeof(float)));
  if (fixed)
    scale_fixed<<<1, 128>>>(x, y, n);
  else
    scale_broken<<<1, 128>>>(x, y, n);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
