// The two halves of a warp come to different barriers; bar.sync is for whole warps.
//
// expect: illegal_instruction at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  if (t < 48)
    asm volatile("bar.sync 1, 64;" ::: "memory");
  else
    asm volatile("bar.sync 2, 64;" ::: "memory");  // A
  y[t] = x[t];
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  kernel<<<1, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
