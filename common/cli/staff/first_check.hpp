#pragma once
/// @file
/// Whether the notes of a lesson print what its first check says.

#include <string>

#include "grading/judging/lesson_check.hpp"

namespace course::cli {

/// @brief Holds what `check` says of the untouched file against the block of the lesson's README.md that
/// begins with "FAIL" and the lesson's number. Times may differ.
/// @return One sentence with the first line that differs; empty if none does.
std::string why_notes_differ(const grading::LessonReport& of_stub);

}  // namespace course::cli
