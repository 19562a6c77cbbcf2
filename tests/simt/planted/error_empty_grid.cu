// For 100 elements n / 256 gives an empty grid, which is an error that nobody looks at. A grid has at least
// one block: round up, and check the launch.
//
// expect: unchecked_error at A
#include <cuda_runtime.h>

__global__ void fill(int* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = i;
}

int main() {
  const int n = 100, threads = 256;
  int* x;
  cudaMalloc(&x, n * sizeof(int));
  fill<<<n / threads, threads>>>(x, n);  // A
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
