// Half of a warp comes to bar.sync, which is for whole warps, and the other half to another instruction of
// the warp.
//
// expect: deadlock at A
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  const unsigned t = threadIdx.x;
  if (t < 48)
    asm volatile("bar.sync 1, 64;" ::: "memory");  // A
  else
    __syncwarp();
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
