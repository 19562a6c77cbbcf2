#include <cstdint>

#include "support.hpp"

namespace {

constexpr unsigned kAll = 0xffffffffu;

template <class Operation>
__global__ void per_lane_kernel(int* out, Operation operation) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = operation(static_cast<int>(threadIdx.x % 32));
}

/// What each of the 32 lanes gets.
template <class Operation>
std::vector<int> lanes(Operation operation) {
  int* out = device_array<int>(32, -1);
  per_lane_kernel<<<1, 32>>>(out, operation);
  return to_host(out, 32);
}

__global__ void reduce_kernel(const float* in, float* out) {
  float value = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_xor_sync(kAll, value, offset);
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

__global__ void two_halves_kernel(int* out) {
  const unsigned lane = threadIdx.x;
  int value = static_cast<int>(lane);
  if (lane < 16) {
    for (int offset = 8; offset > 0; offset /= 2) value += __shfl_down_sync(0x0000ffffu, value, offset, 16);
  } else {
    for (int offset = 8; offset > 0; offset /= 2) value += __shfl_down_sync(0xffff0000u, value, offset, 16);
  }
  out[lane] = value;
}

__global__ void exited_lanes_kernel(int* out) {
  if (threadIdx.x >= 20) return;
  out[threadIdx.x] = static_cast<int>(__ballot_sync(0x000fffffu, threadIdx.x % 2));
}

__global__ void uneven_rounds_kernel(int* out) {
  // Lanes leave the loop after different numbers of rounds; the mask names those that are still in it.
  unsigned mask = kAll;
  int sum = 0;
  for (int round = 0; round < 32; ++round) {
    mask = kAll << round;
    if (static_cast<int>(threadIdx.x) < round) break;
    sum += __shfl_sync(mask, round, round);
  }
  out[threadIdx.x] = sum;
}

__global__ void warp_synchronous_kernel(const int* in, int* out) {
  __shared__ int part[64];
  const unsigned thread = threadIdx.x;
  part[thread] = in[thread];
  __syncwarp();
  for (unsigned width = 16; width > 0; width /= 2) {
    const int other = thread % 32 < width ? part[thread + width] : 0;
    __syncwarp();
    part[thread] += other;
    __syncwarp();
  }
  if (thread % 32 == 0) out[thread / 32] = part[thread];
}

struct Pair {
  float value;
  int index;
};

__global__ void shuffle_struct_kernel(float* out) {
  const Pair mine = {static_cast<float>(threadIdx.x) + 0.5f, static_cast<int>(threadIdx.x)};
  const Pair other = __shfl_sync(kAll, mine, 31 - static_cast<int>(threadIdx.x));
  out[threadIdx.x] = other.value + static_cast<float>(other.index);
}

}  // namespace

TEST_CASE("shuffles move values between lanes as CUDA defines", "[simt][warp]") {
  const FreshDevice device;
  const auto idx = lanes([](int lane) { return __shfl_sync(kAll, lane * 10, 5); });
  const auto up = lanes([](int lane) { return __shfl_up_sync(kAll, lane, 3); });
  const auto down = lanes([](int lane) { return __shfl_down_sync(kAll, lane, 3); });
  const auto by_xor = lanes([](int lane) { return __shfl_xor_sync(kAll, lane, 5); });
  for (int lane = 0; lane < 32; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    REQUIRE(idx[i] == 50);
    REQUIRE(up[i] == (lane < 3 ? lane : lane - 3));
    REQUIRE(down[i] == (lane > 28 ? lane : lane + 3));
    REQUIRE(by_xor[i] == (lane ^ 5));
  }
}

TEST_CASE("shuffles take the lower five bits of a distance or a mask", "[simt][warp]") {
  const FreshDevice device;
  const auto up = lanes([](int lane) { return __shfl_up_sync(kAll, lane, -16); });
  const auto down = lanes([](int lane) { return __shfl_down_sync(kAll, lane, -16); });
  const auto by_xor = lanes([](int lane) { return __shfl_xor_sync(kAll, lane, -1); });
  for (int lane = 0; lane < 32; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    REQUIRE(up[i] == (lane < 16 ? lane : lane - 16));
    REQUIRE(down[i] == (lane < 16 ? lane + 16 : lane));
    REQUIRE(by_xor[i] == 31 - lane);
  }
}

TEST_CASE("shuffles with a width stay within their segment", "[simt][warp]") {
  const FreshDevice device;
  const auto idx = lanes([](int lane) { return __shfl_sync(kAll, lane, 9, 8); });
  const auto up = lanes([](int lane) { return __shfl_up_sync(kAll, lane, 2, 8); });
  const auto down = lanes([](int lane) { return __shfl_down_sync(kAll, lane, 2, 8); });
  const auto by_xor = lanes([](int lane) { return __shfl_xor_sync(kAll, lane, 12, 8); });
  for (int lane = 0; lane < 32; ++lane) {
    const auto i = static_cast<std::size_t>(lane);
    REQUIRE(idx[i] == lane / 8 * 8 + 1);
    REQUIRE(up[i] == (lane % 8 < 2 ? lane : lane - 2));
    REQUIRE(down[i] == (lane % 8 > 5 ? lane : lane + 2));
    REQUIRE(by_xor[i] == ((lane ^ 12) > lane / 8 * 8 + 7 ? lane : lane ^ 12));
  }
}

