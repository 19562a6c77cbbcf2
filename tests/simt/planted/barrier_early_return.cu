// Threads without an element return before the barrier, and 24 lanes of their warp wait at it. All threads
// of a block that share a warp with a waiting one must come to __syncthreads(): guard the work instead.
//
// expect: exited_threads at A
#include <cuda_runtime.h>

__global__ void reverse_pairs(const float* x, float* y, int n) {
  __shared__ float values[64];
  const int t = threadIdx.x, i = blockIdx.x * 64 + t;
  if (i >= n) return;
  values[t] = x[i];
  __syncthreads();  // A
  y[i] = values[t ^ 1];
}

int main() {
  const int n = 120;
  float *x, *y;
  cudaMalloc(&x, n * sizeof(float));
  cudaMalloc(&y, n * sizeof(float));
  cudaMemset(x, 0, n * sizeof(float));
  reverse_pairs<<<2, 64>>>(x, y, n);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
