#include "grading/calls/failed_call.hpp"

#include <signal.h>

#include "grading/calls/protocol.hpp"
#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr Progress kRunning{"vector_add", true};
constexpr Progress kLoading{"vector_add", false};

int exited(int code) { return code << 8; }

}  // namespace

TEST_CASE("each way of dying has a sentence of its own") {
  CHECK_THAT(describe_death(SIGSEGV, kRunning), ContainsSubstring("crashed in vector_add"));
  CHECK_THAT(describe_death(SIGFPE, kRunning), ContainsSubstring("divided an integer by zero"));
  CHECK_THAT(describe_death(SIGABRT, kRunning), ContainsSubstring("called abort() in vector_add"));
  CHECK_THAT(describe_death(SIGKILL, kRunning), ContainsSubstring("more memory than this machine has"));
  CHECK_THAT(describe_death(SIGILL, kRunning), ContainsSubstring("cannot happen"));
  CHECK_THAT(describe_death(SIGSYS, kRunning),
             ContainsSubstring("asked the system in vector_add for something"));
  CHECK_THAT(describe_hunger(std::uint64_t{3} << 30, kRunning),
             ContainsSubstring("more than 3072 MiB of memory"));
  CHECK(describe_impatience(3, "vector_add") ==
        "Skipped: vector_add was not called, because 3 calls before this one never came back.");
  CHECK_THAT(
      describe_slow_answers(12, 41.2, "vector_add"),
      ContainsSubstring("vector_add asked for a result of the device 12 times, and its kernels took 41 s"));
  CHECK(describe_impatience_with_hunger(4, "vector_add") ==
        "Skipped: vector_add was not called, because 4 calls before this one held too much memory.");
  CHECK_THAT(describe_death(SIGUSR1, kRunning), ContainsSubstring("signal 10"));
  CHECK_THAT(describe_death(exited(0), kRunning), ContainsSubstring("exit status 0"));
  CHECK(describe_death(exited(kExitChannelLost), kRunning) == describe_broken_channel(kRunning));
}

TEST_CASE("an end before the call points at static objects") {
  CHECK_THAT(describe_death(SIGSEGV, kLoading), ContainsSubstring("global and static objects"));
  CHECK_THAT(describe_death(exited(0), kLoading), ContainsSubstring("before any function was called"));
  CHECK_THAT(describe_timeout(10, kLoading), ContainsSubstring("could not be loaded"));
}

TEST_CASE("a time-out names the entry and the seconds") {
  CHECK(describe_timeout(10, kRunning) ==
        "vector_add never came back: it was still running after 10 s and was stopped. Look for a loop whose "
        "condition never becomes false, or a loop that takes far more steps than it needs, in the host code "
        "and in the kernels.");
}
