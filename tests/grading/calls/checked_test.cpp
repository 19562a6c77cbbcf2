// How the findings of check mode join what run mode came to.
#include "grading/calls/checked.hpp"

#include <string>

#include "grading/testing/case.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::finding;

namespace {

Outcome ended(Status status, const std::vector<Finding>& findings = {}) {
  Outcome outcome;
  outcome.status = status;
  outcome.findings = findings;
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
  REQUIRE(outcome.findings.size() == 1);
  CHECK(outcome.findings[0].kind == "race");
}

TEST_CASE("what both modes tell of a line is told once, in the words of check mode") {
  const Outcome outcome = joined(ended(Status::fault, {finding("illegal_address", 3)}),
                                 ended(Status::fault, {finding("race", 2), finding("out_of_bounds", 3)}));
  CHECK(outcome.status == Status::fault);
  REQUIRE(outcome.findings.size() == 2);
  CHECK(outcome.findings[1].kind == "out_of_bounds");
  CHECK(outcome.checking == Checking::stopped);
}

TEST_CASE("a fault that check mode did not see stays") {
  const Outcome outcome = joined(ended(Status::fault, {finding("deadlock", 9)}),
                                 with_profile(ended(Status::returned, {finding("race", 3)})));
  CHECK(outcome.status == Status::fault);
  CHECK(outcome.findings.size() == 2);
  CHECK_FALSE(outcome.profile);
}

TEST_CASE("a call that check mode does not see to its end has failed, however it ended there") {
  for (const Status before : {Status::returned, Status::threw, Status::cuda_error}) {
    for (const Status status : {Status::returned, Status::threw, Status::cuda_error, Status::timeout,
                                Status::died, Status::refused}) {
      if (status == before) continue;
      Outcome checked = with_profile(ended(status));
      checked.message = "How it ended.";
      const Outcome outcome = joined(ended(before), checked);
      CAPTURE(to_string(before), to_string(status));
      CHECK(outcome.status == Status::differed);  // which is neither a return nor an exception
      CHECK_THAT(outcome.message, ContainsSubstring("in check mode"));
      CHECK_THAT(outcome.message,
                 ContainsSubstring(status == Status::returned ? "There it returned." : "How it ended."));
      CHECK(outcome.checking == Checking::stopped);
      CHECK_FALSE(outcome.profile);
    }
  }
}

TEST_CASE("a call that takes too long in check mode alone is not called endless") {
  const Outcome outcome =
      joined(ended(Status::returned), ended(Status::timeout, {finding("endless_loop", 5)}));
  CHECK(outcome.status == Status::differed);
  CHECK(outcome.findings.empty());
}

TEST_CASE("an error that check mode found before it stopped is told instead") {
  const Outcome outcome =
      joined(ended(Status::returned), ended(Status::fault, {finding("out_of_bounds", 3)}));
  CHECK(outcome.status == Status::returned);
  REQUIRE(outcome.findings.size() == 1);
  CHECK(outcome.checking == Checking::stopped);
}

TEST_CASE("a call that no mode finished has one diagnosis") {
  const Outcome outcome = joined(ended(Status::timeout, {finding("endless_loop", 5)}),
                                 ended(Status::timeout, {finding("endless_loop", 5)}));
  CHECK(outcome.status == Status::timeout);
  CHECK(outcome.findings.size() == 1);
}

TEST_CASE("an error that was found fails the case, a warning does not") {
  CaseResult result;
  result.passed = true;
  result.findings = {finding("missing_syncwarp", 1, Severity::warning),
                     finding("refused", 2, Severity::note)};
  fail_if_found(result);
  CHECK(result.passed);
  result.findings.push_back(finding("race", 3));
  fail_if_found(result);
  CHECK_FALSE(result.passed);
}

TEST_CASE("the same mistake at the same lines is recorded once a case") {
  current_case() = CaseResult{};
  Outcome outcome = ended(Status::returned, {finding("race", 3)});
  record(outcome);
  outcome.findings[0].what += ", in another block";
  record(outcome);
  outcome.findings[0].other.line = 8;
  record(outcome);
  CHECK(current_case().findings.size() == 2);
  current_case() = CaseResult{};
}

TEST_CASE("a race is the same whichever access is told first") {
  Finding race = finding("race", 3), exchanged = race;
  race.other.file = "kernel.cu", race.other.line = 8;
  exchanged.here.line = 8;
  exchanged.other = race.here;
  CHECK(same_mistake(race, exchanged));
  exchanged.kind = race.kind = "deadlock";
  CHECK_FALSE(same_mistake(race, exchanged));
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
