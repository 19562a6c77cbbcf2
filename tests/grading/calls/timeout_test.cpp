// Code that never comes back.
#include <signal.h>

#include <chrono>

#include "support/catch.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

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
