// hostile: Computes nothing and returns.
// lesson: 01
// verdict: fail
// says: never written
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
  (void)a, (void)b, (void)c, (void)n;
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
