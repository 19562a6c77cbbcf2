// missing_wait: the target of an asynchronous copy is read before the copy has landed.
// Any argument runs the fixed version.

#include <cuda_pipeline.h>
#include <cuda_runtime.h>

#include "device/cuda_check.hpp"

// [broken]
__global__ void scale_broken(const float* x, float* y) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &x[t], sizeof(float));
  __pipeline_commit();
  y[t] = 3.0f * tile[t];
}
// [broken]

// [fixed]
__global__ void scale_fixed(const float* x, float* y) {
  __shared__ float tile[64];
  const int t = threadIdx.x;
  __pipeline_memcpy_async(&tile[t], &x[t], sizeof(float));
  __pipeline_commit();
  __pipeline_wait_prior(0);
  y[t] = 3.0f * tile[t];
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, 64 * sizeof(float)));
  CUDA_CHECK(cudaMemset(x, 0, 64 * sizeof(float)));
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 64 * sizeof(float)));
  if (fixed)
    scale_fixed<<<1, 64>>>(x, y);
  else
    scale_broken<<<1, 64>>>(x, y);
  CUDA_CHECK(cudaGetLastError());
  CUDA_CHECK(cudaDeviceSynchronize());
  CUDA_CHECK(cudaFree(x));
  CUDA_CHECK(cudaFree(y));
}
