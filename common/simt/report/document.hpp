#pragma once
/// @file
/// How the reports lay out JSON.

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "simt/report/json.hpp"

namespace simt::report {

inline std::string dump(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// @brief An object without its last brace, so that lists can follow.
inline std::string open_document(const Json& head) {
  std::string text = dump(head);
  text.pop_back();
  return text;
}

/// @brief Appends a member that is a list, each element on a line of its own. `to_json` makes it of an item.
template <class Items, class ToJson>
void add_list(std::string& text, const std::string& name, const Items& items, ToJson to_json) {
  text += ",\n\"" + name + "\":[";
  const char* separator = "\n";
  for (const auto& item : items) {
    text += separator + dump(to_json(item));
    separator = ",\n";
  }
  text += items.empty() ? "]" : "\n]";
}

using Rows = std::pair<std::string, std::vector<Json>>;

/// @brief An object with the members of `head`, then the lists, each element on a line of its own: short, and
/// still something to read and to search. Valid UTF-8, with a line break at the end.
inline std::string document(const Json& head, const std::vector<Rows>& lists) {
  std::string text = open_document(head);
  for (const auto& [name, rows] : lists) add_list(text, name, rows, [](const Json& row) { return row; });
  return text + "}\n";
}

}  // namespace simt::report
