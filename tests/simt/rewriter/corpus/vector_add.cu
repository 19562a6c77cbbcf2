// Modern C++: a namespace, constants, checked launches.
#include <cuda_runtime.h>

#include <cstdint>
#include <stdexcept>
#include <string>

namespace course {
namespace {

constexpr int kBlockThreads = 256;

__global__ void vector_add_kernel(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c,
                                  int64_t n) {
  const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

void check(cudaError_t status, const char* what, int line) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + " at line " + std::to_string(line));
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, int64_t n) {
  if (n < 0) throw std::invalid_argument("n is " + std::to_string(n) + "; it must not be negative");
  if (n == 0) return;
  const auto blocks = static_cast<unsigned>((n + kBlockThreads - 1) / kBlockThreads);
  vector_add_kernel<<<blocks, kBlockThreads>>>(a, b, c, n);
  check(cudaGetLastError(), "vector_add_kernel<<<blocks, threads>>>", __LINE__);
}

}  // namespace course
