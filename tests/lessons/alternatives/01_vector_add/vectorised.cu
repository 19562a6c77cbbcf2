// Alternative for lesson 01: four elements an access where the arrays allow it, memory owned by unique_ptr.

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "device/cuda_check.hpp"

namespace course {
namespace {

/// Adds groups of four as float4, which takes one load an array instead of four, then the up to three
/// elements that are left. a, b and c are aligned to 16 bytes.
__global__ void add_float4_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  const std::int64_t first = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  const std::int64_t stride = std::int64_t{gridDim.x} * blockDim.x;
  const std::int64_t groups = n / 4;
  for (std::int64_t group = first; group < groups; group += stride) {
    const float4 x = reinterpret_cast<const float4*>(a)[group];
    const float4 y = reinterpret_cast<const float4*>(b)[group];
    reinterpret_cast<float4*>(c)[group] = make_float4(x.x + y.x, x.y + y.y, x.z + y.z, x.w + y.w);
  }
  const std::int64_t tail = 4 * groups + first;
  if (tail < n) c[tail] = a[tail] + b[tail];
}

__global__ void add_float_kernel(const float* a, const float* b, float* c, std::int64_t n) {
  std::int64_t i = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  for (; i < n; i += std::int64_t{gridDim.x} * blockDim.x) c[i] = a[i] + b[i];
}

bool is_aligned(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignof(float4) == 0;
}

struct CudaFree {
  void operator()(float* pointer) const { cudaFree(pointer); }
};

std::unique_ptr<float, CudaFree> allocate(std::size_t bytes) {
  float* pointer = nullptr;
  CUDA_CHECK(cudaMalloc(&pointer, bytes));
  return std::unique_ptr<float, CudaFree>(pointer);
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n is negative");
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>(std::min((n - 1) / kBlockThreads + 1, kMaxBlocks));
  if (is_aligned(a) && is_aligned(b) && is_aligned(c)) {
    add_float4_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  } else {
    add_float_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  }
  CUDA_CHECK(cudaGetLastError());
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n is negative");
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const auto a_device = allocate(bytes), b_device = allocate(bytes), c_device = allocate(bytes);
  CUDA_CHECK(cudaMemcpy(a_device.get(), a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(b_device.get(), b, bytes, cudaMemcpyHostToDevice));
  vector_add(a_device.get(), b_device.get(), c_device.get(), n);
  CUDA_CHECK(cudaMemcpy(c, c_device.get(), bytes, cudaMemcpyDeviceToHost));
}

}  // namespace course
