// Two warps fill a buffer that two others empty, round by round; named barriers say when it is full and free.
//
// No __syncthreads() lies between, and none is needed.
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  __shared__ float buffer[64];
  const unsigned t = threadIdx.x;
  for (int round = 0; round < 3; ++round) {
    if (t < 64) {
      asm volatile("bar.sync 2, 128;" ::: "memory");
      buffer[t] = x[t] + round;
      asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
      asm volatile("bar.arrive 2, 128;" ::: "memory");
      asm volatile("bar.sync 1, 128;" ::: "memory");
      y[64 * round + t - 64] = buffer[127 - t];
    }
  }
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 192 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 128>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
