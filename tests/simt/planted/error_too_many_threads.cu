// A launch asks for 2048 threads in a block and nobody looks at the error, so the kernel silently never
// runs. A block has at most 1024 threads; cudaGetLastError() after the launch tells.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void fill(float* x) { x[threadIdx.x] = 1.0f; }

int main() {
  const int n = 2048;
  float* x;
  cudaMalloc(&x, n * sizeof(float));
  fill<<<1, n>>>(x);  // A
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
