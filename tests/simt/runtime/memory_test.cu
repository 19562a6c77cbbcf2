#include <cmath>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#include "support.hpp"

namespace {

__global__ void write_at_kernel(int* data, int index) { data[index] = 7; }
__global__ void touch_kernel(float* data, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) data[i] = data[i] + 1.0f;
}
__device__ int device_counter;
__constant__ float factors[4];
__global__ void symbols_kernel(float* out) {
  out[threadIdx.x] = factors[threadIdx.x] * static_cast<float>(device_counter);
  __syncthreads();  // everybody has read the counter
  if (threadIdx.x == 0) device_counter += 1;
}

}  // namespace

TEST_CASE("fresh device memory reads as NaN", "[simt][memory]") {
  const FreshDevice device;
  float* data = nullptr;
  REQUIRE(cudaMalloc(&data, 40) == cudaSuccess);
  for (const float value : to_host(data, 10)) REQUIRE(std::isnan(value));
}

TEST_CASE("cudaMalloc of nothing is a null pointer and freeing that is fine", "[simt][memory]") {
  const FreshDevice device;
  void* pointer = &pointer;
  REQUIRE(cudaMalloc(&pointer, 0) == cudaSuccess);
  REQUIRE(pointer == nullptr);
  REQUIRE(cudaFree(nullptr) == cudaSuccess);
}

TEST_CASE("cudaMalloc of more than there is reports out of memory and is no sticky error", "[simt][memory]") {
  const FreshDevice device;
  void* pointer = &pointer;
  REQUIRE(cudaMalloc(&pointer, std::size_t{1} << 50) == cudaErrorMemoryAllocation);
  REQUIRE(pointer == nullptr);
  REQUIRE(cudaGetLastError() == cudaErrorMemoryAllocation);
  REQUIRE(cudaGetLastError() == cudaSuccess);
  REQUIRE(cudaMalloc(&pointer, 4) == cudaSuccess);
}

TEST_CASE("allocations are aligned to 256 bytes, apart from each other, and reused after a free",
          "[simt][memory]") {
  const FreshDevice device;
  std::vector<char*> pointers;
  for (std::size_t bytes = 1; bytes < 2000; bytes += 37) {
    char* pointer = nullptr;
    REQUIRE(cudaMalloc(&pointer, bytes) == cudaSuccess);
    REQUIRE(reinterpret_cast<std::uintptr_t>(pointer) % 256 == 0);
    if (!pointers.empty()) REQUIRE(pointer - pointers.back() >= 256 + 256);
    pointers.push_back(pointer);
  }
  for (std::size_t i = 0; i < pointers.size(); i += 2) REQUIRE(cudaFree(pointers[i]) == cudaSuccess);
  for (std::size_t i = 1; i < pointers.size(); i += 2) REQUIRE(cudaFree(pointers[i]) == cudaSuccess);
  char* again = nullptr;
  REQUIRE(cudaMalloc(&again, 30000) == cudaSuccess);  // fits only if the holes were joined
  REQUIRE(again == pointers.front());
}

TEST_CASE("device memory can be made smaller, for all that allocates it", "[simt][memory]") {
  const FreshDevice device;
  simt::configure({.max_memory_bytes = 1000});
  char *first = nullptr, *second = nullptr;
  REQUIRE(cudaMalloc(&first, 600) == cudaSuccess);
  std::size_t free = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  REQUIRE(total == 1000);
  REQUIRE(free == 400);
  REQUIRE(cudaMalloc(&second, 401) == cudaErrorMemoryAllocation);
  REQUIRE(cudaMallocAsync(&second, 401, nullptr) == cudaErrorMemoryAllocation);
  REQUIRE(cudaMalloc(&second, 400) == cudaSuccess);
  REQUIRE(cudaFree(first) == cudaSuccess);
  REQUIRE(cudaMalloc(&first, 600) == cudaSuccess);
}

TEST_CASE("freeing a pointer that is not an allocation says so", "[simt][memory]") {
  const FreshDevice device;
  int* data = device_array<int>(10);
  REQUIRE(cudaFree(data + 1) == cudaErrorInvalidValue);
  int on_host = 0;
  REQUIRE(cudaFree(&on_host) == cudaErrorInvalidValue);
  REQUIRE(cudaFree(data) == cudaSuccess);
  REQUIRE(cudaFree(data) == cudaErrorInvalidValue);
  const auto faults = simt::take_faults();
  REQUIRE(faults.size() == 3);
  REQUIRE_THAT(faults[2].message, Catch::Matchers::ContainsSubstring("freed before"));
  REQUIRE_THAT(faults[2].message, Catch::Matchers::ContainsSubstring("memory_test.cu:"));
}

