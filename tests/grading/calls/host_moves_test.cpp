// What the host may do of a call whose arrays lie on the device.
#include "grading/calls/host_moves.hpp"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "grading/facts/profile.hpp"
#include "support/catch.hpp"

using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

std::vector<std::string> told(const HostMoves& moves) { return computed_by_host(moves, "scale", {"x", "y"}); }

}  // namespace

TEST_CASE("kernels alone, and a flag that comes to the host, are nothing to tell") {
  CHECK(told({}).empty());
  CHECK(told({{}, {}, kFewBytes / 2, kFewBytes / 2}).empty());
}

TEST_CASE("an array that was copied to the host, or filled by a copy, is told by its name") {
  const std::vector<std::string> sentences = told({{0}, {1}, 4000, 0});
  REQUIRE(sentences.size() == 2);
  CHECK_THAT(sentences[0], ContainsSubstring("copied x to the host") && ContainsSubstring("scale"));
  CHECK_THAT(sentences[1], ContainsSubstring("filled y by a copy"));
}

TEST_CASE("what goes to the host by way of other memory is told by its bytes") {
  CHECK_THAT(told({{}, {}, kFewBytes + 1, 0}).at(0), ContainsSubstring("copied 65 bytes from the device"));
  CHECK_THAT(told({{}, {}, 0, 4096}).at(0), ContainsSubstring("4096 bytes of managed or page-locked memory"));
}

TEST_CASE("an array that no call has cannot be made up") {
  CHECK_THAT(told({{9}, {}, 0, 0}).at(0), ContainsSubstring("copied an array to the host"));
}

TEST_CASE("what kernels leave in variables of the file is told where it is more than a flag") {
  HostMoves moves;
  moves.variables = kFewBytes;
  CHECK(carried_in_variables(moves, "scale").empty());
  moves.variables = 4096;
  CHECK_THAT(carried_in_variables(moves, "scale"), ContainsSubstring("stored to variables of 4096 bytes"));
}

TEST_CASE("what is little in each way counts together") {
  CHECK_THAT(told({{}, {}, 40, 40}).at(0), ContainsSubstring("could read 80 bytes"));
  HostMoves moves;
  moves.to_host = moves.shared = 20;
  moves.variables = 40;
  CHECK_THAT(carried_in_variables(moves, "scale"), ContainsSubstring("could read 80 bytes"));
  moves.to_host = kFewBytes + 1;
  CHECK(carried_in_variables(moves, "scale").empty());
}

TEST_CASE("what a host asks for that goes first is told once it is more than a flag, if nothing else is") {
  HostMoves moves;
  moves.asked = kFewBytes;
  CHECK(told(moves).empty());
  moves.asked = 80;
  REQUIRE(told(moves).size() == 1);
  CHECK_THAT(told(moves).front(), ContainsSubstring("could read 80 bytes"));
  moves.to_host = 80;
  REQUIRE(told(moves).size() == 1);
  CHECK_THAT(told(moves).front(), ContainsSubstring("copied 80 bytes from the device"));
}

TEST_CASE("launches tell the host something by their time, and so have a limit") {
  CHECK(too_many_launches(kMostLaunches, "scale").empty());
  CHECK_THAT(too_many_launches(kMostLaunches + 1, "scale"), ContainsSubstring("launched 1001 kernels"));
}

TEST_CASE("a call that is made again with an answer must begin as the one did that found it") {
  const auto outcome_of = [](const std::vector<std::uint64_t>& loads) {
    std::vector<simt::LaunchProfile> launches;
    for (const std::uint64_t bytes : loads) {
      simt::LaunchProfile launch;
      launch.kernel = "sum_kernel";
      launch.total.global_load.bytes = bytes;
      launches.push_back(std::move(launch));
    }
    Outcome outcome;
    outcome.profile = make_profile(std::move(launches));
    return outcome;
  };
  const Outcome asked = outcome_of({4000, 32});
  CHECK(done_otherwise(asked, outcome_of({4000, 32}), "scale").empty());
  CHECK(done_otherwise(asked, outcome_of({4000, 32, 500}), "scale").empty());
  CHECK(done_otherwise(asked, Outcome{}, "scale").empty());  // run mode counts nothing
  CHECK_THAT(done_otherwise(asked, outcome_of({0, 32}), "scale"), ContainsSubstring("launch 1 (sum_kernel)"));
  CHECK_THAT(done_otherwise(asked, outcome_of({4000}), "scale"), ContainsSubstring("launch 2 (sum_kernel)"));
  CHECK_THAT(done_otherwise(Outcome{}, asked, "scale"),
             ContainsSubstring("more launches than can be compared"));
  Outcome later = outcome_of({4000, 32});  // whose threads have waited for longer
  later.profile->launches[0].total.steps = 7;
  CHECK(done_otherwise(asked, later, "scale").empty());
}
