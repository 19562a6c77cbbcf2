#pragma once
/// @file
/// One student's results, in the formats that platforms, programs and the student read. All are valid UTF-8
/// whatever the names and messages hold, and have the same bytes for the same marks: no times, no dates of
/// the run.

#include <cstddef>
#include <string>

#include "classroom/marks.hpp"

namespace course::classroom {

/// @brief results.json as Gradescope reads it: a test for each case, or one for a lesson whose tests did not
/// run. The total is the student's points, less what lateness cost. Hidden cases are shown once grades are
/// published.
std::string gradescope_json(const StudentMarks& student);

/// @brief JUnit XML: a test suite for each lesson. A lesson that was not handed in is a failure and not
/// "skipped", which most readers show as no harm done, though it costs all points. An ungraded lesson is an
/// error.
std::string junit_xml(const StudentMarks& student);

/// @brief The same for the student, as Markdown. No name, message or file name can leave the place it is put
/// in. Messages are cut at kMaxMessage characters; of hidden cases only names and diagnoses are told.
std::string feedback_markdown(const StudentMarks& student);

/// Characters of one case's message that are shown.
inline constexpr std::size_t kMaxMessage = 4000;

/// @brief "01 Vector add".
std::string lesson_title(const grading::Lesson& lesson);

/// @brief The case's name in one line, with " (hidden data)" behind it for a hidden case.
std::string case_title(const CaseMark& mark);

/// @brief Why a case failed, in lines without control characters and cut; of a hidden case nothing but that
/// it did. Its diagnoses come last. Empty if it passed.
std::string case_explanation(const CaseMark& mark);

/// @brief Whether the lesson has cases to show. If not, standing_sentence() says why, and its message more.
bool has_cases(const LessonMark& mark);

/// @brief What it means for the student that a lesson has no cases, without the lesson's own message.
std::string standing_sentence(Standing standing);

/// @brief The lesson's own message in lines without control characters, cut; empty if there is none.
std::string standing_message(const LessonMark& mark);

}  // namespace course::classroom
