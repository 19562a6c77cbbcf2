// host_pointer_in_kernel: a kernel is given the address of host memory.
// Any argument runs the fixed version.

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdio>
#include <vector>

#include "device/cuda_check.hpp"

__global__ void square(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * x[threadIdx.x]; }

// [broken]
void launch_broken(const std::vector<float>& values, float* y) { square<<<1, 64>>>(values.data(), y); }
// [broken]

// [fixed]
void launch_fixed(const std::vector<float>& values, float* y) {
  const std::size_t bytes = values.size() * sizeof(float);
  float* x = nullptr;
  CUDA_CHECK(cudaMalloc(&x, bytes));
  CUDA_CHECK(cudaMemcpy(x, values.data(), bytes, cudaMemcpyHostToDevice));
  square<<<1, 64>>>(x, y);
  CUDA_CHECK(cudaFree(x));  // waits for the kernel
}
// [fixed]

int main(int argc, char**) {
  const bool fixed = argc > 1;
  const std::vector<float> values(64, 3.0f);
  float* y = nullptr;
  CUDA_CHECK(cudaMalloc(&y, 64 * sizeof(float)));
  if (fixed)
    launch_fixed(values, y);
  else
    launch_broken(values, y);
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(error));
  if (error != cudaSuccess) return 1;  // after a fault, nothing can be freed
  CUDA_CHECK(cudaFree(y));
}
