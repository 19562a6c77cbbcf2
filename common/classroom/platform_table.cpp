#include "classroom/platform_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "classroom/student_results.hpp"
#include "classroom/text.hpp"
#include "grading/base/messages.hpp"

namespace course::classroom {

const std::string& cell_text(const CsvLine& line, std::size_t column) {
  static const std::string empty;
  return column < line.cells.size() ? line.cells[column].text : empty;
}

std::string trimmed(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
}

std::optional<std::size_t> find_column(const CsvLine& header, const std::string& name) {
  for (std::size_t column = 0; column < header.cells.size(); ++column)
    if (grading::ascii_lower(trimmed(header.cells[column].text)) == grading::ascii_lower(name)) return column;
  return {};
}

std::optional<double> number_in(const std::string& cell) {
  std::string text = trimmed(cell);
  std::replace(text.begin(), text.end(), ',', '.');
  const bool plain = !text.empty() && text.find_first_not_of("0123456789.") == std::string::npos &&
                     std::count(text.begin(), text.end(), '.') <= 1 && text != "." && text.size() < 16;
  return plain ? std::optional(std::stod(text)) : std::nullopt;
}

bool same_points(double a, double b) { return std::abs(a - b) < 1e-6; }

std::string points_cell(const LessonMark& mark) {
  return mark.standing == Standing::ungraded ? "" : format_points(mark.points);
}

std::string failed_names(const LessonMark& mark, std::size_t limit) {
  std::string names;
  std::size_t count = 0;
  for (const CaseMark& one : mark.cases) {
    if (one.passed || ++count > limit) continue;
    names += (names.empty() ? "" : "; ") + case_title(one);
  }
  return count > limit ? fmt::format("{}; and {} more", names, count - limit) : names;
}

double lesson_max_points(const ClassMarks& marks, std::size_t lesson) {
  for (const StudentMarks& student : marks.students)
    if (lesson < student.lessons.size()) return student.lessons[lesson].max_points;
  return marks.lessons[lesson].points;
}

Entries find_entries(const ClassMarks& marks, const std::vector<RosterRow>& rows, const std::string& table) {
  Entries entries;
  const std::vector<RosterMatch> matches = match_students(marks.students, rows);
  for (std::size_t i = 0; i < matches.size(); ++i) {
    const StudentMarks& student = marks.students[i];
    if (matches[i].row)
      entries.by_row[*matches[i].row] = &student;
    else
      entries.notes.push_back(fmt::format("{} {} in the {}: enter these points by hand.",
                                          one_line(student.name), matches[i].problem, table));
  }
  std::string absent;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    // Canvas's own student for trying things out.
    if (entries.by_row.contains(row) || letters_only(rows[row].name) == "studenttest") continue;
    absent += (absent.empty() ? "" : "; ") + one_line(rows[row].name);
  }
  if (!absent.empty())
    entries.notes.push_back(
        fmt::format("Of the {}, these handed in nothing, and are left as they were: {}.", table, absent));
  return entries;
}

}  // namespace course::classroom
