#include <cstring>

#include "support.hpp"

namespace {

__global__ void empty_kernel() {}
__global__ void crash_kernel(int* pointer) { *pointer = 1; }

}  // namespace

TEST_CASE("a refused launch is kept by peek, cleared by get, and not cleared by a good launch",
          "[simt][errors]") {
  const FreshDevice device;
  empty_kernel<<<1, 2048>>>();
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidValue);
  empty_kernel<<<1, 32>>>();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  REQUIRE(cudaPeekAtLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaErrorInvalidValue);
  REQUIRE(cudaGetLastError() == cudaSuccess);
}

TEST_CASE("a fault in a kernel surfaces at the next waiting call and sticks", "[simt][errors]") {
  const FreshDevice device;
  int* data = device_array<int>(4);
  crash_kernel<<<1, 1>>>(nullptr);
  REQUIRE(cudaGetLastError() == cudaSuccess);  // the launch itself was fine
  REQUIRE(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  REQUIRE(cudaGetLastError() == cudaErrorIllegalAddress);
  REQUIRE(cudaGetLastError() == cudaErrorIllegalAddress);
  int host = 0;
  REQUIRE(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
  void* pointer = nullptr;
  REQUIRE(cudaMalloc(&pointer, 4) == cudaErrorIllegalAddress);
  REQUIRE(cudaFree(data) == cudaErrorIllegalAddress);
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  REQUIRE(cudaMalloc(&pointer, 4) == cudaSuccess);
}

TEST_CASE("what was recorded before a reset of the device is still there after it", "[simt][errors]") {
  const FreshDevice device;
  int* data = device_array<int>(4);
  (void)to_host(data, 4);
  empty_kernel<<<1, 32>>>();
  crash_kernel<<<1, 1>>>(nullptr);
  REQUIRE(cudaDeviceSynchronize() == cudaErrorIllegalAddress);
  REQUIRE(cudaDeviceReset() == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(only_fault().kind == "null_pointer");
  CHECK(simt::take_launches().size() == 2);
  const simt::HostCopies copies = simt::take_host_copies();
  CHECK(copies.to_host == 16);
  CHECK(copies.read.size() == 1);
  CHECK(copies.written.size() == 1);
}

TEST_CASE("a fault surfaces at a copy as well", "[simt][errors]") {
  const FreshDevice device;
  int* data = device_array<int>(4);
  crash_kernel<<<1, 1>>>(nullptr);
  int host = 0;
  REQUIRE(cudaMemcpy(&host, data, 4, cudaMemcpyDeviceToHost) == cudaErrorIllegalAddress);
}

TEST_CASE("error codes have CUDA's names, texts and numbers", "[simt][errors]") {
  REQUIRE(std::strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
  REQUIRE(std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
  REQUIRE(std::strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
  REQUIRE(std::strcmp(cudaGetErrorString(cudaErrorIllegalAddress),
                      "an illegal memory access was encountered") == 0);
  REQUIRE(std::strcmp(cudaGetErrorString(static_cast<cudaError_t>(1000)), "unrecognized error code") == 0);
  REQUIRE(static_cast<int>(cudaErrorIllegalAddress) == 700);
  REQUIRE(static_cast<int>(cudaErrorLaunchFailure) == 719);
}

TEST_CASE("what only kernels may call throws in host code", "[simt][errors]") {
  REQUIRE_THROWS_WITH(__syncthreads(), Catch::Matchers::ContainsSubstring("exists only inside kernels"));
  REQUIRE_THROWS_AS(__shfl_sync(~0u, 1, 0), std::logic_error);
}