TEST_CASE("live allocations are listed with the line that made them", "[simt][memory]") {
  const FreshDevice device;
  float* data = nullptr;
  const int line = __LINE__ + 1;
  REQUIRE(cudaMalloc(&data, 400) == cudaSuccess);
  const auto live = simt::live_allocations();
  REQUIRE(live.size() == 1);
  REQUIRE(live[0].bytes == 400);
  REQUIRE(live[0].pointer == data);
  REQUIRE(live[0].line == line);
  REQUIRE_THAT(live[0].file, Catch::Matchers::ContainsSubstring("memory_test.cu"));
  cudaFree(data);
  REQUIRE(simt::live_allocations().empty());
}

TEST_CASE("managed and page-locked allocations are live until they are freed, or the device is reset",
          "[simt][memory]") {
  const FreshDevice device;
  float *device_data = nullptr, *managed = nullptr, *locked = nullptr;
  REQUIRE(cudaMallocManaged(&managed, 400) == cudaSuccess);
  const std::uint64_t before = simt::allocations_so_far();
  REQUIRE(cudaMallocHost(&locked, 8) == cudaSuccess);
  REQUIRE(cudaMalloc(&device_data, 16) == cudaSuccess);
  const auto live = simt::live_allocations();
  REQUIRE(live.size() == 3);
  REQUIRE(live[0].pointer == managed);
  REQUIRE(live[0].bytes == 400);
  REQUIRE_THAT(live[0].file, Catch::Matchers::ContainsSubstring("memory_test.cu"));
  REQUIRE(live[1].pointer == locked);
  REQUIRE(live[2].pointer == device_data);
  REQUIRE(simt::live_allocations(before).size() == 2);
  std::vector<float> own(4);
  REQUIRE(cudaHostRegister(own.data(), 16, 0) == cudaSuccess);  // memory that is the program's own
  REQUIRE(cudaFree(managed) == cudaSuccess);
  REQUIRE(simt::live_allocations().size() == 2);
  REQUIRE(cudaHostUnregister(own.data()) == cudaSuccess);
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  REQUIRE(simt::live_allocations().empty());
}

TEST_CASE("a write past the end of an allocation is reported with its distance", "[simt][memory]") {
  const FreshDevice device;
  int* data = device_array<int>(10);
  write_at_kernel<<<1, 1>>>(data, 12);
  simt::Fault fault = only_fault();
  REQUIRE(fault.kind == "out_of_bounds");
  REQUIRE_THAT(fault.message, Catch::Matchers::ContainsSubstring("write_at_kernel") &&
                                  Catch::Matchers::ContainsSubstring("40 bytes") &&
                                  Catch::Matchers::ContainsSubstring("8 bytes past its end"));
  write_at_kernel<<<1, 1>>>(data, -1);
  REQUIRE_THAT(only_fault().message, Catch::Matchers::ContainsSubstring("4 bytes before its start"));
  write_at_kernel<<<1, 1>>>(data, 9);
  REQUIRE(simt::take_faults().empty());
  REQUIRE(cudaGetLastError() == cudaSuccess);  // as on a GPU, where such a write goes unnoticed
}

