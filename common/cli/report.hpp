#pragma once
/// @file
/// What `check` says about a lesson, for people and for programs.

#include <cstddef>
#include <string>
#include <vector>

#include "cli/terminal.hpp"
#include "grading/judging/lesson_check.hpp"

namespace course::cli {

struct ReportStyle {
  bool verbose = false;   ///< every failed case in full, and the notes
  std::string command;    ///< what to type to check again
  bool watching = false;  ///< the first failed case in full, those that fail in other ways by name
  std::size_t first = 0;  ///< which failed case is told first; counts on from the first past the last
};

/// @brief One block: the verdict and the points, what failed and why, and what to do next.
std::string render_report(const Terminal& terminal, const grading::LessonReport& report,
                          const ReportStyle& style);

/// @brief The first line of that block: a word in colour, the lesson, and at the right what it came to. Two
/// lines where one is too short.
std::string render_heading(const Terminal& terminal, Style style, const std::string& word,
                           const grading::Lesson& lesson, const std::string& right);

/// @brief What comes below the heading, without what to do next.
std::string render_findings(const Terminal& terminal, const grading::LessonReport& report,
                            const ReportStyle& style);

/// @brief The line under several blocks: how many lessons passed, and the points.
std::string render_summary(const Terminal& terminal, const std::vector<grading::LessonReport>& reports);

/// @brief The reports in the form that `--json` writes, version 1, with a line break at the end.
std::string to_json(const std::vector<grading::LessonReport>& reports, grading::Backend backend);

}  // namespace course::cli
