#pragma once
/// @file
/// The tables of profile_text, one for each topic.

#include <string>
#include <vector>

#include "simt/profile.hpp"
#include "simt/report/text_layout.hpp"
#include "simt/report/topics.hpp"

namespace simt::report {

/// Launches of one kernel and shape, summed.
struct LaunchGroup {
  LaunchProfile sum;
  std::size_t launches = 1;
};

/// @brief In the order of their first launches.
std::vector<LaunchGroup> group_launches(const std::vector<LaunchProfile>& profiles);

/// @brief The table of a topic, at most 80 columns; empty if there is nothing to show. `marked[i]` puts a
/// mark before lines[i]. The columns that it has are added to `shown`.
std::string table_text(const Topic& topic, const LaunchProfile& profile, const std::vector<bool>& marked,
                       Sources& sources, std::vector<const Column*>& shown);

}  // namespace simt::report
