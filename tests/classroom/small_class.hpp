#pragma once
/// @file
/// A class of marks that is small enough to compute its numbers by hand.

#include <string>
#include <vector>

#include "classroom/marks.hpp"

namespace course::classroom::test {

inline course::grading::Lesson lesson(int number, const std::string& title, int points) {
  course::grading::Lesson one;
  one.number = number;
  one.title = title;
  one.points = points;
  return one;
}

inline CaseMark run(const std::string& name, bool passed, double max_points, bool hidden = false,
                    const std::vector<std::string>& diagnoses = {}) {
  CaseMark one;
  one.name = name;
  one.hidden = hidden;
  one.passed = passed;
  one.points = passed ? max_points : 0;
  one.max_points = max_points;
  one.diagnoses = diagnoses;
  return one;
}

inline LessonMark mark(const course::grading::Lesson& of, Standing standing,
                       const std::vector<CaseMark>& cases = {}) {
  LessonMark one;
  one.lesson = of;
  one.standing = standing;
  one.cases = cases;
  for (const CaseMark& each : cases) one.earned += each.points;
  one.points = one.earned;
  one.max_points = of.points;
  return one;
}

/// Five students and two lessons of 10 and 20 points; in lesson 1 they have 10, 6, 0 (not compiled), nothing
/// and 2.
inline ClassMarks small_class() {
  const course::grading::Lesson first = lesson(1, "Vector add", 10), second = lesson(2, "Strides", 20);
  ClassMarks marks;
  marks.title = "Spring";
  marks.lessons = {first, second};
  marks.isolation = "namespaces";
  marks.has_hidden = true;
  const auto add = [&](const char* name, const LessonMark& a, const LessonMark& b) {
    marks.students.push_back({name, "", name, {}, {a, b}});
  };
  add("Ada",
      mark(first, Standing::graded, {run("adds", true, 4), run("tail", true, 2), run("adds", true, 4, true)}),
      mark(second, Standing::graded, {run("strides", true, 20)}));
  add("Ben",
      mark(first, Standing::graded,
           {run("adds", true, 4), run("tail", true, 2), run("adds", false, 4, true, {"race"})}),
      mark(second, Standing::graded, {run("strides", false, 20, false, {"race", "out_of_bounds"})}));
  add("Cleo", mark(first, Standing::not_compiled), mark(second, Standing::refused));
  add("Dan", mark(first, Standing::missing), mark(second, Standing::ungraded));
  add("Eve",
      mark(first, Standing::graded,
           {run("adds", false, 4), run("tail", true, 2), run("adds", false, 4, true, {"tail_missing"})}),
      mark(second, Standing::missing));
  marks.students[1].lessons[0].late = true;
  marks.students[0].lessons[0].seconds = 1.25;
  marks.students[1].lessons[1].seconds = 7.5;
  return marks;
}

}  // namespace course::classroom::test
