// Code that lies 16 MB behind other code of its program: check mode, which could not tell the two apart,
// refuses to launch it. See accesses_test.py.

#include <cuda_runtime.h>

constexpr int kFourMegabytes = 1 << 22;

__attribute__((aligned(kFourMegabytes), used, noinline)) void far_away_1() {}
__attribute__((aligned(kFourMegabytes), used, noinline)) void far_away_2() {}
__attribute__((aligned(kFourMegabytes), used, noinline)) void far_away_3() {}
__attribute__((aligned(kFourMegabytes), used, noinline)) void far_away_4() {}

__global__ void store(float* y) { y[threadIdx.x] = 1.0f; }

int main() {
  float* y = nullptr;
  cudaMalloc(&y, 32 * sizeof(float));
  store<<<1, 32>>>(y);
  cudaFree(y);
  return cudaGetLastError() == cudaSuccess ? 0 : 1;
}
