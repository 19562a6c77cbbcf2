#pragma once
/// @file
/// Names of arrays, read off the source: for the compiler's own bounds checks, which tell a type and an
/// index.

#include <string>
#include <string_view>
#include <vector>

#include "simt/runtime/symbolize.hpp"

namespace simt::check {

/// The source text of a line, and of those that called its function, innermost first.
using SourceTexts = std::vector<std::string>;
SourceTexts texts_of(const std::vector<SourceCall>& calls);

/// @brief The arrays that a line of source indexes, each once: {"tile", "s.a"} for "tile[i][j] = s.a[k];".
std::vector<std::string> indexed_names(std::string_view line);

/// @brief Whether the name stands in the text, and not as a part of a longer one.
bool has_word(std::string_view text, std::string_view word);

/// @brief Whether the line uses the array `name`. Of a member, `smem.K`, the object may have another name
/// there: `tiles.K`, `tiles->K`.
bool mentions(std::string_view line, std::string_view name);

}  // namespace simt::check
