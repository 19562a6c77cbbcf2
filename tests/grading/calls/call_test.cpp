// Calls into well-behaved libraries: what goes in arrives, what comes out comes back, and workers are reused.
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <thread>

#include "grading/facts/poison.hpp"
#include "grading/testing/compare.hpp"
#include "support/catch.hpp"
#include "tensor/random.hpp"
#include "worker_support.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

int open_descriptors() {
  int count = 0;
  for (int fd = 0; fd < 256; ++fd)
    if (fcntl(fd, F_GETFD) != -1) ++count;
  return count;
}

/// a + b of n elements through a session; the sum is compared bit for bit.
void check_add(Session& session, std::int64_t n, std::uint64_t seed) {
  const Tensor<float> a = uniform({n}, -1, 1, seed), b = uniform({n}, -1, 1, seed + 1);
  Tensor<float> c({n}), expected({n});
  for (std::int64_t i = 0; i < n; ++i) expected.at_linear(i) = a.at_linear(i) + b.at_linear(i);
  const Outcome outcome = call_in(session, {}, ENTRY(course::add), in(a), in(b), out(c), n);
  REQUIRE(why_not_clean(outcome).empty());
  REQUIRE(compare_bits(c, expected, "c").passed);
}

}  // namespace

TEST_CASE("a call adds two arrays in device memory") {
  Session session(library("misbehave"));
  for (const std::int64_t n : {0, 1, 33, 1000, 100000}) check_add(session, n, 1);
}

TEST_CASE("a call adds two arrays in host memory") {
  Session session(library("misbehave"));
  const Tensor<float> a({5}, 1.0f), b({5}, 2.0f);
  Tensor<float> c({5});
  REQUIRE(why_not_clean(call_in(session, {}, ENTRY(course::add_host), host_in(a), host_in(b), host_out(c),
                                std::int64_t{5}))
              .empty());
  CHECK(compare_bits(c, Tensor<float>({5}, 3.0f), "c").passed);
}

TEST_CASE("an array that is read and written starts with its elements") {
  Session session(library("misbehave"));
  Tensor<float> x({5}, 3.0f);
  REQUIRE(why_not_clean(call_in(session, {}, ENTRY(course::twice), inout(x), 5)).empty());
  CHECK(compare_bits(x, Tensor<float>({5}, 6.0f), "x").passed);
}

TEST_CASE("views carry shape and strides, and gaps stay") {
  Session session(library("misbehave"));
  Tensor<float> x({3, 2}, {4, 1}, 1.0f);
  for (std::int64_t i = 0; i < 6; ++i) x.at_linear(i) = static_cast<float>(i);
  Tensor<float> y({3, 2}, {1, 7}, -1.0f);  // column after column, with a gap
  REQUIRE(why_not_clean(call_in(session, {}, ENTRY(course::scale), in(x), out(y), 2)).empty());
  for (std::int64_t i = 0; i < 6; ++i) CHECK(y.at_linear(i) == static_cast<float>(2 * i));
  CHECK(y.storage()[4] == -1.0f);
}

TEST_CASE("numbers arrive as the parameter's type") {
  Session session(library("misbehave"));
  Tensor<double> told({6});
  REQUIRE(why_not_clean(call_in(session, {}, ENTRY(course::tell), true, -7, std::uint64_t{1} << 40, 0.5f, 0.1,
                                null(), out(told)))
              .empty());
  CHECK(compare_bits(told, Tensor<double>::from({6}, {1, -7, 1099511627776.0, 0.5, 0.1, 1}), "told").passed);
}

TEST_CASE("a number or a rank that does not fit is a mistake in the test") {
  Session session(library("misbehave"));
  Tensor<double> told({6});
  CHECK_THROWS_AS(call_in(session, {}, ENTRY(course::tell), true, std::int64_t{1} << 31, 0U, 0.5f, 0.1,
                          null(), out(told)),
                  std::invalid_argument);
  CHECK_THROWS_AS(call_in(session, {}, ENTRY(course::tell), true, 1, -1, 0.5f, 0.1, null(), out(told)),
                  std::invalid_argument);
  Tensor<float> flat({6});
  CHECK_THROWS_AS(call_in(session, {}, ENTRY(course::scale), in(flat), out(flat), 1.0f),
                  std::invalid_argument);
}

TEST_CASE("one worker serves many calls") {
  Session session(library("misbehave"));
  check_add(session, 100, 1);
  const int worker = session.worker_pid();
  for (std::uint64_t i = 0; i < 50; ++i) check_add(session, 100, i);
  CHECK(session.worker_pid() == worker);
}

