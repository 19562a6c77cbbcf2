#include <cstdint>
#include <numeric>

#include "support.hpp"

namespace {

template <class T>
__global__ void add_kernel(T* sum) {
  atomicAdd(sum, T{1});
}

__global__ void integer_atomics_kernel(int* values) {
  const int thread = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  atomicSub(&values[0], 1);
  atomicMin(&values[1], -thread);
  atomicMax(&values[2], thread);
  atomicAnd(&values[3], ~(1 << (thread % 8)));
  atomicOr(&values[4], 1 << (thread % 8));
  atomicXor(&values[5], thread);
}

__global__ void wrapping_counter_kernel(unsigned* counter, unsigned* seen) {
  atomicAdd(&seen[atomicInc(counter, 9)], 1u);
}

__global__ void lock_kernel(int* lock, int* unprotected) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *unprotected += 1;
  __threadfence();
  atomicExch(lock, 0);
}

__global__ void wait_for_sibling_kernel(int* flag, int* out) {
  if (threadIdx.x == 0) {
    while (atomicAdd(flag, 0) == 0) {
    }
    *out = 5;
  } else if (threadIdx.x == blockDim.x - 1) {
    atomicExch(flag, 1);
  }
}

__global__ void last_block_kernel(const int* in, int* partial, unsigned* done, int* total) {
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = in[blockIdx.x] * 2;
    __threadfence();
    is_last = atomicAdd(done, 1u) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (unsigned block = 0; block < gridDim.x; ++block) sum += partial[block];
    *total = sum;
  }
}

__global__ void shared_histogram_kernel(int* out) {
  __shared__ int bins[16];
  if (threadIdx.x < 16) bins[threadIdx.x] = 0;
  __syncthreads();
  atomicAdd(&bins[threadIdx.x % 16], 1);
  __syncthreads();
  if (threadIdx.x < 16) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

template <class T>
T count_up() {
  T* sum = device_array<T>(1);
  add_kernel<T><<<40, 250>>>(sum);
  return to_host(sum, 1)[0];
}

}  // namespace

TEST_CASE("atomic additions of every type lose nothing between blocks", "[simt][atomics]") {
  const FreshDevice device;
  REQUIRE(count_up<int>() == 10000);
  REQUIRE(count_up<unsigned>() == 10000u);
  REQUIRE(count_up<unsigned long long>() == 10000ull);
  REQUIRE(count_up<float>() == 10000.0f);
  REQUIRE(count_up<double>() == 10000.0);
}

TEST_CASE("integer atomics compute what their names say", "[simt][atomics]") {
  const FreshDevice device;
  int* values = device_array<int>(6);
  const int before[6] = {0, 0, 0, 0xff, 0, 0};
  cudaMemcpy(values, before, sizeof before, cudaMemcpyHostToDevice);
  integer_atomics_kernel<<<4, 64>>>(values);
  REQUIRE(to_host(values, 6) == std::vector<int>{-256, -255, 255, 0, 0xff, 0});
}

TEST_CASE("atomicInc wraps at its limit", "[simt][atomics]") {
  const FreshDevice device;
  unsigned* counter = device_array<unsigned>(1);
  unsigned* seen = device_array<unsigned>(10);
  wrapping_counter_kernel<<<10, 100>>>(counter, seen);
  REQUIRE(to_host(seen, 10) == std::vector<unsigned>(10, 100u));
}

TEST_CASE("a spin lock lets every thread of the grid in, one at a time", "[simt][atomics]") {
  const FreshDevice device;
  for (const simt::Order order : {simt::Order::forward, simt::Order::reverse, simt::Order::random}) {
    simt::configure({.order = order});
    int* lock = device_array<int>(1);
    int* count = device_array<int>(1);
    lock_kernel<<<6, 100>>>(lock, count);
    REQUIRE(to_host(count, 1)[0] == 600);
  }
}

TEST_CASE("a thread that spins on an atomic gives way to the thread it waits for", "[simt][atomics]") {
  const FreshDevice device;
  for (const unsigned threads : {2u, 32u, 200u}) {
    int* flag = device_array<int>(1);
    int* out = device_array<int>(1);
    wait_for_sibling_kernel<<<1, threads>>>(flag, out);
    REQUIRE(to_host(out, 1)[0] == 5);
  }
}

TEST_CASE("the last block to finish sees what all others wrote before their fence", "[simt][atomics]") {
  const FreshDevice device;
  std::vector<int> values(300);
  std::iota(values.begin(), values.end(), 1);
  int* in = device_array<int>(300);
  cudaMemcpy(in, values.data(), 300 * sizeof(int), cudaMemcpyHostToDevice);
  int* total = device_array<int>(1);
  last_block_kernel<<<300, 32>>>(in, device_array<int>(300), device_array<unsigned>(1), total);
  REQUIRE(to_host(total, 1)[0] == 300 * 301);
}

TEST_CASE("atomics work on shared memory", "[simt][atomics]") {
  const FreshDevice device;
  int* out = device_array<int>(16);
  shared_histogram_kernel<<<10, 160>>>(out);
  REQUIRE(to_host(out, 16) == std::vector<int>(16, 100));
}
