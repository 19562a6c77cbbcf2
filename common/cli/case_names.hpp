#pragma once
/// @file
/// The cases of a lesson's tests, and which of them a student means.

#include <string>
#include <vector>

#include "grading/facts/listing.hpp"
#include "grading/project/lesson.hpp"
#include "grading/project/toolchain.hpp"

namespace course::cli {

/// A lesson's cases, and which of them a student means.
struct CaseChoice {
  grading::Lesson lesson;
  std::vector<grading::ListedCase> all, chosen;
};

/// @brief Of each lesson the cases whose names contain the words, as they stand there; small letters are as
/// good as capital ones. A lesson without such a case is left out. Asks the test programs, which must be
/// built. Cost: their start, some milliseconds each.
/// @throws UsageError if no lesson has such a case, and grading::MachineError if a program gives no list
std::vector<CaseChoice> choose_cases(const grading::Toolchain& toolchain,
                                     const std::vector<grading::Lesson>& lessons, const std::string& words);

/// @brief "1 point" or "3 points".
std::string count_points(int points);

/// @brief The sum over the cases.
int sum_points(const std::vector<grading::ListedCase>& cases);

}  // namespace course::cli
