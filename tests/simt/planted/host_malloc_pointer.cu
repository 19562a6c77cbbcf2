// The kernel gets the pointer that malloc() returned instead of the copy on the device. A kernel works on
// device memory: cudaMalloc(), cudaMemcpy(), and the device pointer in the launch.
//
// expect: host_pointer_in_kernel at A
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void scale(float* x, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = factor * i;  // A
}

int main() {
  const int n = 100;
  float* x = static_cast<float*>(std::malloc(n * sizeof(float)));
  float* x_device;
  cudaMalloc(&x_device, n * sizeof(float));
  scale<<<1, 128>>>(x, 2.0f, n);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  std::free(x);
  cudaFree(x_device);
  return 0;
}
