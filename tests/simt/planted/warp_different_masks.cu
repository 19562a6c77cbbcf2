// Each half of a warp names itself and the one lane of the other half that it reads, so lanes 15 and 16 wait
// with different masks. All lanes that a mask names must call the operation with that same mask; these two
// never meet.
//
// expect: deadlock at A
#include <cuda_runtime.h>

#include <cstdio>

__global__ void toward_middle(const float* x, float* y) {
  const int lane = threadIdx.x;
  const unsigned mask = lane < 16 ? 0x0001ffff : 0xffff8000;
  const float v = x[lane];
  const int source = lane < 16 ? lane + 1 : lane - 1;
  y[lane] = __shfl_sync(mask, v, source) - v;  // A
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  toward_middle<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(y);
  return 0;
}
