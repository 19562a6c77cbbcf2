#include "classroom/tables.hpp"

#include <algorithm>

#include "classroom/csv.hpp"
#include "classroom/platform_table.hpp"
#include "classroom/student_results.hpp"
#include "classroom/text.hpp"

namespace course::classroom {
namespace {

/// The numbers of cases are empty where none ran, since nobody knows how they would have ended.
CsvRow grades_row(const StudentMarks& student, const LessonMark& mark) {
  const bool ran = has_cases(mark);
  return {spreadsheet_safe(one_line(student.name)),
          spreadsheet_safe(one_line(student.id)),
          mark.lesson.id(),
          spreadsheet_safe(mark.lesson.title),
          points_cell(mark),
          format_points(mark.max_points),
          standing_name(mark.standing),
          mark.late ? "yes" : "no",
          spreadsheet_safe(one_line(mark.file)),
          spreadsheet_safe(mark.handed_in),
          ran ? std::to_string(passed_cases(mark)) : "",
          ran ? std::to_string(mark.cases.size()) : "",
          ran ? spreadsheet_safe(failed_names(mark, mark.cases.size())) : ""};
}

}  // namespace

std::string grades_csv(const ClassMarks& marks) {
  std::vector<CsvRow> rows = {{"student", "id", "lesson", "title", "points", "max_points", "status", "late",
                               "file", "handed_in", "cases_passed", "cases", "failed_cases"}};
  for (const StudentMarks& student : marks.students)
    for (const LessonMark& mark : student.lessons) rows.push_back(grades_row(student, mark));
  return format_csv(rows);
}

}  // namespace course::classroom
