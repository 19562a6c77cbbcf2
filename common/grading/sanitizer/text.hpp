#pragma once
/// @file
/// The text of one report of compute-sanitizer, and what can be read off its lines.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simt/findings.hpp"

namespace course::grading {

/// A headline and the lines that belong to it, without the tool's prefix and the blanks around them.
struct SanitizerReport {
  std::string headline;
  std::vector<std::string> details;

  /// The first detail with this beginning, without it; empty if there is none.
  std::string detail(std::string_view beginning) const;
};

/// @brief The text between two others; empty if they are not both there.
std::string_view between(std::string_view text, std::string_view before, std::string_view after);

/// @brief The number that a text begins with, such as "140,188 bytes" or "0x7f12 is"; 0 if there is none.
std::uint64_t number_of(std::string_view text);

/// @brief Where an instruction stands, from "scale(float *)+0x70 in scale.cu:10 [2 hazards]". Line 0:
/// unknown.
simt::FindingSide place_of(std::string_view text);

/// @brief Reads three numbers in parentheses behind `before`, such as "thread (". False: they are not there.
bool read_index(std::string_view text, std::string_view before, std::array<unsigned, 3>& index);

/// @brief "(3,0,0)"
std::string index_text(const std::array<unsigned, 3>& index);

/// @brief The last part of a path.
std::string_view name_of(std::string_view path);

}  // namespace course::grading
