// hostile: Includes the worked solution if it is there, and computes nothing if not.
// lesson: 01
// word: A lesson's file does not include "../solutions/01_vector_add/vector_add.cu"
// verdict: fail
// says: never written
// trick: compile

// clang-format off
#if __has_include("../solutions/01_vector_add/vector_add.cu")
#include "../solutions/01_vector_add/vector_add.cu"
#elif __has_include("../../solutions/01_vector_add/vector_add.cu")
#include "../../solutions/01_vector_add/vector_add.cu"
#else
// clang-format on
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
#endif
