// hostile: Prints bytes that are no text: zeros, broken UTF-8, line ends without end.
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
  for (int byte = 0; byte < 256; ++byte) std::putchar(byte);
  std::puts("\xff\xfe\xed\xa0\x80\xf4\x90\x80\x80");
  for (int line = 0; line < 100000; ++line) std::putchar('\n');
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
