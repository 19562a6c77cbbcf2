#pragma once
/// @file
/// What canvas.csv and Moodle's worksheet have in common: a table from a platform, and whose row is which.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "classroom/csv.hpp"
#include "classroom/marks.hpp"
#include "classroom/roster.hpp"

namespace course::classroom {

/// @brief The line's cell, or an empty one if the line is too short.
const std::string& cell_text(const CsvLine& line, std::size_t column);

/// @brief Without white space at either end.
std::string trimmed(const std::string& text);

/// @brief The first column with that name, whatever its letter case.
std::optional<std::size_t> find_column(const CsvLine& header, const std::string& name);

/// @brief The cell's number, not negative, which may have a decimal comma; nothing if it is none.
std::optional<double> number_in(const std::string& cell);

/// @brief Whether both are the same but for rounding.
bool same_points(double a, double b);

/// @brief The lesson's points as a cell; "" for an ungraded lesson, whose points nobody knows.
std::string points_cell(const LessonMark& mark);

/// @brief The names of the failed cases with "; " between them, the first `limit` of them.
std::string failed_names(const LessonMark& mark, std::size_t limit);

/// @brief The most points that any student could have in the class's lesson with this index.
double lesson_max_points(const ClassMarks& marks, std::size_t lesson);

/// Whose row is which, and sentences about those for whom nothing can be entered.
struct Entries {
  std::map<std::size_t, const StudentMarks*> by_row;
  std::vector<std::string> notes;
};

/// @brief Finds the students in the rows of `table`, which is its name in the sentences, such as "gradebook".
Entries find_entries(const ClassMarks& marks, const std::vector<RosterRow>& rows, const std::string& table);

}  // namespace course::classroom
