// hostile: Overwrites the frames of its callers, which are the grader's.
// lesson: 01
// verdict: fail
// says: host code wrote
// trick: other
// naive: no

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
  volatile long here = 0;
  for (int i = 16; i < 4096; ++i) (&here)[i] = 0;
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
