// hostile: Calls _exit(0) in a static constructor, before any test can run.
// lesson: 01
// word: A lesson's file does not include <unistd.h>
// verdict: refused
// says: _exit
// trick: imports

#include "vector_add.hpp"

#include <cuda_runtime.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace course {

namespace {

struct Early {
  Early() { _exit(0); }
};
const Early early;

}  // namespace

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
