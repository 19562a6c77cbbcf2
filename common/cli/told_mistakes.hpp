#pragma once
/// @file
/// What the lessons' pages of mistakes say: the rows of each mistakes.md.

#include <string>
#include <string_view>
#include <vector>

#include "grading/project/lesson.hpp"

namespace course::cli {

/// A row of a page of mistakes: "*the sum so far was not rescaled*" and what it comes from, in Markdown.
struct ToldMistake {
  std::string read;    ///< what a report says
  std::string source;  ///< what it comes from
};

/// @brief The rows of a page's tables, without their heads.
std::vector<ToldMistake> parse_told_mistakes(std::string_view markdown);

/// @brief Those rows whose first cell has these words, which are compared without their marks and capitals.
std::vector<ToldMistake> matching_told_mistakes(const std::vector<ToldMistake>& mistakes,
                                                std::string_view words);

/// @brief A page in Markdown with the rows of all lessons that have these words; empty if there are none.
/// Fewer than three words are in too many rows, and match none.
std::string page_of_told_mistakes(const std::vector<grading::Lesson>& lessons, std::string_view words);

}  // namespace course::cli
