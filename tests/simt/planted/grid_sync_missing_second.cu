// The blocks wait for each other before they read their neighbours' sums, and not before they set them anew.
// expect: race at A, other side B, sums[1]

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void rotate(int* sums, int rounds) {
  const cg::grid_group grid = cg::this_grid();
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) sums[blockIdx.x] = round;  // A
    grid.sync();
    if (threadIdx.x == 0 && sums[(blockIdx.x + 1) % gridDim.x] < 0) __trap();  // B
  }
}

int main() {
  int* sums;
  int rounds = 2;
  cudaMalloc(&sums, 4 * sizeof(int));
  void* arguments[] = {&sums, &rounds};
  cudaLaunchCooperativeKernel((void*)rotate, 4, 32, arguments, 0, 0);
  cudaDeviceSynchronize();
  cudaFree(sums);
}
