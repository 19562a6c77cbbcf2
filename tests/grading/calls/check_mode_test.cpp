// Calls that are run in check mode, too: what it finds and counts reaches the test that made the call.
#include <sys/resource.h>

#include <algorithm>
#include <string>

#include "grading/testing/call.hpp"
#include "kernels/suspects.hpp"
#include "support/catch.hpp"

using namespace course;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

constexpr std::int64_t kThreads = 256;

SessionConfig suspects() {
  const std::filesystem::path folder = COURSE_TEST_KERNELS;
  SessionConfig config;
  config.worker = COURSE_TEST_WORKER;
  config.kernel = folder / "suspects.so";
  config.check_kernel = folder / "suspects_checked.so";
  return config;
}

using Kernel = Entry<void(const float*, float*, std::int64_t)>;

Outcome call_suspect(Kernel entry, const SessionConfig& config = suspects()) {
  Session session(config);
  const Tensor<float> x({kThreads}, 1.0f);
  Tensor<float> y({kThreads});
  return call_in(session, {}, entry, in(x, "x"), out(y, "y"), kThreads);
}

/// What processes that have ended used of a processor.
double seconds_of_children() {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

Finding only_finding(const Outcome& outcome) {
  for (const Finding& finding : outcome.findings) UNSCOPED_INFO(finding.message());
  REQUIRE(outcome.findings.size() == 1);
  return outcome.findings[0];
}

}  // namespace

TEST_CASE("a kernel without a mistake is counted, and nothing is found") {
  const Outcome outcome = call_suspect(ENTRY(course::copy));
  CHECK(why_not_clean(outcome).empty());
  CHECK(outcome.findings.empty());
  CHECK(outcome.checking == Checking::done);
  REQUIRE(outcome.profile);
  const Profile& profile = *outcome.profile;
  CHECK(profile.global_load.requests == kThreads / 32);
  CHECK(profile.global_load.sectors == kThreads / 8);
  CHECK(profile.global_load.ideal_sectors == kThreads / 8);
  CHECK(profile.global_load.bytes_asked == 4 * kThreads);
  CHECK(profile.global_store.bytes == 4 * kThreads);
  CHECK(profile.divergent_steps == 0);
  REQUIRE(profile.launches.size() == 1);
  CHECK(profile.launches[0].kernel == "copy_kernel");
  CHECK(profile.launches[0].block[0] == kThreads);
  CHECK(profile.launches[0].stores.blocks == 1);
  CHECK(profile.launches[0].stores.largest == 4 * kThreads);
  CHECK(profile.launches[0].order.largest == 2 * kThreads / 32);
  REQUIRE_FALSE(profile.launches[0].lines.empty());
  CHECK_THAT(profile.launches[0].lines[0].file, ContainsSubstring("suspects.cu"));
}

TEST_CASE("a race is found where the output is right") {
  const Outcome outcome = call_suspect(ENTRY(course::shift));
  CHECK(outcome.status == Status::returned);
  const Finding race = only_finding(outcome);
  CHECK(race.kind == "race");
  CHECK(race.severity == Severity::error);
  CHECK(std::min(race.here.line, race.other.line) == 19);
  CHECK(std::max(race.here.line, race.other.line) == 20);
  CHECK_THAT(race.element, ContainsSubstring("tile["));
  CHECK_THAT(race.message(), ContainsSubstring("suspects.cu:"));
}

TEST_CASE("a call with other results in check mode has failed, and says where they differ") {
  const Outcome outcome = call_suspect(ENTRY(course::copy_otherwise_if_watched));
  CHECK(to_string(outcome.status) == to_string(Status::differed));
  CHECK_THAT(outcome.message, ContainsSubstring("There y[0] was 2, and before it was 1."));
}

TEST_CASE("a call that launches more in check mode has failed") {
  const Outcome outcome = call_suspect(ENTRY(course::launch_more_if_watched));
  CHECK(to_string(outcome.status) == to_string(Status::differed));
  CHECK_THAT(outcome.message, ContainsSubstring("in check mode, which must see the same"));
}

TEST_CASE("a reply of check mode that brings no results fails the call") {
  const Outcome outcome = call_suspect(ENTRY(course::reply_by_itself_if_watched));
  CHECK(to_string(outcome.status) == to_string(Status::differed));
  CHECK_THAT(outcome.message, ContainsSubstring("There it left no results."));
}

TEST_CASE("where kernels are to compute, copies to and from an array are told, and else they are not") {
  SessionConfig config = suspects();
  CHECK(why_not_clean(call_suspect(ENTRY(course::copy_by_host), config)).empty());
  config.kernels_only = true;
  CHECK(why_not_clean(call_suspect(ENTRY(course::copy), config)).empty());
  for (const Kernel entry : {ENTRY(course::copy_by_host), ENTRY(course::copy_by_host_later)}) {
    const std::string by_host = why_not_clean(call_suspect(entry, config));
    CHECK_THAT(by_host, ContainsSubstring("Your code copied x to the host"));
    CHECK_THAT(by_host, ContainsSubstring("Your code filled y by a copy"));
  }
  const std::string by_copy = why_not_clean(call_suspect(ENTRY(course::copy_without_kernel), config));
  CHECK_THAT(by_copy, ContainsSubstring("Your code filled y by a copy"));
  CHECK(by_copy.find("to the host") == std::string::npos);
}

