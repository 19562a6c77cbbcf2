#pragma once

#include <cstddef>
#include <string_view>

namespace course::grading {

/// Levenshtein distance: insertions, deletions and replacements that turn one word into the other.
std::size_t edit_distance(std::string_view a, std::string_view b);

}  // namespace course::grading
