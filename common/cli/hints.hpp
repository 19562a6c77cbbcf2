#pragma once
/// @file
/// The hints of a lesson, as its hints.md has them: each under a heading with its number.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "cli/progress.hpp"
#include "grading/project/lesson.hpp"

namespace course::cli {

struct Hint {
  std::string title;    ///< "The index"
  std::string text;     ///< Markdown, without the heading
  std::string until{};  ///< words in the name of a case; who passes it has no use for this hint. Empty: none
};

/// @brief The hints of a hints.md, in order, each under a heading "## 2. The index". What comes before the
/// first is left out. A comment "until: WORDS" below the heading names the case that a hint leads to.
/// @throws std::runtime_error in a sentence if there is none, one is empty, or the numbers are not 1, 2, 3
/// ...
std::vector<Hint> parse_hints(std::string_view markdown);

/// @brief Whether the student's file does already what the hint leads to, by the cases of its last check.
bool is_behind(const Hint& hint, const Standing& standing);

/// @brief The hints of a lesson.
/// @throws std::runtime_error that names the file
std::vector<Hint> read_hints(const grading::Lesson& lesson);

}  // namespace course::cli
