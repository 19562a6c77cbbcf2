// Each block fills its row of a __device__ table and then reads the row of the block before it. Nothing
// orders the blocks of one launch; what all blocks must have written belongs in a launch before.
//
// expect: race at A, other side B
#include <cuda_runtime.h>

__device__ int table[4][32];

__global__ void cumulate(int* y) {
  const int t = threadIdx.x, row = blockIdx.x;
  table[row][t] = (row + 1) * t;                      // A
  y[row * 32 + t] = row > 0 ? table[row - 1][t] : 0;  // B
}

int main() {
  int* y;
  cudaMalloc(&y, 128 * sizeof(int));
  cumulate<<<4, 32>>>(y);
  cudaDeviceSynchronize();
  cudaFree(y);
  return 0;
}
