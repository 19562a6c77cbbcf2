// Looks wrong: no __syncthreads() stands between the copies into shared memory and the reads of other
// threads. It is right: a cuda::barrier stands there in one kernel, the stages of a cuda::pipeline in
// another, and in the last a barrier that a thread's own pipeline hands its copies to. One thread is the last
// to quit.

#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kRounds = 16;

__global__ void barrier_kernel(const float* in, float* out) {
  __shared__ float tile[kThreads];
  __shared__ cuda::barrier<cuda::thread_scope_block> filled;
  const auto block = cg::this_thread_block();
  if (block.thread_rank() == 0) init(&filled, block.size());
  block.sync();
  float sum = 0.0f;
  for (int round = 0; round < kRounds; ++round) {
    cuda::memcpy_async(block, tile, in + round * kThreads, sizeof tile, filled);
    filled.arrive_and_wait();
    sum += tile[(threadIdx.x + 1) % kThreads];
    filled.wait(filled.arrive());  // the next round overwrites what has been read
  }
  out[threadIdx.x] = sum;
}

__global__ void pipeline_kernel(const float* in, float* out, int* last_ones) {
  constexpr int kStages = 2;
  __shared__ float tile[kStages][kThreads];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  float sum = 0.0f;
  for (int fetch = 0, use = 0; use < kRounds; ++use) {
    for (; fetch < kRounds && fetch < use + kStages; ++fetch) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, tile[fetch % kStages], in + fetch * kThreads, sizeof tile[0], pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum += tile[use % kStages][kThreads - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  if (pipe.quit()) atomicAdd(last_ones, 1);
  out[threadIdx.x] = sum;
}

__global__ void commit_kernel(const float* in, float* out) {
  __shared__ float tile[kThreads];
  __shared__ cuda::barrier<cuda::thread_scope_block> filled;
  if (threadIdx.x == 0) init(&filled, kThreads);
  __syncthreads();
  auto pipe = cuda::make_pipeline();
  pipe.producer_acquire();
  cuda::memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], sizeof(float), pipe);
  cuda::pipeline_producer_commit(pipe, filled);
  filled.arrive_and_wait();
  out[threadIdx.x] = tile[kThreads - 1 - threadIdx.x];
}

int main() {
  float host[kThreads * kRounds], first[kThreads], second[kThreads], third[kThreads], *in, *out;
  int last_ones = 0, *d_last_ones;
  for (int i = 0; i < kThreads * kRounds; ++i) host[i] = static_cast<float>(i % 7);
  cudaMalloc(&in, sizeof host);
  cudaMalloc(&out, sizeof first);
  cudaMalloc(&d_last_ones, sizeof(int));
  cudaMemset(d_last_ones, 0, sizeof(int));
  cudaMemcpy(in, host, sizeof host, cudaMemcpyHostToDevice);
  barrier_kernel<<<1, kThreads>>>(in, out);
  cudaMemcpy(first, out, sizeof first, cudaMemcpyDeviceToHost);
  pipeline_kernel<<<1, kThreads>>>(in, out, d_last_ones);
  cudaMemcpy(second, out, sizeof second, cudaMemcpyDeviceToHost);
  cudaMemcpy(&last_ones, d_last_ones, sizeof(int), cudaMemcpyDeviceToHost);
  commit_kernel<<<1, kThreads>>>(in, out);
  cudaMemcpy(third, out, sizeof third, cudaMemcpyDeviceToHost);
  cudaFree(d_last_ones);
  cudaFree(in);
  cudaFree(out);
  for (int thread = 0; thread < kThreads; ++thread) {
    float forward = 0.0f, backward = 0.0f;
    for (int round = 0; round < kRounds; ++round) {
      forward += host[round * kThreads + (thread + 1) % kThreads];
      backward += host[round * kThreads + kThreads - 1 - thread];
    }
    if (first[thread] != forward || second[thread] != backward) return 1;
    if (third[thread] != host[kThreads - 1 - thread]) return 1;
  }
  return last_ones == 1 ? 0 : 1;
}
