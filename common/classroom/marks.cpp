#include "classroom/marks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace course::classroom {

const char* standing_name(Standing standing) {
  switch (standing) {
    case Standing::graded:
      return "graded";
    case Standing::not_compiled:
      return "not_compiled";
    case Standing::refused:
      return "refused";
    case Standing::missing:
      return "missing";
    case Standing::ungraded:
      break;
  }
  return "ungraded";
}

std::size_t passed_cases(const LessonMark& mark) {
  return static_cast<std::size_t>(
      std::count_if(mark.cases.begin(), mark.cases.end(), [](const CaseMark& one) { return one.passed; }));
}

bool has_ungraded(const StudentMarks& student) {
  return std::any_of(student.lessons.begin(), student.lessons.end(),
                     [](const LessonMark& mark) { return mark.standing == Standing::ungraded; });
}

double points(const StudentMarks& student) {
  double sum = 0;
  for (const LessonMark& mark : student.lessons)
    if (mark.standing != Standing::ungraded) sum += mark.points;
  return sum;
}

double max_points(const StudentMarks& student) {
  double sum = 0;
  for (const LessonMark& mark : student.lessons) sum += mark.max_points;
  return sum;
}

std::string format_points(double points) {
  std::string text = fmt::format("{:.2f}", points);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text == "-0" ? "0" : text;
}

}  // namespace course::classroom
