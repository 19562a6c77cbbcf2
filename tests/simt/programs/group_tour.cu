// Every kind of cooperative group that fits into a block, and what each can do.

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cuda_runtime.h>

#include <cstdio>

namespace cg = cooperative_groups;

__device__ int failures;
#define EXPECT(condition)                                                         \
  do {                                                                            \
    if (!(condition)) {                                                           \
      atomicAdd(&failures, 1);                                                    \
      printf("line %d, thread %d: %s\n", __LINE__, (int)threadIdx.x, #condition); \
    }                                                                             \
  } while (0)

// Works for any group, through the base class.
__device__ int sumReduction(cg::thread_group g, int* x, int val) {
  int lane = g.thread_rank();
  for (int i = g.size() / 2; i > 0; i /= 2) {
    x[lane] = val;
    g.sync();
    if (lane < i) val += x[lane + i];
    g.sync();
  }
  return g.thread_rank() == 0 ? val : -1;
}

template <unsigned size>
__device__ void tiles(cg::thread_block block) {
  auto tile = cg::tiled_partition<size>(block);
  const int rank = block.thread_rank(), in_tile = rank % size, first = rank - in_tile;
  EXPECT(tile.size() == size && tile.num_threads() == size && (int)tile.thread_rank() == in_tile);
  EXPECT((int)tile.meta_group_rank() == rank / (int)size);
  EXPECT(tile.meta_group_size() == block.size() / size);
  EXPECT(tile.shfl(rank, 0) == first);
  EXPECT(size == 1 || tile.shfl_xor(rank, 1) == (rank ^ 1));  // a tile of one has no partner
  EXPECT(tile.shfl_down(rank, 1) == (in_tile + 1 < (int)size ? rank + 1 : rank));
  EXPECT(tile.shfl_up(rank, 1) == (in_tile > 0 ? rank - 1 : rank));
  EXPECT(tile.any(in_tile == 0) && !tile.any(false) && tile.all(true));
  EXPECT(tile.ballot(in_tile == (int)size - 1) == 1u << (size - 1));
  EXPECT(tile.match_any(rank / 2) == (size > 1 ? 3u << (in_tile & ~1) : 1u));
  EXPECT(cg::reduce(tile, in_tile, cg::plus<int>()) == (int)(size * (size - 1) / 2));
  EXPECT(cg::reduce(tile, rank, cg::greater<int>()) == first + (int)size - 1);
  EXPECT(cg::reduce(tile, (float)rank, cg::less<float>()) == (float)first);
  EXPECT(cg::reduce(tile, 1u << in_tile, cg::bit_or<unsigned>()) ==
         (size == 32 ? ~0u : (1u << size % 32) - 1));
  EXPECT(cg::inclusive_scan(tile, 1) == in_tile + 1);
  EXPECT(cg::exclusive_scan(tile, in_tile) == in_tile * (in_tile - 1) / 2);
  tile.sync();
}

struct Wide {
  double value;
  int rank, pad;
};

__global__ void tour(int* out) {
  __shared__ int workspace[128];
  cg::thread_block block = cg::this_thread_block();
  const int rank = block.thread_rank();
  EXPECT(block.size() == 128 && block.group_dim().x == 32 && block.group_dim().y == 4);
  EXPECT(rank == (int)(threadIdx.y * 32 + threadIdx.x) && block.thread_index().y == threadIdx.y);
  EXPECT(block.group_index().x == blockIdx.x);
  const cg::grid_group grid = cg::this_grid();
  EXPECT(grid.size() == 2 * 128 && grid.thread_rank() == blockIdx.x * 128 + rank && grid.num_blocks() == 2);

  int sum = sumReduction(block, workspace, rank);
  if (rank == 0) EXPECT(sum == 127 * 128 / 2);
  cg::thread_group quarter = cg::tiled_partition(block, 8);
  sum = sumReduction(quarter, &workspace[rank / 8 * 8], 1);
  EXPECT(sum == (rank % 8 == 0 ? 8 : -1));

  tiles<32>(block);
  tiles<16>(block);
  tiles<4>(block);
  tiles<1>(block);

  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
  auto inner = cg::tiled_partition<4>(warp);
  EXPECT(inner.meta_group_size() == 8 && inner.meta_group_rank() == warp.thread_rank() / 4);
  const Wide wide = warp.shfl(Wide{rank + 0.5, rank, 0}, 7);
  EXPECT(wide.rank == rank / 32 * 32 + 7 && wide.value == wide.rank + 0.5);

  auto third = cg::binary_partition(warp, rank % 3 == 0);
  const int members = cg::reduce(third, 1, cg::plus<int>());
  EXPECT(members == (int)third.size());
  auto label = cg::labeled_partition(warp, rank % 5);
  EXPECT(cg::reduce(label, rank % 5, cg::plus<int>()) == rank % 5 * (int)label.size());

  if (warp.thread_rank() % 4 == 1) {
    cg::coalesced_group active = cg::coalesced_threads();
    EXPECT(active.size() == 8 && active.thread_rank() == warp.thread_rank() / 4);
    EXPECT(active.shfl(rank, 2) == rank / 32 * 32 + 9);
    EXPECT(active.shfl_down(rank, 1) == (active.thread_rank() < 7 ? rank + 4 : rank));
    EXPECT(active.ballot(active.thread_rank() == 3) == 8u && active.all(1));
    EXPECT(cg::reduce(active, 2, cg::plus<int>()) == 16);
    auto pair = cg::tiled_partition(active, 2);
    EXPECT(pair.size() == 2 && pair.shfl(rank, 0) == rank - 4 * (int)(active.thread_rank() % 2));
    cg::invoke_one(active, [&] { atomicAdd(out, (int)active.size()); });
  }
  cg::sync(block);
}

int main() {
  int *out, total = 0, failed = 0;
  cudaMalloc(&out, sizeof(int));
  cudaMemset(out, 0, sizeof(int));
  tour<<<2, dim3(32, 4)>>>(out);
  cudaMemcpy(&total, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(&failed, failures, sizeof(int));
  cudaFree(out);
  printf("%d expectations failed; total %d; %s\n", failed, total, cudaGetErrorString(cudaGetLastError()));
  return failed == 0 && total == 2 * 4 * 8 ? 0 : 1;
}
