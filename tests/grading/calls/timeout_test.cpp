// Code that never comes back.
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <vector>

#include "support/catch.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// While it lives, this process and those that it starts share one processor with so many that never rest.
class OneProcessor {
 public:
  explicit OneProcessor(int others) {
    sched_getaffinity(0, sizeof before_, &before_);
    int first = 0;
    while (!CPU_ISSET(first, &before_)) ++first;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    REQUIRE(sched_setaffinity(0, sizeof one, &one) == 0);
    for (int i = 0; i < others; ++i) {
      others_.push_back(fork());
      if (others_.back() == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (std::atomic<bool> rests = false; !rests.load();) {
        }
      }
    }
  }
  OneProcessor(const OneProcessor&) = delete;
  OneProcessor& operator=(const OneProcessor&) = delete;
  ~OneProcessor() {
    for (const pid_t other : others_) {
      kill(other, SIGKILL);
      waitpid(other, nullptr, 0);
    }
    sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  std::vector<pid_t> others_;
};

void check_stopped(Misdeed misdeed) {
  Session session(library("misbehave"));
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = misbehave(session, misdeed, 0.2);
  CHECK(seconds_since(start) < 5);
  CHECK(outcome.status == Status::timeout);
  CHECK_THAT(outcome.message, ContainsSubstring("still running after 0.2 s and was stopped"));
  CHECK(why_not_clean(misbehave(session, kNothing, 5)).empty());
}

}  // namespace

TEST_CASE("an endless loop in host code is stopped") { check_stopped(kLoopForever); }
TEST_CASE("host code that sleeps forever is stopped") { check_stopped(kSleepForever); }
TEST_CASE("code that ignores every signal is stopped") { check_stopped(kBlockSignals); }
TEST_CASE("code that leaves its process group is stopped") { check_stopped(kLeaveGroupThenHang); }

TEST_CASE("endless output is stopped, and its last lines are shown") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kPrintForever, 0.3);
  CHECK(outcome.status == Status::timeout);
  CHECK_THAT(outcome.printed, ContainsSubstring("the same line again and again"));
  CHECK(outcome.printed.size() < 10000);
}

TEST_CASE("a call without a processor may take longer by the clock, up to the busy factor") {
  SessionConfig config = library("misbehave");
  config.busy_factor = 3;
  Session session(config);
  auto start = std::chrono::steady_clock::now();
  const Outcome asleep = misbehave(session, kSleepForever, 0.5);
  CHECK(asleep.status == Status::timeout);
  CHECK_THAT(asleep.message,
             ContainsSubstring("Either it waits for what never comes, or this machine is busy"));
  CHECK(seconds_since(start) > 1.5);
  Session another(config);
  start = std::chrono::steady_clock::now();
  CHECK(misbehave(another, kLoopForever, 0.5).status == Status::timeout);
  CHECK(seconds_since(start) > 0.5);
}

TEST_CASE("the time in which a call stands in line for a processor does not count") {
  if (!std::filesystem::exists("/proc/self/schedstat")) {
    WARN("this kernel does not count that time");
    return;
  }
  constexpr double kSeconds = 0.2, kLimit = 0.72;  // by the processor, with what the grader adds
  SessionConfig config = library("misbehave");
  config.busy_factor = 1.5;
  const OneProcessor with_others(3);
  Session session(config);
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = misbehave(session, kLoopForever, kSeconds);
  CHECK(seconds_since(start) > 1.2 * config.busy_factor * kLimit);
  CHECK_THAT(outcome.message, ContainsSubstring("still running after 0.2 s and was stopped"));
}

TEST_CASE("a static constructor that hangs is stopped") {
  Session session(library("early_hang"));
  const Outcome outcome = misbehave(session, kNothing, 0.2);
  CHECK(outcome.status == Status::timeout);
  CHECK_THAT(outcome.message, ContainsSubstring("could not be loaded"));
}

TEST_CASE("after a first time-out, later calls are given less time") {
  SessionConfig config = library("misbehave");
  config.timeout_seconds = 0.5;
  config.later_timeout_seconds = 0.1;
  config.patience = 3;
  Session session(config);
  CHECK_THAT(misbehave(session, kSleepForever).message, ContainsSubstring("after 0.5 s"));
  CHECK_THAT(misbehave(session, kSleepForever).message, ContainsSubstring("after 0.1 s"));
  CHECK_THAT(misbehave(session, kSleepForever, 30).message, ContainsSubstring("after 0.1 s"));
}

TEST_CASE("after two calls that never came back no more are made, by nobody's seconds") {
  SessionConfig config = library("misbehave");
  config.timeout_seconds = config.later_timeout_seconds = 0.1;
  config.check_kernel = config.kernel;  // check mode does not call it either
  Session session(config);
  for (int call = 0; call < 2; ++call) CHECK(misbehave(session, kSleepForever).status == Status::timeout);
  const auto start = std::chrono::steady_clock::now();
  for (int call = 0; call < 100; ++call) {
    const Outcome outcome = misbehave(session, kNothing);
    REQUIRE(outcome.status == Status::timeout);
    REQUIRE_THAT(outcome.message, ContainsSubstring("Skipped: misbehave was not called"));
  }
  CHECK(seconds_since(start) < 5);
}
