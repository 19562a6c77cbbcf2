// Tiles of several warps: each sorts out a sum, a scan and a vote by itself, some more rounds than others.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include <cstdio>

namespace cg = cooperative_groups;

template <unsigned kSize>
__global__ void tiles(int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  const cg::thread_block block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<kSize>(block);
  const auto warp = cg::tiled_partition<32>(tile);
  const int rank = (int)tile.thread_rank();
  int wrong = 0;
  wrong += tile.meta_group_rank() != threadIdx.x / kSize || tile.meta_group_size() != 256 / kSize;
  wrong += warp.meta_group_rank() != threadIdx.x % kSize / 32 || warp.meta_group_size() != kSize / 32;
  for (unsigned round = 0; round <= tile.meta_group_rank(); ++round) {  // tiles do not wait for each other
    wrong += cg::reduce(tile, rank, cg::plus<int>()) != (int)(kSize * (kSize - 1) / 2);
    wrong += cg::inclusive_scan(tile, 1) != rank + 1;
    wrong += tile.shfl(make_float2(rank, round), round).x != round;
    wrong += !tile.any(rank == kSize - 1) || tile.all(rank != 0) || !tile.all(1);
  }
  __shared__ int values[256];
  values[threadIdx.x] = rank;
  tile.sync();
  wrong += values[threadIdx.x / kSize * kSize + (kSize - 1 - rank)] != (int)kSize - 1 - rank;
  atomicAdd(out, wrong == 0);
}

int main() {
  int *out, count = 0;
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  tiles<64><<<2, 256>>>(out);
  tiles<128><<<2, 256>>>(out);
  tiles<256><<<2, 256>>>(out);
  cudaMemcpy(&count, out, sizeof count, cudaMemcpyDeviceToHost);
  cudaFree(out);
  printf("%d of 1536 threads agree: %s\n", count, count == 1536 ? "PASSED" : "FAILED");
  return count == 1536 ? 0 : 1;
}
