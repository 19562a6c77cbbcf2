#pragma once
/// @file
/// The columns of profile_text: what each shows, and what it means.

#include <cstddef>
#include <string>
#include <vector>

#include "simt/profile.hpp"
#include "simt/report/bounds.hpp"

namespace simt::report {

/// The tables, in their order.
enum class TopicName : std::size_t { global_memory, shared_memory, cooperation, branches, bounds };

/// The counters of a line or a launch, with loads, stores and atomics together.
struct Sums {
  /// `whole`: of the launch that they are a part of.
  Sums(const Counters& counters, const Counters& whole);

  GlobalTraffic global;
  SharedTraffic shared;
  Counters events;
  Cycles cycles;         ///< that the units need at least
  double share;          ///< of the cycles of the unit that takes longest in the launch
  bool launch_computes;  ///< some arithmetic was seen in the launch
};

struct Column {
  const char* head;
  const char* legend;  ///< what it means, and its ideal, on one line
  std::string (*cell)(const Sums&);
};

/// Columns that belong together.
struct Topic {
  const char* title;
  bool (*concerns)(const Sums&);  ///< whether there is anything to show
  std::vector<Column> columns;
};

/// @brief In the order of TopicName.
const std::vector<Topic>& topics();

}  // namespace simt::report
