// Looks wrong: lanes of one warp use different masks in the same shuffle, and only leaders touch memory.
// It is right: __match_any_sync() gives all lanes of a group the same mask, and the groups are disjoint.

#include <cuda_runtime.h>

__global__ void number_within_key_kernel(const int* keys, int* counts, int* seen_before) {
  const int thread = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  const int key = keys[thread];
  const unsigned peers = __match_any_sync(0xffffffffu, key);
  const int leader = __ffs(peers) - 1;
  int before = 0;
  if (lane == leader) before = atomicAdd(&counts[key], __popc(peers));
  before = __shfl_sync(peers, before, leader);
  seen_before[thread] = before + __popc(peers & ((1u << lane) - 1u));
}

int main() {
  constexpr int kN = 192, kKeys = 7;
  int keys[kN], counts[kKeys] = {}, numbers[kN], *d_keys, *d_counts, *d_numbers;
  bool used[kKeys][kN] = {};
  for (int i = 0; i < kN; ++i) keys[i] = i * i % kKeys;
  cudaMalloc(&d_keys, sizeof keys);
  cudaMalloc(&d_counts, sizeof counts);
  cudaMalloc(&d_numbers, sizeof numbers);
  cudaMemcpy(d_keys, keys, sizeof keys, cudaMemcpyHostToDevice);
  cudaMemset(d_counts, 0, sizeof counts);
  number_within_key_kernel<<<3, 64>>>(d_keys, d_counts, d_numbers);
  cudaMemcpy(counts, d_counts, sizeof counts, cudaMemcpyDeviceToHost);
  cudaMemcpy(numbers, d_numbers, sizeof numbers, cudaMemcpyDeviceToHost);
  cudaFree(d_keys);
  cudaFree(d_counts);
  cudaFree(d_numbers);
  for (int i = 0; i < kN; ++i) {
    if (numbers[i] < 0 || numbers[i] >= counts[keys[i]] || used[keys[i]][numbers[i]]) return 1;
    used[keys[i]][numbers[i]] = true;
  }
  return 0;
}
