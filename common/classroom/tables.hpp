#pragma once
/// @file
/// The whole class as tables: for people, for Canvas, for Moodle. Cells of text are spreadsheet_safe().

#include <string>
#include <vector>

#include "classroom/marks.hpp"

namespace course::classroom {

/// A table that a learning platform imports.
struct PlatformTable {
  std::string text;
  std::vector<std::string> notes;  ///< sentences for the instructor: who has no row, who handed in nothing,
                                   ///< what was scaled; without control characters
};

/// @brief grades.csv: a row for each student and lesson. The points of an ungraded lesson are empty.
std::string grades_csv(const ClassMarks& marks);

/// @brief canvas.csv: one column for each lesson, as Canvas imports it.
/// With `gradebook`, the text of a gradebook that Canvas exported, its rows and identity columns are kept,
/// and each lesson's column gets the header of the assignment of that name. Students that it does not have
/// are left out and reported. A cell stays as it was if the lesson is ungraded, if its student handed in
/// nothing at all, or if it says EX: Canvas would take an empty cell for a grade that was removed. With an
/// empty `gradebook`: a row for each student, with the name and the id that the submissions gave.
/// @throws std::invalid_argument in a sentence if `gradebook` is no table, or none of Canvas's.
PlatformTable canvas_csv(const ClassMarks& marks, const std::string& gradebook);

/// @brief The grading worksheet that Moodle offers for download, with Grade and Feedback comments filled in
/// for each student found in it; every other byte as it was. The grade is the sum over the lessons, scaled if
/// the worksheet's Maximum grade is another one than the class's. Whoever has an ungraded lesson is left as
/// before.
/// @throws std::invalid_argument in a sentence if `worksheet` is no table, or lacks the columns Identifier or
/// Grade.
PlatformTable moodle_csv(const ClassMarks& marks, const std::string& worksheet);

}  // namespace course::classroom
