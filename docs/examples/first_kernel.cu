// A whole CUDA program: eight threads double eight numbers. Prints "2 4 6 8 10 12 14 16".

#include <cuda_runtime.h>

#include <cstdio>

#include "device/cuda_check.hpp"

// [kernel]
__global__ void double_kernel(float* x) {
  const unsigned i = threadIdx.x;  // 0 in the first thread of the block, 1 in the second, ...
  x[i] = 2.0f * x[i];
}
// [kernel]

// [host]
int main() {
  float x[8] = {1, 2, 3, 4, 5, 6, 7, 8};

  float* x_device = nullptr;  // will hold an address in the memory of the device
  CUDA_CHECK(cudaMalloc(&x_device, sizeof(x)));
  // Destination, source, size in bytes, direction.
  CUDA_CHECK(cudaMemcpy(x_device, x, sizeof(x), cudaMemcpyHostToDevice));

  double_kernel<<<1, 8>>>(x_device);  // 1 block of 8 threads; each of the 8 runs the kernel once
  CUDA_CHECK(cudaGetLastError());     // did CUDA accept the launch?

  CUDA_CHECK(cudaMemcpy(x, x_device, sizeof(x), cudaMemcpyDeviceToHost));  // waits for the kernel first
  CUDA_CHECK(cudaFree(x_device));

  for (const float value : x) std::printf("%g ", value);
  std::printf("\n");
}
// [host]
