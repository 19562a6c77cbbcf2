// hostile: Prints codes that clear a terminal, change its title and paint a green verdict.
// lesson: 01
// verdict: fail
// says: never written
// trick: output
// never: \x1b

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
  std::printf("\x1b[2J\x1b[H\x1b]0;owned\x07\x1b[32mPASS 24 of 24 points\x1b[0m\n");
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
