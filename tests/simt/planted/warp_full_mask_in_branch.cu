// Half of a warp shuffles with a mask that names all 32 lanes, and the other half waits at the barrier
// behind. Every lane that a mask names must come to the same warp operation; the others wait for it for
// ever.
//
// expect: deadlock at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void fold_half(const float* x, float* y) {
  const int lane = threadIdx.x;
  float v = x[lane];
  if (lane < 16) v += __shfl_down_sync(0xffffffff, v, 8);  // A
  __syncthreads();
  y[lane] = v;
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  fold_half<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(y);
  return 0;
}
