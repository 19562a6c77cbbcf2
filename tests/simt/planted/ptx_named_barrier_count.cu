// One warp too few comes to a named barrier.
//
// expect: deadlock at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  if (t < 64) asm volatile("bar.sync 1, 96;" ::: "memory");  // A
  y[t] = x[t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 96 * sizeof(float));
  cudaMalloc(&y, 96 * sizeof(float));
  cudaMemset(x, 0, 96 * sizeof(float));
  kernel<<<1, 96>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
