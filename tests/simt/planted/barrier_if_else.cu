// Even and odd threads wait at two different __syncthreads(), one in each branch. All threads of a block
// must come to the same __syncthreads(); a barrier in divergent code is undefined.
//
// expect: divergent_barrier at A, other side B
#include <cuda_runtime.h>

__global__ void split(const float* x, float* y) {
  __shared__ float values[64];
  const int t = threadIdx.x;
  if (t % 2 == 0) {
    values[t] = x[t];
    __syncthreads();  // A
  } else {
    values[t] = -x[t];
    __syncthreads();  // B
  }
  y[t] = values[63 - t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  split<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
