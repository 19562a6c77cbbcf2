#pragma once
/// @file
/// Names of arrays, read off the source: for the compiler's own bounds checks, which tell a type and an
/// index.

#include <string>
#include <string_view>
#include <vector>

#include "simt/runtime/symbolize.hpp"

namespace simt::check {

/// @brief The arrays that a line of source indexes, each once: {"tile", "a"} for "tile[i][j] = a[k];".
std::vector<std::string> indexed_names(std::string_view line);

/// @brief Whether the name stands in the text, and not as a part of a longer one.
bool has_word(std::string_view text, std::string_view word);

}  // namespace simt::check
