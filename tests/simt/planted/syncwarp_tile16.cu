// Two cooperative-groups tiles of 16 lanes exchange values after tile.sync(), which knows only its own 16
// lanes. A tile's sync() orders the tile; lanes of another tile, even in the same warp, need a wider
// barrier.
//
// expect: missing_syncwarp at A, other side B
#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

__global__ void swap_halves(const float* x, float* y) {
  __shared__ float values[32];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<16>(block);
  const int lane = block.thread_rank();
  values[lane] = x[lane];  // A
  tile.sync();
  y[lane] = values[lane ^ 16];  // B
}

int main() {
  float *x, *y;
  cudaMalloc(&x, 32 * sizeof(float));
  cudaMalloc(&y, 32 * sizeof(float));
  cudaMemset(x, 0, 32 * sizeof(float));
  swap_halves<<<1, 32>>>(x, y);
  cudaDeviceSynchronize();
  cudaFree(x);
  cudaFree(y);
  return 0;
}
