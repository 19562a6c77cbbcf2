// The last thread of a block reads its right neighbour from a shared array that ends with its own element.
// The neighbour is in the next block's tile: a halo element or a guard is needed.
//
// expect: out_of_bounds at A
#include <cuda_runtime.h>

__global__ void differences(const float* x, float* y) {
  __shared__ float tile[128];
  const int t = threadIdx.x, i = blockIdx.x * 128 + t;
  tile[t] = x[i];
  __syncthreads();
  y[i] = tile[t + 1] - tile[t];  // A
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 256 * sizeof(float));
  cudaMalloc(&y, 256 * sizeof(float));
  cudaMemset(x, 0, 256 * sizeof(float));
  differences<<<2, 128>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
