#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "simt/profile.hpp"

namespace course::grading {

/// What check mode counted in a call: the sums over its launches, and each launch with its lines.
struct Profile : simt::Counters {
  std::vector<simt::LaunchProfile> launches;
};

/// @brief The launches of a call and their sums.
Profile make_profile(std::vector<simt::LaunchProfile> launches);

/// @brief The profile with its atomics counted as loads and stores, too, since they read and write: who asks
/// for these means all of them. A few atomics, by which blocks agree on something, are left as they are.
Profile with_atomics_as_accesses(Profile profile);

/// @brief Visits every counter under its name, e.g. "global_load.sectors".
void for_each_counter(const simt::Counters& counters,
                      const std::function<void(const std::string& name, std::uint64_t value)>& visit);

/// @brief Launches as JSON: names as in simt/profile.hpp, counters that are 0 left out.
nlohmann::json launches_to_json(const std::vector<simt::LaunchProfile>& launches);

/// @throws nlohmann::json::exception if it is not that.
std::vector<simt::LaunchProfile> launches_from_json(const nlohmann::json& value);

}  // namespace course::grading
