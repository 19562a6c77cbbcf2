// A lock of atom.cas and an exchange, with fences, around an ordinary sum.
//
// acquire and release order the accesses between.
#include <cuda_runtime.h>

__global__ void kernel(const float* x, float* y) {
  unsigned* const lock = reinterpret_cast<unsigned*>(y + 8);
  unsigned before = 1;
  while (before != 0)
    asm volatile("atom.acquire.gpu.global.cas.b32 %0, [%1], 0, 1;" : "=r"(before) : "l"(lock) : "memory");
  y[0] += x[blockIdx.x];
  asm volatile("atom.release.gpu.global.exch.b32 %0, [%1], 0;" : "=r"(before) : "l"(lock) : "memory");
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 64 * sizeof(float));
  cudaMalloc(&y, 64 * sizeof(float));
  cudaMemset(x, 0, 64 * sizeof(float));
  cudaMemset(y, 0, 64 * sizeof(float));
  kernel<<<8, 1>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
