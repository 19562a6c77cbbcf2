// A kernel launches the next one with a count that is one too large: the mistake shows in the kernel that was
// launched.
//
// expect: out_of_bounds at A, data[64]
#include <cuda_runtime.h>

__global__ void scale(float* data, int n) {
  const int i = threadIdx.x;
  if (i < n) data[i] *= 2;  // A
}

__global__ void start(float* data, int n) {
  if (threadIdx.x == 0) scale<<<1, 96>>>(data, n + 1);
}

int main() {
  const int n = 64;
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemset(data, 0, n * sizeof(float));
  start<<<1, 32>>>(data, n);
  cudaDeviceSynchronize();
  cudaFree(data);
  return 0;
}
