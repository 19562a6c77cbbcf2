// Looks wrong: threads of one warp exchange shared memory between barriers that only 4, 8 or 16 of them reach
// together. It is right: a tile only reads what the same tile wrote, and tile.sync() orders memory among its
// threads.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

namespace cg = cooperative_groups;

template <int kTile>
__global__ void reverse_in_tiles_kernel(const int* in, int* out) {
  __shared__ int values[64];
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<kTile> tile = cg::tiled_partition<kTile>(block);
  const int first = block.thread_rank() - tile.thread_rank();
  for (int round = 0; round < 3; ++round) {
    values[threadIdx.x] = in[threadIdx.x] + round;
    tile.sync();  // all of the tile has written
    out[64 * round + threadIdx.x] = values[first + kTile - 1 - tile.thread_rank()];
    tile.sync();  // all of the tile has read: the next round may overwrite
  }
}

template <int kTile>
bool reverses() {
  int in[64], out[192] = {}, *d_in, *d_out;
  for (int i = 0; i < 64; ++i) in[i] = 10 * i;
  cudaMalloc(&d_in, sizeof in);
  cudaMalloc(&d_out, sizeof out);
  cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice);
  reverse_in_tiles_kernel<kTile><<<1, 64>>>(d_in, d_out);
  cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost);
  cudaFree(d_in);
  cudaFree(d_out);
  for (int i = 0; i < 192; ++i) {
    const int thread = i % 64, first = thread / kTile * kTile;
    if (out[i] != in[2 * first + kTile - 1 - thread] + i / 64) return false;
  }
  return true;
}

int main() { return reverses<4>() && reverses<8>() && reverses<16>() ? 0 : 1; }
