#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "classroom/cohort_html.hpp"
#include "classroom/cohort_numbers.hpp"
#include "classroom/cohort_sections.hpp"
#include "classroom/text.hpp"

namespace course::classroom {
namespace {

/// A letter behind or in place of points, with its meaning.
std::string letter(const char* one, const char* meaning) {
  return fmt::format("<abbr title=\"{}\">{}</abbr>", meaning, one);
}

std::string mark_text(const LessonMark& mark) {
  const std::string late = mark.late ? " " + letter("L", "late") : "";
  switch (mark.standing) {
    case Standing::graded:
      return format_points(mark.points) + late;
    case Standing::not_compiled:
      return "0 " + letter("C", "does not compile") + late;
    case Standing::refused:
      return "0 " + letter("R", "refused") + late;
    case Standing::missing:
      return letter("–", "not handed in");
    case Standing::ungraded:
      return letter("?", "not graded yet") + late;
  }
  return "";
}

std::string mark_cell(const LessonMark& mark) {
  return fmt::format("<td class=\"mark {}\">{}</td>", level_class(level(mark)), mark_text(mark));
}

/// Links in the page's own folder: "./" keeps a folder's name from being read as a scheme or a host.
std::string links(const StudentMarks& student) {
  const std::string folder = "./" + escaped(percent_encoded(student.folder));
  return fmt::format(
      "<td class=\"links\"><a href=\"{0}/feedback.md\">feedback</a>"
      "<a href=\"{0}/results.json\">results</a></td>",
      folder);
}

std::string total_cell(const StudentMarks& student, double of) {
  const std::string sum = format_points(points(student));
  if (has_ungraded(student)) {
    return fmt::format("<td class=\"number total\">{} {}</td>", sum,
                       letter("+ ?", "and the points of files that are not graded yet"));
  }
  if (of <= 0) return fmt::format("<td class=\"number total\">{}</td>", sum);
  // Rounded down: 100 % is what only all points give.
  return fmt::format("<td class=\"number total\">{} <small>{} %</small></td>", sum,
                     static_cast<int>(std::floor(100 * points(student) / of + 1e-9)));
}

std::string student_head(const StudentMarks& student) {
  const std::string id = student.id.empty() ? "" : "<small>" + name_html(student.id) + "</small>";
  return "<span class=\"name\">" + name_html(student.name) + "</span>" + id;
}

std::vector<std::string> student_row(const ClassMarks& marks, const StudentMarks& student, double of) {
  static const LessonMark missing;
  std::vector<std::string> row = {student_head(student)};
  row.push_back(total_cell(student, of));
  for (std::size_t i = 0; i < marks.lessons.size(); ++i) {
    row.push_back(mark_cell(i < student.lessons.size() ? student.lessons[i] : missing));
  }
  row.push_back(links(student));
  return row;
}

constexpr const char* kHow =
    "<p>Points that count, lesson by lesson. Letters stand beside colours: <b>C</b> does not compile, "
    "<b>R</b> refused, "
    "<b>L</b> late, <b>–</b> not handed in, <b>?</b> not graded yet.</p>\n";
constexpr const char* kFilter =
    "<p class=\"filter\" id=\"filter-box\" hidden><label for=\"filter\">Only names with</label> "
    "<input id=\"filter\" type=\"search\" autocomplete=\"off\" spellcheck=\"false\"> "
    "<output id=\"filter-count\" for=\"filter\"></output></p>\n";

}  // namespace

std::string students_section(const ClassMarks& marks) {
  std::string html =
      "<section id=\"students\" aria-labelledby=\"students-title\">\n<h2 "
      "id=\"students-title\">Students</h2>\n";
  if (marks.students.empty()) return html + "<p>There are no students.</p>\n</section>\n";
  double of = 0;
  for (const grading::Lesson& lesson : marks.lessons) of += lesson.points;
  std::vector<Column> columns = {{"Student"},
                                 {fmt::format("Total<small>of {}</small>", format_points(of)), true}};
  for (const grading::Lesson& lesson : marks.lessons) {
    columns.push_back({fmt::format("<abbr title=\"{}\">{}</abbr><small>of {}</small>", escaped(lesson.title),
                                   lesson.two_digits(), lesson.points),
                       true});
  }
  columns.push_back({"Files"});
  std::vector<std::vector<std::string>> rows;
  for (const StudentMarks& student : marks.students) rows.push_back(student_row(marks, student, of));
  return html + kHow + level_key() + kFilter + table("students", "Points of each student", columns, rows) +
         "</section>\n";
}

}  // namespace course::classroom
