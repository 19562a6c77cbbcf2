// hostile: Tells the grader for a minute that the call has begun, faster than it can read.
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
#include <chrono>
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
  std::string counters = "\"launches\":1";
  for (int i = 0; i < 3000; ++i) counters += ",\"c" + std::to_string(i) + "\":1";
  std::string message = forged_reply(1, true);
  message.replace(message.find("\"launches\":1"), std::string("\"launches\":1").size(), counters);
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - start < std::chrono::minutes(1)) send_to_grader(message);
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
