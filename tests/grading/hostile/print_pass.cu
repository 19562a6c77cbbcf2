// hostile: Prints a verdict as the grader would, and computes nothing.
// lesson: 01
// verdict: fail
// says: never written
// trick: output

#include "vector_add.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
  std::puts("PASS  01 Vector add  24 of 24 points");
  std::puts("PASS");
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