TEST_CASE("copies check their direction and their bounds", "[simt][memory]") {
  const FreshDevice device;
  int* data = device_array<int>(10);
  int host[10] = {};
  REQUIRE(cudaMemcpy(data, host, 40, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(host, data, 40, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(host, data, 44, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(nullptr, data, 4, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(host, data, 40, static_cast<cudaMemcpyKind>(7)) == cudaErrorInvalidMemcpyDirection);
  REQUIRE(cudaMemcpy(host, data, 40, cudaMemcpyDefault) == cudaSuccess);
  REQUIRE(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyDeviceToHost) == cudaSuccess);
  const auto faults = simt::take_faults();
  REQUIRE(faults.size() == 4);
  REQUIRE_THAT(faults[0].message,
               Catch::Matchers::ContainsSubstring("destination is device memory, the source is host memory"));
  REQUIRE_THAT(faults[2].message,
               Catch::Matchers::ContainsSubstring("goes beyond the allocation of its source"));
}

TEST_CASE("copies and fills end where managed or page-locked memory does", "[simt][memory]") {
  const FreshDevice device;
  const bool managed = GENERATE(false, true);
  void* memory = nullptr;
  REQUIRE((managed ? cudaMallocManaged(&memory, 40) : cudaMallocHost(&memory, 40)) == cudaSuccess);
  int host[11] = {};
  REQUIRE(cudaMemcpy(memory, host, 40, cudaMemcpyDefault) == cudaSuccess);
  REQUIRE(cudaMemcpy(memory, host, 44, cudaMemcpyDefault) == cudaErrorInvalidValue);
  REQUIRE(cudaMemcpy(host, memory, 44, cudaMemcpyDefault) == cudaErrorInvalidValue);
  REQUIRE(cudaMemset(memory, 0, 40) == cudaSuccess);
  REQUIRE(cudaMemset(memory, 0, 44) == cudaErrorInvalidValue);
  REQUIRE(cudaMemset(memory, 0, ~std::size_t{0}) == cudaErrorInvalidValue);
  REQUIRE(simt::take_faults().size() == 4);
  REQUIRE((managed ? cudaFree(memory) : cudaFreeHost(memory)) == cudaSuccess);
}

TEST_CASE("rows are copied and set with gaps between them and without", "[simt][memory]") {
  const FreshDevice device;
  const int numbers[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
  int* data = device_array<int>(10);
  REQUIRE(cudaMemcpy2D(data, 4, numbers, 4, 4, 10, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemset2D(data + 8, 4, 0xff, 4, 2) == cudaSuccess);
  int host[10] = {};
  REQUIRE(cudaMemcpy2DAsync(host, 4, data, 4, 4, 10, cudaMemcpyDeviceToHost, nullptr) == cudaSuccess);
  for (int i = 0; i < 10; ++i) REQUIRE(host[i] == (i < 8 ? i : -1));
  REQUIRE(cudaMemcpy2D(host, 4, data, 8, 4, 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  for (int i = 0; i < 4; ++i) REQUIRE(host[i] == 2 * i);
  REQUIRE(cudaMemcpy2D(host, 4, data, 4, 4, 11, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  // All rows together have 0 bytes, if nobody looks.
  const std::size_t too_many = std::size_t{1} << 62;
  REQUIRE(cudaMemcpy2D(host, 4, data, 4, 4, too_many, cudaMemcpyDeviceToHost) == cudaErrorInvalidValue);
  REQUIRE(simt::take_faults().size() == 2);
}

TEST_CASE("memset, copies on the device and offsets into an allocation work", "[simt][memory]") {
  const FreshDevice device;
  unsigned char* data = device_array<unsigned char>(100, 1);
  REQUIRE(cudaMemset(data + 10, 0xab, 20) == cudaSuccess);
  REQUIRE(cudaMemcpy(data + 50, data + 10, 20, cudaMemcpyDeviceToDevice) == cudaSuccess);
  const auto got = to_host(data, 100);
  for (std::size_t i = 0; i < 100; ++i)
    REQUIRE(got[i] == ((i >= 10 && i < 30) || (i >= 50 && i < 70) ? 0xab : 1));
  REQUIRE(cudaMemset(data + 90, 0, 20) == cudaErrorInvalidValue);
}

TEST_CASE("managed and page-locked memory is shared by host code and kernels", "[simt][memory]") {
  const FreshDevice device;
  float *managed = nullptr, *pinned = nullptr;
  REQUIRE(cudaMallocManaged(&managed, 400) == cudaSuccess);
  REQUIRE(cudaMallocHost(&pinned, 400) == cudaSuccess);
  for (int i = 0; i < 100; ++i) managed[i] = pinned[i] = static_cast<float>(i);
  touch_kernel<<<2, 64>>>(managed, 100);
  touch_kernel<<<2, 64>>>(pinned, 100);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(managed[99] == 100.0f);
  REQUIRE(pinned[0] == 1.0f);
  cudaPointerAttributes attributes{};
  REQUIRE(cudaPointerGetAttributes(&attributes, managed + 3) == cudaSuccess);
  REQUIRE(attributes.type == cudaMemoryTypeManaged);
  REQUIRE(cudaFree(managed) == cudaSuccess);
  REQUIRE(cudaFreeHost(pinned) == cudaSuccess);
}

TEST_CASE("device and constant variables are set from host code", "[simt][memory]") {
  const FreshDevice device;
  const float values[4] = {1.0f, 2.0f, 3.0f, 4.0f};
  const int three = 3;
  REQUIRE(cudaMemcpyToSymbol(factors, values, sizeof values) == cudaSuccess);
  REQUIRE(cudaMemcpyToSymbol(device_counter, &three, sizeof three) == cudaSuccess);
  float* out = device_array<float>(4);
  symbols_kernel<<<1, 4>>>(out);
  int counter = 0;
  REQUIRE(cudaMemcpyFromSymbol(&counter, device_counter, sizeof counter) == cudaSuccess);
  REQUIRE(counter == 4);
  REQUIRE(to_host(out, 4) == std::vector<float>{3.0f, 6.0f, 9.0f, 12.0f});
}

TEST_CASE("memory info follows allocations", "[simt][memory]") {
  const FreshDevice device;
  std::size_t free_before = 0, free_after = 0, total = 0;
  REQUIRE(cudaMemGetInfo(&free_before, &total) == cudaSuccess);
  device_array<char>(1 << 20);
  REQUIRE(cudaMemGetInfo(&free_after, &total) == cudaSuccess);
  REQUIRE(free_before - free_after == 1 << 20);
  REQUIRE(free_before == total);
}

TEST_CASE("what host code copies to and from the device is counted until somebody asks", "[simt][memory]") {
  const FreshDevice device;
  float *x = nullptr, *y = nullptr;
  REQUIRE(cudaMalloc(&x, 400) == cudaSuccess);
  REQUIRE(cudaMalloc(&y, 400) == cudaSuccess);
  (void)simt::take_host_copies();
  float host[100] = {};
  REQUIRE(cudaMemcpy(host, x + 10, 40, cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(cudaMemcpyAsync(y, host, 80, cudaMemcpyHostToDevice, nullptr) == cudaSuccess);
  REQUIRE(cudaMemcpy(y + 50, x, 40, cudaMemcpyDeviceToDevice) == cudaSuccess);
  REQUIRE(cudaMemset(x, 0, 400) == cudaSuccess);  // writes no numbers that the host has computed
  void* shared = nullptr;
  REQUIRE(cudaMallocHost(&shared, 64) == cudaSuccess);
  const simt::HostCopies copies = simt::take_host_copies();
  CHECK(copies.to_host == 40);
  CHECK(copies.within == 40);
  CHECK(copies.shared == 64);
  REQUIRE(copies.read.size() == 1);
  CHECK(copies.read[0].begin == x + 10);
  CHECK(copies.read[0].bytes == 40);
  REQUIRE(copies.written.size() == 2);
  CHECK(copies.written[0].begin == y);
  CHECK(copies.written[0].bytes == 80);
  CHECK(copies.written[1].begin == y + 50);
  CHECK(simt::take_host_copies().written.empty());
  REQUIRE(cudaFreeHost(shared) == cudaSuccess);
}

TEST_CASE("sizes that no memory has are refused, and counted for nothing", "[simt][memory]") {
  const FreshDevice device;
  constexpr std::size_t kHalf = std::size_t{1} << 63;
  (void)simt::take_host_copies();
  char host[64] = {}, other[64] = {};
  CHECK(cudaHostRegister(host, sizeof host, 0) == cudaSuccess);
  CHECK(cudaHostRegister(host, kHalf, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(reinterpret_cast<void*>(kHalf), kHalf - 64, 0) == cudaErrorInvalidValue);
  CHECK(cudaHostRegister(nullptr, 64, 0) == cudaErrorInvalidValue);
  CHECK(cudaMemcpyAsync(host, other, std::size_t{0} - 64, cudaMemcpyHostToHost, nullptr) ==
        cudaErrorInvalidValue);
  const simt::HostCopies copies = simt::take_host_copies();
  CHECK(copies.shared == 64);
  CHECK(copies.to_host == 0);
  CHECK(cudaHostUnregister(host) == cudaSuccess);
  CHECK(simt::take_faults().at(0).kind == "bad_copy");
}

TEST_CASE("kernels cannot touch fenced pages, until the memory is freed", "[simt][memory]") {
  const FreshDevice device;
  const std::size_t page = 4096;
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, 4 * page) == cudaSuccess);
  int* const begin = x + (page - reinterpret_cast<std::uintptr_t>(x) % page) / sizeof(int);
  constexpr int kWords = 1024;
  CHECK_THROWS_AS(simt::fence_device_range(begin + 1, page), std::invalid_argument);
  simt::fence_device_range(begin + kWords, page);
  write_at_kernel<<<1, 1>>>(begin, kWords - 1);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  write_at_kernel<<<1, 1>>>(begin, 2 * kWords);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  write_at_kernel<<<1, 1>>>(begin, kWords);
  CHECK(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  CHECK(simt::take_faults().at(0).kind == "illegal_address");
}

TEST_CASE("memory that was fenced and freed is as any other", "[simt][memory]") {
  const FreshDevice device;
  const std::size_t page = 4096;
  int* x = nullptr;
  REQUIRE(cudaMalloc(&x, 4 * page) == cudaSuccess);
  int* const begin = x + (page - reinterpret_cast<std::uintptr_t>(x) % page) / sizeof(int);
  simt::fence_device_range(begin, page);
  REQUIRE(cudaFree(x) == cudaSuccess);
  int* again = nullptr;
  REQUIRE(cudaMalloc(&again, 4 * page) == cudaSuccess);
  REQUIRE(again == x);
  write_at_kernel<<<1, 1>>>(begin, 0);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
}
