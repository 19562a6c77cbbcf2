#pragma once
/// @file
/// The columns of profile_text: what each shows, and what it means.

#include <cstddef>
#include <string>
#include <vector>

#include "simt/profile.hpp"

namespace simt::report {

/// The tables, in their order.
enum class TopicName : std::size_t { global_memory, shared_memory, cooperation, branches };

/// The counters of a line or a launch, with loads, stores and atomics together.
struct Sums {
  explicit Sums(const Counters& counters);

  GlobalTraffic global;
  SharedTraffic shared;
  Counters events;
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
