#pragma once
/// @file
/// The tables of Markdown.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace course::cli {

/// @brief Whether a table begins at that line: a row and, below it, the line of dashes.
bool is_table(const std::vector<std::string>& lines, std::size_t at);

/// @brief The cells of a row, without the spaces around them. `\|` and bars in inline code do not divide.
std::vector<std::string> cells_of(std::string_view row);

/// @brief Lays a table out in columns; cells that have no room are wrapped.
/// @param at  its first line; then the line behind it
std::string table_to_text(const std::vector<std::string>& lines, std::size_t& at, std::size_t indent,
                          std::size_t width);

}  // namespace course::cli
