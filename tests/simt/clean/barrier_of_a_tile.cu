// Looks wrong: each warp has a cuda::barrier and a pipeline of its own, and nothing but the tile's sync()
// stands between their beginning and their use. A lane may have gone through it before the others run again.
// It is right: sync() orders the lanes of a tile.

#include <cooperative_groups.h>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int kRounds = 9;

__global__ void sum_kernel(const float* in, float* out) {
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int warp = threadIdx.x / 32;
  __shared__ float values[2][2][32], shared_sum[2];
  __shared__ cuda::barrier<cuda::thread_scope_block> met[2];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> states[2];
  if (tile.thread_rank() == 0) {
    init(&met[warp], 32);
    shared_sum[warp] = 0.0f;
  }
  tile.sync();
  atomicAdd(&shared_sum[warp], 1.0f);
  met[warp].arrive_and_wait();
  float sum = shared_sum[warp];
  auto pipe = cuda::make_pipeline(tile, &states[warp]);
  for (int fetch = 0, use = 0; use < kRounds; ++use) {
    for (; fetch < kRounds && fetch < use + 2; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(tile, values[warp][fetch % 2], in + fetch * 32, sizeof values[0][0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += values[warp][use % 2][31 - tile.thread_rank()];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

int main() {
  float host[32 * kRounds], got[64], *in = nullptr, *out = nullptr;
  for (int i = 0; i < 32 * kRounds; ++i) host[i] = static_cast<float>(i % 5);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum_kernel<<<1, 64>>>(in, out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int t = 0; t < 64; ++t) {
    float sum = 32.0f;
    for (int round = 0; round < kRounds; ++round) sum += host[round * 32 + 31 - t % 32];
    if (got[t] != sum) return 1;
  }
  return 0;
}
