#pragma once
/// @file
/// The hints of a lesson, as its hints.md has them: each under a heading with its number.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "grading/project/lesson.hpp"

namespace course::cli {

struct Hint {
  std::string title;  ///< "The index"
  std::string text;   ///< Markdown, without the heading
};

/// @brief The hints of a hints.md, in order, each under a heading "## 2. The index". What comes before the
/// first is left out.
/// @throws std::runtime_error in a sentence if there is none, one is empty, or the numbers are not 1, 2, 3
/// ...
std::vector<Hint> parse_hints(std::string_view markdown);

/// @brief The hints of a lesson.
/// @throws std::runtime_error that names the file
std::vector<Hint> read_hints(const grading::Lesson& lesson);

}  // namespace course::cli
