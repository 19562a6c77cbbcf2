// Each lane shifts by its own number, and hands it to the statement as a constant.
//
// expect: illegal_instruction at A
#include <cuda_runtime.h>

__global__ void shift(unsigned* y) {
  unsigned x = 1;
  asm("shl.b32 %0, %0, %1;" : "+r"(x) : "n"(threadIdx.x));  // A
  y[threadIdx.x] = x;
}

int main() {
  unsigned* y;
  cudaMalloc(&y, 32 * sizeof(unsigned));
  shift<<<1, 32>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
