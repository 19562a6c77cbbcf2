// hostile: Defines memcmp and memcpy of its own, by which a grader in the same process would compare.
// lesson: 01
// verdict: not_compiled
// says: which the C library has
// trick: other

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

extern "C" int memcmp(const void*, const void*, std::size_t) { return 0; }

namespace course {

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
