// Stream compaction: the lanes that found something elect one that reserves room for all of them.

#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

namespace cg = cooperative_groups;

__device__ int atomicAggInc(int* counter) {
  cg::coalesced_group active = cg::coalesced_threads();
  int warp_res = 0;
  if (active.thread_rank() == 0) warp_res = atomicAdd(counter, active.size());
  warp_res = active.shfl(warp_res, 0);
  return warp_res + active.thread_rank();
}

__device__ int atomicAggIncByHand(int* counter) {
  unsigned int active = __activemask();
  int leader = __ffs(active) - 1, lane = threadIdx.x % warpSize, old = 0;
  if (lane == leader) old = atomicAdd(counter, __popc(active));
  old = __shfl_sync(active, old, leader);
  return old + __popc(active & ((1u << lane) - 1));
}

__global__ void filter_arr(int* dst, int* nres, const int* src, int n, bool byHand) {
  for (int i = threadIdx.x + blockIdx.x * blockDim.x; i < n; i += gridDim.x * blockDim.x)
    if (src[i] % 3 == 0) dst[byHand ? atomicAggIncByHand(nres) : atomicAggInc(nres)] = src[i];
}

// Each lane counts in the bucket of its key; lanes with the same key act as one.
__global__ void count_buckets(int* buckets, const int* keys, int n) {
  cg::thread_block_tile<32> warp = cg::tiled_partition<32>(cg::this_thread_block());
  for (int i = cg::this_grid().thread_rank(); i - warp.thread_rank() < n; i += cg::this_grid().size()) {
    const int key = i < n ? keys[i] % 10 : -1;
    auto same = cg::labeled_partition(warp, key);
    if (key >= 0 && same.thread_rank() == 0) atomicAdd(&buckets[key], same.size());
    warp.sync();
  }
}

// One lane asks who is active while its neighbours spin until it lets them go.
__global__ void one_asks_others_spin(int* lock, unsigned int* mask) {
  if (threadIdx.x == 0) {
    *mask = __activemask();
    __threadfence();
    atomicExch(lock, 1);
  } else {
    while (atomicAdd(lock, 0) == 0) {
    }
  }
}

int main() {
  const int n = 10007;
  std::vector<int> h(n), expected, got;
  std::vector<int> bucketsExpected(10, 0), buckets(10);
  for (int i = 0; i < n; ++i) {
    h[i] = (i * 7919) % 1000;
    if (h[i] % 3 == 0) expected.push_back(h[i]);
    ++bucketsExpected[h[i] % 10];
  }
  std::sort(expected.begin(), expected.end());
  int *src, *dst, *nres, *d_buckets;
  cudaMalloc(&src, n * sizeof(int));
  cudaMalloc(&dst, n * sizeof(int));
  cudaMalloc(&nres, sizeof(int));
  cudaMalloc(&d_buckets, 10 * sizeof(int));
  cudaMemcpy(src, h.data(), n * sizeof(int), cudaMemcpyHostToDevice);
  bool ok = true;
  for (int byHand = 0; byHand < 2; ++byHand) {
    int found = 0;
    cudaMemset(nres, 0, sizeof(int));
    filter_arr<<<7, 96>>>(dst, nres, src, n, byHand);
    cudaMemcpy(&found, nres, sizeof(int), cudaMemcpyDeviceToHost);
    got.resize(found);
    cudaMemcpy(got.data(), dst, found * sizeof(int), cudaMemcpyDeviceToHost);
    std::sort(got.begin(), got.end());
    ok &= got == expected;
    printf("%d of %d kept\n", found, n);
  }
  cudaMemset(d_buckets, 0, 10 * sizeof(int));
  count_buckets<<<5, 128>>>(d_buckets, src, n);
  cudaMemcpy(buckets.data(), d_buckets, 10 * sizeof(int), cudaMemcpyDeviceToHost);
  ok &= buckets == bucketsExpected;
  unsigned int mask = 0;
  cudaMemset(nres, 0, sizeof(int));
  one_asks_others_spin<<<1, 32>>>(nres, (unsigned int*)dst);
  cudaMemcpy(&mask, dst, sizeof(mask), cudaMemcpyDeviceToHost);
  ok &= mask == 1;
  cudaFree(src), cudaFree(dst), cudaFree(nres), cudaFree(d_buckets);
  printf("Warp-aggregated atomics %s\n", ok ? "PASSED" : "FAILED");
  return ok && cudaGetLastError() == cudaSuccess ? 0 : 1;
}
