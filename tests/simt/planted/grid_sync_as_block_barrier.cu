// Behind grid.sync(), a thread reads shared memory that none of its block's threads has written.
// expect: uninitialised_read at A, tile[63]

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void exchange(int* out) {
  __shared__ int tile[64];
  if (threadIdx.x < 32 || blockIdx.x == 1) tile[threadIdx.x] = threadIdx.x;
  cg::this_grid().sync();
  out[blockIdx.x * 64 + threadIdx.x] = tile[63 - threadIdx.x];  // A
}

int main() {
  int* out;
  cudaMalloc(&out, 128 * sizeof(int));
  void* arguments[] = {&out};
  cudaLaunchCooperativeKernel((void*)exchange, 2, 64, arguments, 0, 0);
  cudaDeviceSynchronize();
  cudaFree(out);
}
