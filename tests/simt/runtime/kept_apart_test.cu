// What host code sees of what kernels stored outside of device memory.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <locale>
#include <vector>

#include "simt/profile.hpp"
#include "support.hpp"

namespace {

constexpr int kMany = 4096;
__device__ int counter, table[kMany], untouched[kMany];
__shared__ int tile_of_the_file[32];
thread_local int of_the_host[32];

__global__ void count_kernel() { atomicAdd(&counter, 1); }
__global__ void mark_kernel(int at) { table[at] = 1; }
__global__ void same_kernel() { static_cast<volatile int&>(table[0]) = table[0]; }
__global__ void look_kernel(int* out) { *out = untouched[threadIdx.x] + table[0]; }

__global__ void ptx_kernel(unsigned* out) { asm("mov.u32 %0, %%laneid;" : "=r"(out[threadIdx.x])); }

__global__ void object_kernel(std::int64_t* object) { ++*object; }

__global__ void fill_kernel() {
  tile_of_the_file[threadIdx.x] = 7;
  of_the_host[threadIdx.x] = 8;
}

struct KeptApart : FreshDevice {
  KeptApart() {
    simt::Settings settings;
    settings.keeps_apart = true;
    settings.workers = 1;
    simt::configure(settings);
    (void)simt::take_stored_variables();
  }
};

std::uint64_t bytes_after_launch() {
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  return simt::take_stored_variables();
}

}  // namespace

TEST_CASE("variables that kernels change are counted, each as a whole and once a launch", "[simt][apart]") {
  const KeptApart device;
  count_kernel<<<3, 32>>>();
  CHECK(bytes_after_launch() == sizeof counter);
  count_kernel<<<1, 1>>>();
  count_kernel<<<1, 1>>>();
  CHECK(bytes_after_launch() == 2 * sizeof counter);
  mark_kernel<<<1, 1>>>(kMany / 2);
  CHECK(bytes_after_launch() == sizeof table);
  CHECK(counter == 98);
  counter = table[kMany / 2] = 0;
}

TEST_CASE("variables that kernels read, or leave as they are, are not counted", "[simt][apart]") {
  const KeptApart device;
  int* const out = device_array<int>(1);
  look_kernel<<<1, 32>>>(out);
  CHECK(bytes_after_launch() == 0);
  same_kernel<<<1, 1>>>();
  CHECK(bytes_after_launch() == 0);
  counter = 1;  // by the host
  look_kernel<<<1, 32>>>(out);
  CHECK(bytes_after_launch() == 0);
  counter = 0;
}

TEST_CASE("what the simulator stores in a program does not count", "[simt][apart]") {
  const KeptApart device;
  unsigned* const out = device_array<unsigned>(32);
  ptx_kernel<<<1, 32>>>(out);
  CHECK(bytes_after_launch() == 0);
  CHECK(to_host(out, 32)[31] == 31);
}

TEST_CASE("kernels cannot store to objects of the C++ library", "[simt][apart]") {
  const KeptApart device;
  auto* const object = const_cast<void*>(static_cast<const void*>(&std::locale::classic()));
  std::int64_t before = 0, after = 0;
  std::memcpy(&before, object, sizeof before);
  object_kernel<<<1, 1>>>(static_cast<std::int64_t*>(object));
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  const std::vector<simt::Fault> faults = simt::take_faults();
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].kind == "host_pointer_in_kernel");
  std::memcpy(&after, object, sizeof after);
  CHECK(before == after);
}

TEST_CASE("kernels cannot store to what a handle leads to", "[simt][apart]") {
  const KeptApart device;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  object_kernel<<<1, 1>>>(reinterpret_cast<std::int64_t*>(stream));
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  const std::vector<simt::Fault> faults = simt::take_faults();
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].kind == "host_pointer_in_kernel");
}

TEST_CASE("handles work where they are kept apart, in host functions as well", "[simt][apart]") {
  const KeptApart device;
  static cudaStream_t stream = nullptr, inner = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  cudaEvent_t event = nullptr;
  REQUIRE(cudaEventCreate(&event) == cudaSuccess);
  same_kernel<<<1, 1, 0, stream>>>();
  const auto create = [](void* done) { *static_cast<bool*>(done) = cudaStreamCreate(&inner) == cudaSuccess; };
  bool done = false;
  REQUIRE(cudaLaunchHostFunc(stream, create, &done) == cudaSuccess);
  REQUIRE(cudaEventRecord(event, stream) == cudaSuccess);
  CHECK(cudaEventSynchronize(event) == cudaSuccess);
  CHECK(done);
  for (const cudaStream_t one : {stream, inner}) CHECK(cudaStreamDestroy(one) == cudaSuccess);
  CHECK(cudaEventDestroy(event) == cudaSuccess);
}

TEST_CASE("what kernels change in the C library's streams is counted", "[simt][apart]") {
  const KeptApart device;
  auto* const end = reinterpret_cast<std::int64_t*>(stderr + 1) - 1;  // of what the library keeps unused
  object_kernel<<<1, 1>>>(end);
  CHECK(bytes_after_launch() == 8);
  --*end;
}

TEST_CASE("nobody counts variables who was not asked to", "[simt][apart]") {
  const FreshDevice device;
  (void)simt::take_stored_variables();
  count_kernel<<<1, 1>>>();
  CHECK(bytes_after_launch() == 0);
  counter = 0;
}

TEST_CASE("what kernels store in thread-local variables is undone after the launch", "[simt][apart]") {
  const KeptApart device;
  of_the_host[3] = 5;
  fill_kernel<<<2, 32>>>();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(of_the_host[3] == 5);
  CHECK(tile_of_the_file[3] == 0);
}
