// One lane writes the type of a statement's instruction to shared memory, and the next warp reads it as a
// constant text without a barrier.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__global__ void larger(unsigned* y) {
  __shared__ char type[4];
  if (threadIdx.x == 0) {
    const char* const name = "u32";
    for (int i = 0; i < 4; ++i) type[i] = name[i];  // B
  }
  if (threadIdx.x < 32) return;
  unsigned x;
  const char* const text = type;
  asm("max.%2 %0, %1, 7;" : "=r"(x) : "r"(threadIdx.x), "C"(text));  // A
  y[threadIdx.x - 32] = x;
}

int main() {
  unsigned* y;
  cudaMalloc(&y, 32 * sizeof(unsigned));
  larger<<<1, 64>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
