#include "simt/report/problems.hpp"

#include "samples.hpp"
#include "support/catch.hpp"

using namespace simt::report;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

/// A launch of one line.
simt::LaunchProfile launch_of(const simt::Counters& counters) {
  simt::LaunchProfile profile;
  profile.lines.push_back({.file = "kernel.cu", .line = 1, .counters = counters});
  profile.total = counters;
  return profile;
}

simt::Counters loads(std::uint64_t sectors, std::uint64_t ideal) {
  simt::Counters counters;
  counters.global_load = {
      .requests = 1, .sectors = sectors, .ideal_sectors = ideal, .bytes_asked = 0, .bytes = 0};
  return counters;
}

}  // namespace

TEST_CASE("twice the sectors that are needed stand out, fewer do not", "[report][problems]") {
  CHECK(find_problems(launch_of(loads(4, 4))).empty());
  CHECK(find_problems(launch_of(loads(5, 4))).empty());  // shifted by one element
  CHECK(find_problems(launch_of(loads(1, 1))).empty());  // one thread writes the block's result
  CHECK(find_problems(launch_of(loads(1, 4))).empty());  // all threads read one word
  const auto stride_two = find_problems(launch_of(loads(8, 4)));
  REQUIRE(stride_two.size() == 1);
  CHECK(stride_two[0].topic == TopicName::global_memory);
  CHECK_THAT(stride_two[0].sentence,
             StartsWith("each load touches 8 sectors where 4 would do: what the threads of a "
                        "warp read lies apart."));
}

TEST_CASE("loads and stores of one line each have their sentence", "[report][problems]") {
  simt::Counters both = loads(32, 4);
  both.global_store = both.global_load;
  const auto problems = find_problems(launch_of(both));
  REQUIRE(problems.size() == 2);
  CHECK_THAT(problems[0].sentence,
             StartsWith("each load touches 32 sectors where 4 would do: every thread has"));
  CHECK_THAT(problems[1].sentence, StartsWith("each store touches 32 sectors"));
}

TEST_CASE("every bank conflict stands out", "[report][problems]") {
  simt::Counters counters;
  counters.shared_load = {.requests = 2, .wavefronts = 3, .ideal_wavefronts = 2, .bytes_asked = 256};
  const auto problems = find_problems(launch_of(counters));
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].topic == TopicName::shared_memory);
  CHECK_THAT(problems[0].sentence, StartsWith("each load takes 1.5 wavefronts where 1 would do:"));
}

TEST_CASE("the padding that a bank conflict calls for keeps rows of vectors aligned", "[report][problems]") {
  simt::Counters words, vectors;
  words.shared_load = {.requests = 1, .wavefronts = 32, .ideal_wavefronts = 1, .bytes_asked = 128};
  vectors.shared_load = {.requests = 1, .wavefronts = 32, .ideal_wavefronts = 4, .bytes_asked = 512};
  CHECK_THAT(find_problems(launch_of(words))[0].sentence, ContainsSubstring("one word of padding a row"));
  CHECK_THAT(find_problems(launch_of(vectors))[0].sentence, ContainsSubstring("16 bytes of padding a row"));
}

TEST_CASE("divergence stands out where it costs a tenth of the launch", "[report][problems]") {
  simt::Counters half;
  half.steps = half.divergent_steps = 10;
  half.lanes = 160;
  simt::LaunchProfile profile = launch_of(half);
  const auto problems = find_problems(profile);
  REQUIRE(problems.size() == 1);
  CHECK_THAT(problems[0].sentence, StartsWith("16 of 32 lanes are at work on average:"));
  profile.total.steps = 1000;  // the last warp's bounds check, or the one thread that writes
  CHECK(find_problems(profile).empty());
}
