// Looks wrong: the warps that copy never wait for their copies, nor does the last of them to arrive.
// It is right: the copies belong to a cuda::barrier, and the warp that reads what they bring waits for that.
// Batches of the producers' own, beside these, stay their own.

#include <cooperative_groups.h>
#include <cuda_pipeline.h>
#include <cuda/barrier>

constexpr int kProducers = 96, kRounds = 5;

__global__ void sum_kernel(const float* in, const float* weights, float* out) {
  __shared__ float tile[2][kProducers], own[kProducers];
  __shared__ cuda::barrier<cuda::thread_scope_block> filled[2], used[2];
  const int t = threadIdx.x;
  if (t == 0)
    for (int stage = 0; stage < 2; ++stage) init(&filled[stage], kProducers), init(&used[stage], 32);
  __syncthreads();
  if (t >= 32) {
    const int p = t - 32;
    __pipeline_memcpy_async(&own[p], &weights[p], sizeof(float));
    __pipeline_commit();
    float weight = 0.0f;
    for (int round = 0; round < kRounds; ++round) {
      if (round >= 2) used[round % 2].wait_parity((round / 2 + 1) % 2);
      cuda::memcpy_async(&tile[round % 2][p], &in[round * kProducers + p], sizeof(float), filled[round % 2]);
      (void)filled[round % 2].arrive();
      if (round == 1) {
        __pipeline_wait_prior(0);
        weight = own[p];
      }
    }
    out[32 + p] = weight;
  } else {
    float sum = 0.0f;
    for (int round = 0; round < kRounds; ++round) {
      filled[round % 2].wait_parity(round / 2 % 2);
      for (int i = t; i < kProducers; i += 32) sum += tile[round % 2][i];
      (void)used[round % 2].arrive();
    }
    out[t] = sum;
  }
}

int main() {
  float host[kProducers * kRounds], got[32 + kProducers], *in = nullptr, *out = nullptr;
  for (int i = 0; i < kProducers * kRounds; ++i) host[i] = static_cast<float>(i % 7);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof got);
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  sum_kernel<<<1, 32 + kProducers>>>(in, in, out);
  cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
  for (int t = 0; t < 32; ++t) {
    float sum = 0.0f;
    for (int i = t; i < kProducers * kRounds; i += 32) sum += host[i];
    if (got[t] != sum) return 1;
  }
  for (int p = 0; p < kProducers; ++p)
    if (got[32 + p] != host[p]) return 1;
  return 0;
}
