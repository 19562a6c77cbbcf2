#pragma once
/// @file
/// How the reports lay out JSON.

#include <string>
#include <utility>
#include <vector>

#include "simt/report/json.hpp"

namespace simt::report {

using Rows = std::pair<std::string, std::vector<Json>>;

/// @brief An object with the members of `head`, then the lists, each element on a line of its own: short, and
/// still something to read and to search. Valid UTF-8, with a line break at the end.
inline std::string document(const Json& head, const std::vector<Rows>& lists) {
  const auto dump = [](const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  std::string text = dump(head);
  text.pop_back();
  for (const auto& [name, rows] : lists) {
    text += ",\n\"" + name + "\":[";
    const char* separator = "\n";
    for (const Json& row : rows) {
      text += separator + dump(row);
      separator = ",\n";
    }
    text += rows.empty() ? "]" : "\n]";
  }
  return text + "}\n";
}

}  // namespace simt::report
