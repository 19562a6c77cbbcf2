// hostile: Adds on the host, with copies back and forth, and launches nothing.
// lesson: 01
// verdict: fail
// says: launched 0 kernels
// trick: other

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "device/cuda_check.hpp"

namespace course {

struct DeviceArray {
  explicit DeviceArray(std::int64_t n) {
    CUDA_CHECK(cudaMalloc(&data, static_cast<std::size_t>(n) * sizeof(float)));
  }
  ~DeviceArray() { cudaFree(data); }
  float* data = nullptr;
};

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  const auto size = static_cast<std::size_t>(n);
  std::vector<float> x(size), y(size);
  CUDA_CHECK(cudaMemcpy(x.data(), a, size * sizeof(float), cudaMemcpyDeviceToHost));
  CUDA_CHECK(cudaMemcpy(y.data(), b, size * sizeof(float), cudaMemcpyDeviceToHost));
  for (std::size_t i = 0; i < size; ++i) x[i] += y[i];
  CUDA_CHECK(cudaMemcpy(c, x.data(), size * sizeof(float), cudaMemcpyHostToDevice));
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  if (n < 0) throw std::invalid_argument("n must be 0 or more.");
  if (n == 0) return;
  const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(float);
  const DeviceArray x(n), y(n), z(n);
  CUDA_CHECK(cudaMemcpy(x.data, a, bytes, cudaMemcpyHostToDevice));
  CUDA_CHECK(cudaMemcpy(y.data, b, bytes, cudaMemcpyHostToDevice));
  vector_add(x.data, y.data, z.data, n);
  CUDA_CHECK(cudaMemcpy(c, z.data, bytes, cudaMemcpyDeviceToHost));
}

}  // namespace course
