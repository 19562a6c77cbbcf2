#pragma once
/// @file
/// Small pieces of messages.

#include <cstddef>
#include <string>
#include <string_view>

namespace course::grading {

/// @brief "1 case", "2 cases".
std::string plural(std::size_t count, std::string_view thing);

/// @brief The text up to its first line break.
std::string first_line(std::string_view text);

/// @brief Appends a line, unless it is empty; a line break stands between two lines, and none at the end.
void add_line(std::string& text, std::string_view line);

/// @brief With A-Z as a-z; other bytes stay.
std::string ascii_lower(std::string_view text);

}  // namespace course::grading