TEST_CASE("memory of the host is closed to kernels where nobody counts what they do, too") {
  SessionConfig config = suspects();
  config.check_kernel.clear();
  const int place = GENERATE(on_heap, on_heap_by_new, in_string, in_exception, from_constructor, on_stack);
  CAPTURE(place);
  Session session(config);
  const Tensor<float> x({kThreads}, 1.0f);
  Tensor<float> y({kThreads});
  const Outcome outcome =
      call_in(session, {}, ENTRY(course::copy_by_host_memory), in(x, "x"), out(y, "y"), kThreads, place);
  CHECK(outcome.status == Status::fault);
  CHECK(only_finding(outcome).kind == "host_pointer_in_kernel");
}

TEST_CASE("the heap of kernels is closed to the host where nobody counts what they do, too") {
  SessionConfig config = suspects();
  config.check_kernel.clear();
  const Outcome outcome = call_suspect(ENTRY(course::copy_by_heap_of_kernel), config);
  CHECK(outcome.status == Status::fault);
  CHECK(only_finding(outcome).kind == "device_pointer_on_host");
}

TEST_CASE("an output that is read before it is written is found") {
  const Finding read = only_finding(call_suspect(ENTRY(course::add_to_nothing)));
  CHECK(read.kind == "uninitialised_read");
  CHECK(read.here.line == 24);
}

TEST_CASE("a read past the end of an array is found") {
  const Outcome outcome = call_suspect(ENTRY(course::copy_one_more));
  const Finding read = only_finding(outcome);
  CHECK(read.kind == "out_of_bounds");
  CHECK(read.here.line == 28);
}

TEST_CASE("a missing __syncwarp is a warning") {
  const Finding missing = only_finding(call_suspect(ENTRY(course::reverse_in_warps)));
  CHECK(missing.kind == "missing_syncwarp");
  CHECK(missing.severity == Severity::warning);
}

TEST_CASE("a large call is checked only if the test asks for it") {
  Session session(suspects());
  const Tensor<float> x({40000}, 1.0f);
  Tensor<float> y({40000});
  const auto checking = [&](CheckMode mode) {
    CallOptions options;
    options.check = mode;
    return call_in(session, options, ENTRY(course::copy), in(x), out(y), kThreads).checking;
  };
  CHECK(checking(CheckMode::if_small) == Checking::left_out);
  CHECK(checking(CheckMode::never) == Checking::left_out);
  CHECK(checking(CheckMode::always) == Checking::done);
}

TEST_CASE("a call that is not checked runs in an order that is drawn, unless it has one") {
  constexpr int kCalls = 24;
  const auto reordered = [](const CallOptions& options, const SessionConfig& config) {
    Session session(config);
    int calls = 0;
    for (int i = 0; i < kCalls; ++i) {
      const Tensor<float> x({kThreads}, static_cast<float>(i));
      Tensor<float> y({kThreads});
      calls += call_in(session, options, ENTRY(course::copy), in(x), out(y), kThreads).reordered ? 1 : 0;
    }
    return calls;
  };
  CallOptions options;
  CHECK(reordered(options, suspects()) == 0);  // they are small, and checked
  options.check = CheckMode::never;
  const int drawn = reordered(options, suspects());
  CHECK(drawn > 0);
  CHECK(drawn < kCalls);
  SessionConfig without_check_mode = suspects();
  without_check_mode.check_kernel.clear();
  CHECK(reordered(options, without_check_mode) == 0);
  options.order = Order::reverse;
  CHECK(reordered(options, suspects()) == 0);
}

TEST_CASE("without a kernel for check mode there is none") {
  SessionConfig config = suspects();
  config.check_kernel.clear();
  const Outcome outcome = call_suspect(ENTRY(course::shift), config);
  CHECK(outcome.checking == Checking::none);
  CHECK(outcome.findings.empty());
}

TEST_CASE("a kernel for check mode that cannot be loaded fails the call") {
  SessionConfig config = suspects();
  config.check_kernel = "/nowhere/suspects.so";
  const Outcome outcome = call_suspect(ENTRY(course::shift), config);
  CHECK(outcome.status == Status::differed);
  CHECK_THAT(why_not_clean(outcome), ContainsSubstring("check mode") && ContainsSubstring("suspects.so"));
}

TEST_CASE("a kernel that never ends costs check mode two seconds, and then less") {
  const double before = seconds_of_children();
  SessionConfig config = suspects();
  config.busy_factor = 20;  // the launch's own limit ends it, which goes by the processor's time
  {
    Session session(config);
    CallOptions options;
    options.timeout_seconds = 0.1;
    Tensor<float> y({1});
    for (int call = 0; call < 2; ++call) {
      const Outcome outcome = call_in(session, options, ENTRY(course::spin), out(y));
      CHECK(outcome.status == Status::timeout);
      CHECK(only_finding(outcome).kind == "endless_loop");
    }
  }
  CHECK(seconds_of_children() - before < 10);  // a call that is not likely to fail may take 20
}
