#include <cmath>
#include <cstdint>

#include "support.hpp"

extern __shared__ float file_scope_dynamic[];

namespace {

__global__ void uninitialised_kernel(float* out) {
  __shared__ float tile[32];
  extern __shared__ float dynamic[];
  out[2 * blockIdx.x] = tile[threadIdx.x];
  out[2 * blockIdx.x + 1] = dynamic[threadIdx.x];
  tile[threadIdx.x] = dynamic[threadIdx.x] = 1.0f;  // what the next block must not see
}

template <class T, int kCount>
__global__ void template_kernel(T* out) {
  __shared__ T tile[kCount];
  for (int i = static_cast<int>(threadIdx.x); i < kCount; i += static_cast<int>(blockDim.x))
    tile[i] = static_cast<T>(i + kCount);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kCount; i += static_cast<int>(blockDim.x))
    out[i] = tile[kCount - 1 - i];
}

__global__ void two_views_kernel(unsigned char* out) {
  extern __shared__ unsigned char bytes[];
  extern __shared__ __align__(16) unsigned words[];
  if (threadIdx.x == 0) words[1] = 0x04030201u;
  __syncthreads();
  if (threadIdx.x < 4) out[threadIdx.x] = bytes[4 + threadIdx.x];
}

__global__ void file_scope_kernel(float* out) {
  file_scope_dynamic[threadIdx.x] = static_cast<float>(threadIdx.x + blockIdx.x);
  __syncthreads();
  out[blockIdx.x * blockDim.x + threadIdx.x] = file_scope_dynamic[blockDim.x - 1 - threadIdx.x];
}

__global__ void per_block_kernel(int* out) {
  __shared__ int owner;
  if (threadIdx.x == 0) owner = static_cast<int>(blockIdx.x);
  for (int i = 0; i < 20; ++i) {
    __syncthreads();
    if (owner != static_cast<int>(blockIdx.x)) atomicAdd(out, 1);
  }
}

__device__ int shared_in_a_device_function(int value) {
  __shared__ int slots[64];
  slots[threadIdx.x] = value;
  __syncthreads();
  return slots[(threadIdx.x + 1) % blockDim.x];
}

__global__ void device_function_kernel(int* out) {
  out[threadIdx.x] = shared_in_a_device_function(static_cast<int>(threadIdx.x));
}

}  // namespace

TEST_CASE("shared memory holds no value until a thread of the block writes one", "[simt][shared]") {
  const FreshDevice device;
  float* out = device_array<float>(200);
  uninitialised_kernel<<<100, 1, 128>>>(out);
  for (const float value : to_host(out, 200)) REQUIRE(std::isnan(value));
}

TEST_CASE("a kernel template has shared memory of its own for each instance", "[simt][shared]") {
  const FreshDevice device;
  double* doubles = device_array<double>(300);
  short* shorts = device_array<short>(7);
  template_kernel<double, 300><<<1, 64>>>(doubles);
  template_kernel<short, 7><<<1, 64>>>(shorts);
  const auto wide = to_host(doubles, 300);
  for (std::size_t i = 0; i < 300; ++i) REQUIRE(wide[i] == static_cast<double>(599 - i));
  REQUIRE(to_host(shorts, 7) == std::vector<short>{13, 12, 11, 10, 9, 8, 7});
}

TEST_CASE("all arrays of dynamic shared memory begin at the same place", "[simt][shared]") {
  const FreshDevice device;
  unsigned char* out = device_array<unsigned char>(4);
  two_views_kernel<<<1, 32, 64>>>(out);
  REQUIRE(to_host(out, 4) == std::vector<unsigned char>{1, 2, 3, 4});
}

TEST_CASE("dynamic shared memory can be declared outside of the kernel", "[simt][shared]") {
  const FreshDevice device;
  float* out = device_array<float>(64 * 20);
  for (int launch = 0; launch < 3; ++launch) file_scope_kernel<<<20, 64, 64 * sizeof(float)>>>(out);
  const auto got = to_host(out, 64 * 20);
  for (std::size_t i = 0; i < got.size(); ++i) REQUIRE(got[i] == static_cast<float>(63 - i % 64 + i / 64));
}

TEST_CASE("blocks that run at the same time do not share their shared memory", "[simt][shared]") {
  const FreshDevice device;
  int* mixed_up = device_array<int>(1);
  per_block_kernel<<<200, 32>>>(mixed_up);
  REQUIRE(to_host(mixed_up, 1)[0] == 0);
}

TEST_CASE("a device function may declare shared memory", "[simt][shared]") {
  const FreshDevice device;
  int* out = device_array<int>(64);
  device_function_kernel<<<1, 64>>>(out);
  const auto got = to_host(out, 64);
  for (int i = 0; i < 64; ++i) REQUIRE(got[static_cast<std::size_t>(i)] == (i + 1) % 64);
}
