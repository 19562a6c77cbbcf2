// Blocks count in a __device__ variable with ++. Its name is a letter, and no type's.
//
// expect: race at A, other side A, i
#include <cuda_runtime.h>

__device__ int i = 0;

__global__ void count() {
  if (threadIdx.x == 0) ++i;  // A
}

int main() {
  int blocks = 0;
  count<<<3, 32>>>();
  cudaMemcpyFromSymbol(&blocks, i, sizeof blocks);
  return 0;
}