TEST_CASE("an exception that the entry throws does not cost the worker") {
  Session session(library("misbehave"));
  check_add(session, 10, 1);
  const int worker = session.worker_pid();
  CHECK(misbehave(session, kThrowInvalidArgument).status == Status::threw);
  CHECK(session.worker_pid() == worker);
}

TEST_CASE("a block that asks for too much shared memory is told how much there is") {
  Session session(library("misbehave"));
  const Outcome outcome = misbehave(session, kThrowSharedRefused);
  CHECK(outcome.status == Status::threw);
  CHECK_THAT(outcome.message, ContainsSubstring("cudaErrorInvalidValue"));
  CHECK_THAT(outcome.message,
             ContainsSubstring("\nA block may have at most 232448 bytes of shared memory here."));
}

TEST_CASE("a worker that died between two calls is replaced unnoticed") {
  Session session(library("misbehave"));
  check_add(session, 10, 1);
  kill(session.worker_pid(), SIGKILL);
  check_add(session, 10, 2);
}

TEST_CASE("a session leaves no process and no descriptor behind") {
  const int before = open_descriptors();
  pid_t worker = -1;
  {
    Session session(library("misbehave"));
    check_add(session, 10, 1);
    worker = session.worker_pid();
    misbehave(session, kExitZero);
    misbehave(session, kLoopForever, 0.1);
    check_add(session, 10, 1);
  }
  CHECK(open_descriptors() == before);
  CHECK(kill(worker, 0) == -1);
  CHECK(waitpid(-1, nullptr, WNOHANG) == -1);  // no child is left, not even a dead one
}

TEST_CASE("two sessions work side by side") {
  const auto work = [](std::uint64_t seed) {
    Session session(library("misbehave"));
    for (std::uint64_t i = 0; i < 20; ++i) {
      const Tensor<float> a = uniform({500}, -1, 1, seed + i);
      Tensor<float> c({500});
      const Outcome outcome = call_in(session, {}, ENTRY(course::add), in(a), in(a), out(c), 500);
      if (!why_not_clean(outcome).empty() || c(499) != 2 * a(499)) return false;
    }
    return true;
  };
  bool left = false, right = false;
  std::thread other([&] { left = work(1); });
  right = work(1000);
  other.join();
  CHECK(left);
  CHECK(right);
}

TEST_CASE("a killed grader takes its worker with it") {
  int ends[2] = {};
  REQUIRE(pipe(ends) == 0);
  const pid_t grader = fork();
  if (grader == 0) {
    Session session(library("misbehave"));
    misbehave(session, kNothing);
    const int worker = session.worker_pid();
    if (write(ends[1], &worker, sizeof worker) < 0) _exit(1);
    for (;;) pause();
  }
  int worker = -1;
  REQUIRE(read(ends[0], &worker, sizeof worker) == sizeof worker);
  REQUIRE(kill(worker, 0) == 0);
  kill(grader, SIGKILL);
  waitpid(grader, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    usleep(10000);
    std::string state;
    if (std::FILE* status = std::fopen(("/proc/" + std::to_string(worker) + "/stat").c_str(), "r")) {
      char text[256] = {};
      if (std::fgets(text, sizeof text, status)) state = text;
      std::fclose(status);
    }
    gone = state.empty() || state.find(") Z") != std::string::npos;  // whoever inherits it may reap it late
  }
  CHECK(gone);
  close(ends[0]);
  close(ends[1]);
}

TEST_CASE("a missing worker program is a fault of the machine") {
  SessionConfig config = library("misbehave");
  config.worker = "/nowhere/course-worker";
  Session session(config);
  CHECK_THROWS_AS(misbehave(session, kNothing), MachineError);
}

TEST_CASE("a library that is missing, or has no entries, is refused") {
  Session missing(library("no_such_library"));
  const Outcome outcome = misbehave(missing, kNothing);
  CHECK(outcome.status == Status::refused);
  CHECK_THAT(outcome.message, Catch::Matchers::ContainsSubstring("cannot be loaded"));
  Session empty(library("no_entries"));
  CHECK_THAT(misbehave(empty, kNothing).message, Catch::Matchers::ContainsSubstring("no table of entries"));
}

TEST_CASE("an entry that is missing, or has another type, is refused") {
  Session session(library("misbehave"));
  CHECK_THAT(call_in(session, {}, Entry<void(int)>{"subtract"}, 1).message,
             Catch::Matchers::ContainsSubstring("no function subtract"));
  CHECK_THAT(call_in(session, {}, Entry<void(int)>{"add"}, 1).message,
             Catch::Matchers::ContainsSubstring("other parameters"));
}
