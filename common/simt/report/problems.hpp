#pragma once
/// @file
/// What stands out in a profile: lines that waste traffic or time, each with a plain sentence.

#include <cstddef>
#include <string>
#include <vector>

#include "simt/profile.hpp"
#include "simt/report/topics.hpp"

namespace simt::report {

struct Problem {
  std::size_t line = 0;  ///< index into LaunchProfile::lines
  TopicName topic = TopicName::global_memory;
  std::string sentence;  ///< without the place
};

/// @brief A line stands out if
/// - its loads, stores or atomics touch at least twice the sectors that they need;
/// - they have bank conflicts;
/// - at least half of its steps are divergent, and the idle lanes are a tenth of all lanes of the launch.
std::vector<Problem> find_problems(const LaunchProfile& profile);

}  // namespace simt::report
