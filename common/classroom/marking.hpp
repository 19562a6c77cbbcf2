#pragma once
/// @file
/// From a verdict to the marks that a student gets.

#include <map>
#include <set>
#include <string>

#include "classroom/marks.hpp"
#include "classroom/submissions.hpp"
#include "classroom/verdict.hpp"

namespace course::classroom {

struct MarkingPolicy {
  double late_share = 1;  ///< of the points that a late file earned, so much counts: 0 to 1
  /// By lesson number: cases that have no hidden twin, since not even the worked solution passes it.
  std::map<int, std::set<std::string>> without_twin{};
};

/// @brief The mark for a file. What messages say of hidden cases is left out here, and so nobody can write it
/// later.
LessonMark mark_of(const grading::Lesson& lesson, const Submission& submission, const FileVerdict& verdict,
                   const MarkingPolicy& policy);

/// @brief The mark of who handed in nothing for the lesson.
LessonMark mark_of_missing(const grading::Lesson& lesson);

/// @brief The mark of whose file this machine could not look at; `why` is for the instructor.
LessonMark mark_of_unreadable(const grading::Lesson& lesson, const std::string& why);

}  // namespace course::classroom
