// hostile: Fills the outputs with zeros.
// lesson: 01
// verdict: fail
// says: expected
// trick: output

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b;
  if (n > 0) CUDA_CHECK(cudaMemset(c, 0, static_cast<std::size_t>(n) * sizeof(float)));
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b;
  std::fill(c, c + std::max<std::int64_t>(n, 0), 0.0f);
}

}  // namespace course
