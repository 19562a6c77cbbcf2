// The kernel gets std::vector's data() for its input. The elements of a std::vector are host memory; a
// kernel needs a copy on the device.
//
// expect: host_pointer_in_kernel at A
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

__global__ void square(const float* x, float* y, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    const float v = x[i];  // A
    y[i] = v * v;
  }
}

int main() {
  const int n = 60;
  const std::vector<float> x(n, 3.0f);
  float* y;
  cudaMalloc(&y, n * sizeof(float));
  square<<<1, 64>>>(x.data(), y, n);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(y);
  return 0;
}
