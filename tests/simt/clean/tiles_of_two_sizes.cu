// Looks wrong: some warps of a block wait in a tile of 128 threads, or of 256, while others wait in its first
// tile of 64.
// It is right: a tile's barrier is its own, whatever other tiles begin with the same thread.

#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void nested(int* out) {
  const auto block = cg::this_thread_block();
  const auto half = cg::tiled_partition<64>(block);
  const auto wide = cg::tiled_partition<128>(block);
  const auto all = cg::tiled_partition<256>(block);
  __shared__ int values[512], raised[4];
  if (threadIdx.x < 4) raised[threadIdx.x] = 0;
  block.sync();
  int* const flag = &raised[threadIdx.x / 128];
  if (threadIdx.x % 128 / 32 == 3) atomicExch(flag, 1);
  while (threadIdx.x % 128 / 32 == 1 && atomicAdd(flag, 0) == 0) {  // the other warps go first
  }
  for (int round = 0; round < 8; ++round) {
    if (threadIdx.x / 64 % 2 == 0) {
      values[threadIdx.x] = threadIdx.x + round;
      half.sync();
      values[threadIdx.x ^ 32] += 1;
    } else {
      values[threadIdx.x] = round;
    }
    wide.sync();
    values[threadIdx.x ^ 64] += 1;
    all.sync();
    out[threadIdx.x] = values[threadIdx.x ^ 128];
    all.sync();
  }
}

int main() {
  int* out;
  int got[512];
  cudaMalloc(&out, sizeof got);
  nested<<<1, 512>>>(out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(out);
  for (int thread = 0; thread < 512; ++thread) {
    const int from = thread ^ 128;
    if (got[thread] != (from / 64 % 2 == 0 ? from + 7 + 2 : 8)) return 1;
  }
  return 0;
}
