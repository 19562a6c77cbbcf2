// A block copies a tile with cooperative groups' memcpy_async() and synchronises, but does not wait for the
// copy. cg::wait() completes the group's copies; block.sync() alone does not.
//
// expect: missing_wait at A, other side B
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void mirror(const int* x, int* y) {
  __shared__ int tile[64];
  const cg::thread_block block = cg::this_thread_block();
  const int t = block.thread_rank();
  cg::memcpy_async(block, tile, x + blockIdx.x * 64, sizeof tile);  // B
  block.sync();
  y[blockIdx.x * 64 + t] = tile[63 - t];  // A
}

int main() {
  int *x, *y;
  cudaMalloc(&x, 128 * sizeof(int));
  cudaMalloc(&y, 128 * sizeof(int));
  cudaMemset(x, 0, 128 * sizeof(int));
  mirror<<<2, 64>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
