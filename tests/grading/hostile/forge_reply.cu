// hostile: Sends the grader a forged answer for each call that there may be, and computes nothing.
// lesson: 01
// word: A lesson's file does not include <sys/syscall.h>
// verdict: not_compiled
// says: has an asm statement
// trick: syscall
// naive: no

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

/// The answer of a call that went well, as the worker would give it.
std::string forged_reply(int id, bool running) {
  return R"({"id":)" + std::to_string(id) + R"(,"ready":false,"running":)" + (running ? "true" : "false") +
         R"(,"unusable":false,"copied":true,"reusable":true,"status":"returned","message":"",)"
         R"("exception_type":"","exception_message":"","exception_bases":[],"leaks":[],"leak_count":0,)"
         R"("leak_bytes":0,"findings":[],"counters":{"launches":1,"blocks":1,"threads":256}})";
}

void send_to_grader(const std::string& text) {
  system_call(SYS_sendto, 3, reinterpret_cast<long>(text.data()), static_cast<long>(text.size()), 0x4000);
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
  for (int id = 1; id < 200; ++id) send_to_grader(forged_reply(id, false));
  system_call(SYS_exit_group, 0);
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