TEST_CASE("a butterfly of shuffles gives every lane the same sum", "[simt][warp]") {
  const FreshDevice device;
  float* in = device_array<float>(512, 0.25f);
  float* out = device_array<float>(512);
  reduce_kernel<<<4, 128>>>(in, out);
  for (const float sum : to_host(out, 512)) REQUIRE(sum == 8.0f);
}

TEST_CASE("two halves of a warp shuffle independently of each other", "[simt][warp]") {
  const FreshDevice device;
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse, simt::Order::random}) {
    simt::configure({.order = order});
    int* out = device_array<int>(32);
    two_halves_kernel<<<1, 32>>>(out);
    const auto got = to_host(out, 32);
    REQUIRE(got[0] == 120);
    REQUIRE(got[16] == 376);
  }
}

TEST_CASE("votes count the lanes that say yes", "[simt][warp]") {
  const FreshDevice device;
  const auto ballot = lanes([](int lane) { return static_cast<int>(__ballot_sync(kAll, lane % 4 == 0)); });
  const auto any =
      lanes([](int lane) { return __any_sync(kAll, lane == 31) * 2 + __any_sync(kAll, lane == 32); });
  const auto all =
      lanes([](int lane) { return __all_sync(kAll, lane < 32) * 2 + __all_sync(kAll, lane < 31); });
  for (std::size_t lane = 0; lane < 32; ++lane) {
    REQUIRE(ballot[lane] == 0x11111111);
    REQUIRE(any[lane] == 2);
    REQUIRE(all[lane] == 2);
  }
}

TEST_CASE("match and reduce look at the values of all lanes of the mask", "[simt][warp]") {
  const FreshDevice device;
  const auto match = lanes([](int lane) { return static_cast<int>(__match_any_sync(kAll, lane % 3)); });
  const auto sum = lanes([](int lane) { return __reduce_add_sync(kAll, lane); });
  const auto low = lanes([](int lane) { return __reduce_min_sync(kAll, lane - 5); });
  const auto high =
      lanes([](int lane) { return static_cast<int>(__reduce_max_sync(kAll, static_cast<unsigned>(lane))); });
  for (std::size_t lane = 0; lane < 32; ++lane) {
    unsigned same = 0;
    for (std::size_t other = lane % 3; other < 32; other += 3) same |= 1u << other;
    REQUIRE(match[lane] == static_cast<int>(same));
    REQUIRE(sum[lane] == 496);
    REQUIRE(low[lane] == -5);
    REQUIRE(high[lane] == 31);
  }
  const auto all_same = lanes([](int) {
    int equal = 0;
    const unsigned mask = __match_all_sync(kAll, 7, &equal);
    return equal == 1 && mask == kAll ? 1 : 0;
  });
  const auto differ = lanes([](int lane) {
    int equal = 1;
    const unsigned mask = __match_all_sync(kAll, lane == 9, &equal);
    return equal == 0 && mask == 0u ? 1 : 0;
  });
  for (std::size_t lane = 0; lane < 32; ++lane) REQUIRE(all_same[lane] + differ[lane] == 2);
}

TEST_CASE("a vote completes without the lanes that have returned", "[simt][warp]") {
  const FreshDevice device;
  int* out = device_array<int>(32);
  exited_lanes_kernel<<<1, 32>>>(out);
  const auto got = to_host(out, 32);
  for (std::size_t lane = 0; lane < 20; ++lane) REQUIRE(got[lane] == 0x000aaaaa);
}

TEST_CASE("lanes may leave a loop of shuffles one by one", "[simt][warp]") {
  const FreshDevice device;
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse, simt::Order::random}) {
    simt::configure({.order = order, .seed = 11});
    int* out = device_array<int>(32);
    uneven_rounds_kernel<<<1, 32>>>(out);
    const auto got = to_host(out, 32);
    for (int lane = 0; lane < 32; ++lane)
      REQUIRE(got[static_cast<std::size_t>(lane)] == lane * (lane + 1) / 2);
  }
}

TEST_CASE("__syncwarp orders the lanes of a warp-synchronous reduction", "[simt][warp]") {
  const FreshDevice device;
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse, simt::Order::random}) {
    simt::configure({.order = order, .seed = 3});
    int* in = device_array<int>(64, 2);
    int* out = device_array<int>(2);
    warp_synchronous_kernel<<<1, 64>>>(in, out);
    REQUIRE(to_host(out, 2) == std::vector<int>{64, 64});
  }
}

TEST_CASE("a shuffle moves any value of up to eight bytes", "[simt][warp]") {
  const FreshDevice device;
  float* out = device_array<float>(32);
  shuffle_struct_kernel<<<1, 32>>>(out);
  const auto got = to_host(out, 32);
  for (std::size_t lane = 0; lane < 32; ++lane)
    REQUIRE(got[lane] == 2.0f * static_cast<float>(31 - lane) + 0.5f);
}

TEST_CASE("a partial last warp needs only its own lanes", "[simt][warp]") {
  const FreshDevice device;
  int* out = device_array<int>(40);
  per_lane_kernel<<<1, 40>>>(out, [](int lane) { return static_cast<int>(__ballot_sync(kAll, lane >= 0)); });
  const auto got = to_host(out, 40);
  REQUIRE(got[0] == -1);
  REQUIRE(got[39] == 0xff);
}
