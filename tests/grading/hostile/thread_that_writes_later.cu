// hostile: Returns at once; a thread writes to the output half a second later.
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

// The simulator refuses assembler by that word.
#define PASTE(a, b) a##b
#define ASSEMBLER PASTE(as, m)

namespace course {

namespace {

/// Starts a thread without libc. It shares everything and has a stack of its own.
void start_thread(void (*body)()) {
  static char stack[1 << 16];
  void** top = reinterpret_cast<void**>(stack + sizeof stack - 64);
  *top = reinterpret_cast<void*>(body);
  long result = 0;
  // CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM
  ASSEMBLER volatile(
      "syscall\n\t"
      "test %%rax, %%rax\n\t"
      "jnz 1f\n\t"
      "pop %%rax\n\t"
      "call *%%rax\n\t"
      "1:"
      : "=a"(result)
      : "a"(56L), "D"(0x00050f00L), "S"(top)
      : "rcx", "r11", "memory", "rdx", "r10", "r8", "r9");
}

/// For some time, and without libc: a thread that libc does not know must not call it.
void wait_seconds(long seconds) {
  const long duration[2] = {seconds, 0};
  system_call(SYS_nanosleep, reinterpret_cast<long>(duration), 0);
}

float* volatile target = nullptr;

void write_later() {
  wait_seconds(1);
  *target = 1.0f;
  system_call(SYS_exit, 0);
}

}  // namespace

void vector_add(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
  target = c;
  start_thread(write_later);
}

void vector_add_host(const float* a, const float* b, float* c, std::int64_t n) {
  (void)a, (void)b, (void)c, (void)n;
}

}  // namespace course
