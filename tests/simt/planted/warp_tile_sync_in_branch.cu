// The first four lanes of a tile call tile.shfl(), which waits for all eight, while the others wait for the
// block. A tile's collective needs every thread of the tile.
//
// expect: deadlock at A
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

__global__ void sum_front(const int* x, int* y) {
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  int v = x[block.thread_rank()];
  if (tile.thread_rank() < 4) v += tile.shfl(v, 3);  // A
  block.sync();
  y[block.thread_rank()] = v;
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 32 * sizeof(int));
  cudaMalloc(&y, 32 * sizeof(int));
  cudaMemset(x, 0, 32 * sizeof(int));
  sum_front<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  std::printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  cudaFree(x);
  cudaFree(y);
  return 0;
}
