#include <cooperative_groups.h>

#include <cstdint>
#include <numeric>

#include "support.hpp"

namespace {

__global__ void reverse_kernel(int* data) {
  __shared__ int tile[1024];
  tile[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = tile[blockDim.x - 1 - threadIdx.x];
}

__global__ void tree_sum_kernel(const int* in, int* out) {
  __shared__ int part[1024];
  part[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (unsigned width = blockDim.x / 2; width > 0; width /= 2) {
    __syncthreads();
    if (threadIdx.x < width) part[threadIdx.x] += part[threadIdx.x + width];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}

__global__ void predicates_kernel(int* out) {
  const int thread = static_cast<int>(threadIdx.x);
  const int count = __syncthreads_count(thread % 3 == 0);
  const int all = __syncthreads_and(thread < 100);
  const int all_below_1000 = __syncthreads_and(thread < 1000);
  const int any = __syncthreads_or(thread == 77);
  const int none = __syncthreads_or(thread == 1000);
  out[thread] = count * 10000 + all * 1000 + all_below_1000 * 100 + any * 10 + none;
}

__global__ void early_exit_kernel(int* out) {
  if (threadIdx.x % 2 == 1) return;
  __shared__ int tile[64];
  tile[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = tile[62 - threadIdx.x];
}

__global__ void exit_after_others_wait_kernel(int* out) {
  if (threadIdx.x == blockDim.x - 1)
    return;  // in forward order, the last to run: the barrier waits for nobody else
  __syncthreads();
  out[threadIdx.x] = 1;
}

__device__ void meet(int depth) {
  if (depth == 0)
    __syncthreads();
  else
    meet(depth - 1);
}

__global__ void barrier_in_call_kernel(int* out) {
  __shared__ int turn;
  for (int round = 0; round < 50; ++round) {
    if (threadIdx.x == static_cast<unsigned>(round) % blockDim.x) turn = round;
    meet(3);
    out[threadIdx.x] += turn == round;
    meet(0);
  }
}

__device__ int* dynamic_part() {
  extern __shared__ int numbers[];
  return numbers;
}

/// Block 1 comes to its dynamic shared memory before the grid meets, the others behind that.
__global__ void shared_across_grid_kernel(int* out) {
  __shared__ int own;
  if (threadIdx.x == 0) own = static_cast<int>(blockIdx.x);
  if (blockIdx.x == 1) dynamic_part()[threadIdx.x] = 100;
  cooperative_groups::this_grid().sync();
  if (blockIdx.x != 1) dynamic_part()[threadIdx.x] = 200;
  cooperative_groups::this_grid().sync();
  out[blockIdx.x * blockDim.x + threadIdx.x] = dynamic_part()[blockDim.x - 1 - threadIdx.x] + own;
}

/// The first `spinning` threads of each block wait for those of all blocks.
__global__ void hand_made_grid_barrier_kernel(unsigned* arrived, unsigned spinning, int* out) {
  if (threadIdx.x < spinning) {
    atomicAdd(arrived, 1u);
    while (atomicAdd(arrived, 0u) < spinning * gridDim.x) {
    }
  }
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = static_cast<int>(atomicAdd(arrived, 0u));
}

}  // namespace

TEST_CASE("a barrier lets every thread see what all others wrote before it", "[simt][barrier]") {
  const FreshDevice device;
  for (const unsigned threads : {1u, 2u, 31u, 32u, 33u, 64u, 257u, 1024u}) {
    std::vector<int> values(threads);
    std::iota(values.begin(), values.end(), 0);
    int* data = device_array<int>(threads);
    cudaMemcpy(data, values.data(), threads * sizeof(int), cudaMemcpyHostToDevice);
    reverse_kernel<<<1, threads>>>(data);
    const std::vector<int> got = to_host(data, threads);
    for (unsigned i = 0; i < threads; ++i) REQUIRE(got[i] == static_cast<int>(threads - 1 - i));
  }
}

TEST_CASE("barriers in a loop keep the rounds of many blocks apart", "[simt][barrier]") {
  const FreshDevice device;
  const int blocks = 50, threads = 256;
  int* in = device_array<int>(blocks * threads, 3);
  int* out = device_array<int>(blocks);
  tree_sum_kernel<<<blocks, threads>>>(in, out);
  for (const int sum : to_host(out, blocks)) REQUIRE(sum == 3 * threads);
}

TEST_CASE("a block of 1024 threads meets a thousand times", "[simt][barrier]") {
  const FreshDevice device;
  int* out = device_array<int>(1024);
  for (int launch = 0; launch < 10; ++launch) barrier_in_call_kernel<<<1, 1024>>>(out);
  for (const int rounds : to_host(out, 1024)) REQUIRE(rounds == 500);
}

TEST_CASE("barriers with a predicate give every thread the same reduction", "[simt][barrier]") {
  const FreshDevice device;
  int* out = device_array<int>(128);
  predicates_kernel<<<1, 128>>>(out);
  for (const int value : to_host(out, 128)) REQUIRE(value == 43 * 10000 + 0 * 1000 + 100 + 10 + 0);
}

TEST_CASE("a barrier does not wait for threads that have returned", "[simt][barrier]") {
  const FreshDevice device;
  int* out = device_array<int>(64, -1);
  early_exit_kernel<<<1, 64>>>(out);
  const std::vector<int> got = to_host(out, 64);
  for (int i = 0; i < 64; ++i) REQUIRE(got[static_cast<std::size_t>(i)] == (i % 2 == 0 ? 62 - i : -1));
}

TEST_CASE("a barrier opens when the last thread it waits for returns instead", "[simt][barrier]") {
  const FreshDevice device;
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse, simt::Order::random}) {
    simt::configure({.order = order});
    int* out = device_array<int>(96);
    exit_after_others_wait_kernel<<<1, 96>>>(out);
    const std::vector<int> got = to_host(out, 96);
    REQUIRE(std::accumulate(got.begin(), got.end(), 0) == 95);
  }
}

TEST_CASE("blocks keep their shared memory while the grid meets", "[simt][barrier]") {
  const FreshDevice device;
  for (const bool check : {false, true}) {
    simt::configure({.check = check});
    constexpr unsigned kBlocks = 5, kThreads = 40;
    int* out = device_array<int>(kBlocks * kThreads);
    void* arguments[] = {&out};
    REQUIRE(cudaLaunchCooperativeKernel(shared_across_grid_kernel, dim3(kBlocks), dim3(kThreads), arguments,
                                        kThreads * sizeof(int)) == cudaSuccess);
    const std::vector<int> got = to_host(out, kBlocks * kThreads);
    for (unsigned i = 0; i < got.size(); ++i) {
      const unsigned block = i / kThreads;
      REQUIRE(got[i] == static_cast<int>((block == 1 ? 100 : 200) + block));
    }
  }
}

TEST_CASE("a block of a cooperative launch may spin until others come", "[simt][barrier]") {
  const FreshDevice device;
  for (const unsigned spinning : {1u, 64u}) {
    constexpr unsigned kBlocks = 20, kThreads = 64;
    auto* arrived = device_array<unsigned>(1);
    int* out = device_array<int>(kBlocks * kThreads);
    unsigned of_block = spinning;
    void* arguments[] = {&arrived, &of_block, &out};
    REQUIRE(cudaLaunchCooperativeKernel(hand_made_grid_barrier_kernel, dim3(kBlocks), dim3(kThreads),
                                        arguments) == cudaSuccess);
    for (const int seen : to_host(out, kBlocks * kThreads))
      REQUIRE(seen == static_cast<int>(spinning * kBlocks));
  }
}
