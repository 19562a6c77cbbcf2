// The lower half of a warp reads what the upper half stored, after a __syncwarp() that names the lower half
// only. __syncwarp(mask) orders the memory of the lanes in its mask and of no others.
//
// expect: missing_syncwarp at A, other side B
#include <cuda_runtime.h>

__global__ void fold(const float* x, float* y) {
  __shared__ float values[32];
  const int lane = threadIdx.x;
  values[lane] = x[blockIdx.x * 32 + lane];  // A
  if (lane < 16) {
    __syncwarp(0x0000ffff);
    y[blockIdx.x * 16 + lane] = values[lane] + values[lane + 16];  // B
  }
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  fold<<<2, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
