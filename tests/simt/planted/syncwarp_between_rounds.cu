// In each round of the loop every lane writes an element of its own, but it is one that the next lane wrote
// in the round before: nothing says which of the two comes last.
//
// expect: missing_syncwarp at A, other side A, diagonal[32]
#include <cuda_runtime.h>

__global__ void write_diagonals(float* last) {
  __shared__ float diagonal[64];
  const int lane = threadIdx.x;
  for (int round = 0; round < 3; ++round) diagonal[32 + round - lane] = round;  // A
  __syncthreads();
  last[lane] = diagonal[32 - lane];
}

int main() {
  float* last;
  cudaMalloc(&last, 32 * sizeof(float));
  write_diagonals<<<1, 32>>>(last);
  cudaDeviceSynchronize();
  cudaFree(last);
  return 0;
}
