// hostile: Ends the process in a function that the loader calls, marked as a constructor.
// lesson: 01
// word: A lesson's file does not include <sys/syscall.h>
// verdict: not_compiled
// says: has an asm statement
// trick: syscall

#include "vector_add.hpp"

#include <cuda_runtime.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "device/cuda_check.hpp"

namespace {

/// A system call without libc, whose functions the grader would refuse by name.
[[maybe_unused]] long system_call(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0,
                                  long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result = 0;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

}  // namespace

namespace course {

namespace {

__attribute__((constructor)) void early() { system_call(SYS_exit_group, 0); }

}  // namespace

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
