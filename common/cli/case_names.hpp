#pragma once
/// @file
/// The cases of a lesson's tests, and which of them a student means.

#include <string>
#include <vector>

#include "grading/facts/listing.hpp"
#include "grading/project/lesson.hpp"
#include "grading/project/toolchain.hpp"

namespace course::cli {

/// @brief Asks the lesson's test program, which must be built. Cost: its start, some milliseconds.
/// @throws grading::MachineError if it gives no list
std::vector<grading::ListedCase> list_cases(const grading::Toolchain& toolchain,
                                            const grading::Lesson& lesson);

/// @brief The cases whose names contain the words, as they stand there; small letters are as good as capital
/// ones.
/// @throws UsageError that lists all names if there is none
std::vector<grading::ListedCase> choose_cases(const grading::Lesson& lesson,
                                              const std::vector<grading::ListedCase>& cases,
                                              const std::string& words);

/// @brief "1 point" or "3 points".
std::string count_points(int points);

/// @brief The sum over the cases.
int sum_points(const std::vector<grading::ListedCase>& cases);

}  // namespace course::cli
