// The launch asks for n bytes of dynamic shared memory where the kernel uses n floats. The third launch
// parameter counts bytes; what lies beyond them does not belong to the block.
//
// expect: out_of_bounds at A
// expect: out_of_bounds at B
#include <cuda_runtime.h>

__global__ void reverse(const float* x, float* y) {
  extern __shared__ float values[];
  const int t = threadIdx.x, last = blockDim.x - 1;
  values[t] = x[t];  // A
  __syncthreads();
  y[t] = values[last - t];  // B
}

int main() {
  const int n = 128;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  reverse<<<1, n, n>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
