#include "classroom/tables.hpp"

#include <algorithm>

#include "classroom/csv.hpp"
#include "classroom/platform_table.hpp"
#include "classroom/student_results.hpp"
#include "classroom/text.hpp"

namespace course::classroom {
namespace {

/// The student's files that counted for no lesson, in the row of the lesson that they probably mean; the
/// others in the first row.
std::vector<UncountedFile> uncounted_in(const StudentMarks& student, const LessonMark& mark, bool first) {
  const auto belongs_to = [](const UncountedFile& file, const LessonMark& row) {
    return file.meant == row.lesson.id();
  };
  std::vector<UncountedFile> files;
  for (const UncountedFile& file : student.uncounted) {
    const bool elsewhere = std::any_of(student.lessons.begin(), student.lessons.end(),
                                       [&](const LessonMark& row) { return belongs_to(file, row); });
    if (belongs_to(file, mark) || (first && !elsewhere)) files.push_back(file);
  }
  return files;
}

/// The numbers of cases are empty where none ran, since nobody knows how they would have ended.
CsvRow grades_row(const StudentMarks& student, const LessonMark& mark, bool first) {
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
          ran ? spreadsheet_safe(failed_names(mark, mark.cases.size())) : "",
          spreadsheet_safe(uncounted_list(uncounted_in(student, mark, first)))};
}

}  // namespace

std::string grades_csv(const ClassMarks& marks) {
  std::vector<CsvRow> rows = {{"student", "id", "lesson", "title", "points", "max_points", "status", "late",
                               "file", "handed_in", "cases_passed", "cases", "failed_cases", "not_counted"}};
  for (const StudentMarks& student : marks.students)
    for (const LessonMark& mark : student.lessons)
      rows.push_back(grades_row(student, mark, &mark == &student.lessons.front()));
  return format_csv(rows);
}

}  // namespace course::classroom
