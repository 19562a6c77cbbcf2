#pragma once
/// @file
/// The sections of the cohort page, each an element with its own heading.

#include <string>

#include "classroom/marks.hpp"

namespace course::classroom {

/// @brief What was graded, and how, in one paragraph.
std::string facts_line(const ClassMarks& marks);

/// @brief A box that names the files that are not graded, and says what to do; empty if there are none.
std::string ungraded_box(const ClassMarks& marks);

/// @brief The histogram of points with mean and median.
std::string points_section(const ClassMarks& marks);

/// @brief Each lesson with its files and points.
std::string lessons_section(const ClassMarks& marks);

/// @brief The cases that most students fail.
std::string cases_section(const ClassMarks& marks);

/// @brief The diagnoses that most students get, each with a sentence.
std::string diagnoses_section(const ClassMarks& marks);

/// @brief What was not compiled, refused, missing or late, lesson by lesson, and the first words of why.
std::string stopped_section(const ClassMarks& marks);

/// @brief The files that took longest.
std::string slowest_section(const ClassMarks& marks);

/// @brief Every student with the points of each lesson, and links to what the student gets.
std::string students_section(const ClassMarks& marks);

}  // namespace course::classroom
