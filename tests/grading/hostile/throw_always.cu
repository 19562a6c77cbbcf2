// hostile: Throws whatever is asked, to get the points of all cases that expect an exception.
// lesson: 01
// verdict: fail
// says: threw std::
// trick: other

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
  throw std::runtime_error("n");
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c;
  if (n < 0) throw std::invalid_argument("n");
  throw std::runtime_error("n");
}

}  // namespace course
