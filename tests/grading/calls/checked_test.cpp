// How the findings of check mode join what run mode came to.
#include "grading/calls/checked.hpp"

#include <string>

#include "grading/testing/case.hpp"
#include "support/catch.hpp"

using namespace course::grading;

namespace {

Diagnostic finding(const std::string& kind, int line, Severity severity = Severity::error) {
  return {.kind = kind,
          .file = "kernel.cu",
          .line = line,
          .message = "kernel.cu:" + std::to_string(line) + ": " + kind,
          .severity = severity};
}

Outcome ended(Status status, const std::vector<Diagnostic>& diagnostics = {}) {
  Outcome outcome;
  outcome.status = status;
  outcome.diagnostics = diagnostics;
  if (!diagnostics.empty() && status != Status::returned) outcome.message = diagnostics.front().message;
  return outcome;
}

Outcome joined(Outcome outcome, const Outcome& checked) {
  add_checked(outcome, checked);
  return outcome;
}

/// With a profile, as the worker sends it.
Outcome with_profile(Outcome outcome) {
  outcome.profile = make_profile({});
  return outcome;
}

}  // namespace

TEST_CASE("a call that came back in both modes has findings and a profile") {
  const Outcome outcome =
      joined(ended(Status::returned), with_profile(ended(Status::returned, {finding("race", 3)})));
  CHECK(outcome.status == Status::returned);
  CHECK(outcome.message.empty());
  CHECK(outcome.checking == Checking::done);
  CHECK(outcome.profile);
  REQUIRE(outcome.diagnostics.size() == 1);
  CHECK(outcome.diagnostics[0].kind == "race");
}

TEST_CASE("what both modes tell of a line is told once, in the words of check mode") {
  const Outcome outcome = joined(ended(Status::fault, {finding("illegal_address", 3)}),
                                 ended(Status::fault, {finding("race", 2), finding("out_of_bounds", 3)}));
  CHECK(outcome.status == Status::fault);
  CHECK(outcome.message == "kernel.cu:3: out_of_bounds");
  REQUIRE(outcome.diagnostics.size() == 2);
  CHECK(outcome.diagnostics[1].kind == "out_of_bounds");
  CHECK(outcome.checking == Checking::stopped);
}

TEST_CASE("a fault that check mode did not see stays") {
  const Outcome outcome = joined(ended(Status::fault, {finding("deadlock", 9)}),
                                 with_profile(ended(Status::returned, {finding("race", 3)})));
  CHECK(outcome.message == "kernel.cu:9: deadlock");
  CHECK(outcome.diagnostics.size() == 2);
  CHECK_FALSE(outcome.profile);
}

TEST_CASE("a call that is too slow for check mode has not failed") {
  const Outcome outcome =
      joined(ended(Status::returned), ended(Status::timeout, {finding("endless_loop", 5)}));
  CHECK(outcome.status == Status::returned);
  REQUIRE(outcome.diagnostics.size() == 1);
  CHECK(outcome.diagnostics[0].kind == kNotChecked);
  CHECK(outcome.diagnostics[0].severity == Severity::note);
  CHECK_FALSE(outcome.profile);
}

TEST_CASE("a call that no mode finished has one diagnosis") {
  const Outcome outcome = joined(ended(Status::timeout, {finding("endless_loop", 5)}),
                                 ended(Status::timeout, {finding("endless_loop", 5)}));
  CHECK(outcome.status == Status::timeout);
  CHECK(outcome.diagnostics.size() == 1);
}

TEST_CASE("a worker that broke only in check mode leaves a note") {
  Outcome died = ended(Status::died);
  died.message = "It was killed.\nMore.";
  const Outcome outcome = joined(ended(Status::returned), died);
  CHECK(outcome.status == Status::returned);
  REQUIRE(outcome.diagnostics.size() == 1);
  CHECK(outcome.diagnostics[0].severity == Severity::note);
  CHECK(outcome.diagnostics[0].message == "Check mode did not finish a call: It was killed.");
}

TEST_CASE("an error that was diagnosed fails the case and comes first, a warning does not") {
  CaseResult result;
  result.passed = true;
  result.diagnostics = {finding("missing_syncwarp", 1, Severity::warning),
                        finding("refused", 2, Severity::note)};
  fail_if_diagnosed(result);
  CHECK(result.passed);
  CHECK(result.message.empty());
  result.diagnostics.push_back(finding("race", 3));
  result.diagnostics.push_back(finding("race", 4));
  result.message = "c[0] is 1, expected 2.\nkernel.cu:4: race";
  fail_if_diagnosed(result);
  CHECK_FALSE(result.passed);
  CHECK(result.message == "kernel.cu:3: race\nc[0] is 1, expected 2.\nkernel.cu:4: race");
}

TEST_CASE("the same mistake at the same lines is recorded once a case") {
  current_case() = CaseResult{};
  Outcome outcome = ended(Status::returned, {finding("race", 3)});
  record(outcome);
  outcome.diagnostics[0].message += ", in another block";
  record(outcome);
  outcome.diagnostics[0].other_line = 8;
  record(outcome);
  CHECK(current_case().diagnostics.size() == 2);
  current_case() = CaseResult{};
}

TEST_CASE("counters of check mode are recorded under their names") {
  current_case() = CaseResult{};
  simt::LaunchProfile launch;
  launch.total.global_load.sectors = 4;
  Outcome outcome;
  outcome.profile = make_profile({launch});
  record(outcome);
  record(outcome);
  CHECK(current_case().counters.at("global_load.sectors") == 8);
  CHECK(current_case().launches.size() == 2);
  current_case() = CaseResult{};
}
