// 1000 elements are handled by 1024 threads, and the kernel does not ask which of them have an element. The
// grid is rounded up to whole blocks, so each thread must compare its index with n.
//
// expect: out_of_bounds at A, x[1000]
#include <cuda_runtime.h>

__global__ void scale(float* x, float factor) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  x[i] *= factor;  // A
}

int main() {
  const int n = 1000;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  scale<<<(n + 255) / 256, 256>>>(x, 2.0f);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
