#include <algorithm>
#include <cstdint>
#include <set>

#include "support.hpp"

namespace {

/// Writes the number of each thread in the order in which they get here.
__global__ void order_kernel(int* next, int* order) {
  order[atomicAdd(next, 1)] = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
}

__global__ void order_after_barrier_kernel(int* next, int* order) {
  __syncthreads();
  order[atomicAdd(next, 1)] = static_cast<int>(threadIdx.x);
}

std::vector<int> block_order(simt::Order order, std::uint64_t seed, int blocks, int threads) {
  simt::configure({.order = order, .seed = seed, .workers = 1});
  int* next = device_array<int>(1);
  const auto count = static_cast<std::size_t>(blocks * threads);
  int* out = device_array<int>(count);
  order_kernel<<<blocks, threads>>>(next, out);
  return to_host(out, count);
}

__global__ void racy_kernel(int* out) {
  __shared__ int last;
  last = static_cast<int>(threadIdx.x);  // wrong: which thread writes last is not defined
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = last;
}

int racy_result(simt::Order order, std::uint64_t seed) {
  simt::configure({.order = order, .seed = seed});
  int* out = device_array<int>(1);
  racy_kernel<<<1, 128>>>(out);
  return to_host(out, 1)[0];
}

}  // namespace

TEST_CASE("forward runs blocks and threads upwards, reverse downwards", "[simt][schedule]") {
  const FreshDevice device;
  const auto forward = block_order(simt::Order::forward, 0, 5, 70);
  REQUIRE(std::is_sorted(forward.begin(), forward.end()));
  auto reverse = block_order(simt::Order::reverse, 0, 5, 70);
  std::reverse(reverse.begin(), reverse.end());
  REQUIRE(reverse == forward);
}

TEST_CASE("random runs each thread once, repeats with its seed and differs without", "[simt][schedule]") {
  const FreshDevice device;
  const auto first = block_order(simt::Order::random, 1, 37, 50);
  REQUIRE(std::set<int>(first.begin(), first.end()).size() == 37 * 50);
  REQUIRE(block_order(simt::Order::random, 1, 37, 50) == first);
  REQUIRE(block_order(simt::Order::random, 2, 37, 50) != first);
  REQUIRE_FALSE(std::is_sorted(first.begin(), first.end()));
}

TEST_CASE("the order holds after a barrier as well", "[simt][schedule]") {
  const FreshDevice device;
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse}) {
    simt::configure({.order = order});
    int* next = device_array<int>(1);
    int* out = device_array<int>(80);
    order_after_barrier_kernel<<<1, 80>>>(next, out);
    auto got = to_host(out, 80);
    if (order == simt::Order::reverse) std::reverse(got.begin(), got.end());
    REQUIRE(std::is_sorted(got.begin(), got.end()));
  }
}

TEST_CASE("a race gives different results under different orders", "[simt][schedule]") {
  const FreshDevice device;
  REQUIRE(racy_result(simt::Order::forward, 0) == 127);
  REQUIRE(racy_result(simt::Order::reverse, 0) == 0);
  std::set<int> random;
  for (std::uint64_t seed = 0; seed < 20; ++seed) random.insert(racy_result(simt::Order::random, seed));
  REQUIRE(random.size() > 5);
}
