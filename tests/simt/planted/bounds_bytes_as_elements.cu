// The host passes the size of the array in bytes where the kernel expects a number of elements. cudaMalloc()
// counts bytes, an index counts elements: a float array has a quarter as many.
//
// expect: out_of_bounds at A, x[64]
#include <cuda_runtime.h>

__global__ void fill(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] = 1.0f;  // A
}

int main() {
  const int bytes = 64 * sizeof(float);
  float* x;
  cudaMalloc(&x, bytes);
  fill<<<2, 64>>>(x, bytes);
  cudaDeviceSynchronize();
  cudaFree(x);
  return 0;
}
