// A kernel launches blocks of as many threads as there are values, which is more than a block may have. On a
// GPU the launch fails, and only cudaGetLastError() in the kernel would say so.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void scale(float* data, int n) {
  const int i = threadIdx.x;
  if (i < n) data[i] *= 2;
}

__global__ void start(float* data, int n) {
  if (threadIdx.x == 0) scale<<<1, n>>>(data, n);  // A
}

int main() {
  const int n = 2000;
  float* data;
  cudaMalloc(&data, n * sizeof(float));
  cudaMemset(data, 0, n * sizeof(float));
  start<<<1, 32>>>(data, n);
  cudaDeviceSynchronize();
  cudaFree(data);
  return 0;
}
