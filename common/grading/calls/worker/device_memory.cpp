// The part of a backend that is the same on a GPU and in the simulator: plain CUDA runtime calls.
#include <cuda_runtime.h>
#include <fmt/format.h>

#include <stdexcept>

#include "grading/calls/worker/backend.hpp"

namespace course::grading::backend {
namespace {

std::string describe(cudaError_t error) {
  return fmt::format("{} ({})", cudaGetErrorString(error), cudaGetErrorName(error));
}

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();  // ours, not the student's
  throw std::runtime_error(fmt::format("The grader could not {}: {}.", what, describe(error)));
}

}  // namespace

void* allocate(std::size_t bytes) {
  void* device = nullptr;
  check(cudaMalloc(&device, bytes), "allocate device memory for the arrays of this case");
  return device;
}

void copy_to_device(void* device, const void* host, std::size_t bytes) {
  check(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice), "copy an array to the device");
}

void copy_to_host(void* host, const void* device, std::size_t bytes) {
  check(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost), "copy an array back from the device");
}

void release(void* device) { check(cudaFree(device), "free device memory"); }

std::string take_pending_error() {
  const cudaError_t error = cudaGetLastError();
  return error == cudaSuccess ? std::string() : describe(error);
}

std::string limit_behind(std::string_view exception_message) {
  int bytes = 0;
  if (exception_message.find("cudaFuncAttributeMaxDynamicSharedMemorySize") == std::string_view::npos ||
      exception_message.find(cudaGetErrorName(cudaErrorInvalidValue)) == std::string_view::npos ||
      cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0) != cudaSuccess)
    return {};
  return fmt::format("A block may have at most {} bytes of shared memory here. Take smaller tiles.", bytes);
}

}  // namespace course::grading::backend
