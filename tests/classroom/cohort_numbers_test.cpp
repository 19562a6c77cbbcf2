#include "classroom/cohort_numbers.hpp"

#include <array>
#include <cstddef>
#include <filesystem>
#include <vector>

#include "classroom/small_class.hpp"
#include "support/catch.hpp"

using namespace course::classroom;
using namespace course::classroom::test;
using Catch::Approx;

TEST_CASE("numbers of a lesson leave out the missing and the ungraded, and count what does not compile as 0",
          "[classroom][cohort]") {
  const std::vector<LessonNumbers> numbers = lesson_numbers(small_class());
  REQUIRE(numbers.size() == 2);
  const LessonNumbers& first = numbers[0];
  CHECK(first.handed_in == 4);
  CHECK(first.known == 4);
  CHECK(first.tested == 3);
  CHECK(first.late == 1);
  CHECK(first.not_compiled == 1);
  CHECK(first.missing == 1);
  CHECK(first.mean == Approx(4.5));    // (10 + 6 + 0 + 2) / 4
  CHECK(first.median == Approx(4.0));  // of 0, 2, 6, 10
  CHECK(first.levels == std::array<std::size_t, kLevels>{1, 1, 1, 0, 1, 1, 0});
  const LessonNumbers& second = numbers[1];
  CHECK(second.handed_in == 4);
  CHECK(second.known == 3);
  CHECK(second.refused == 1);
  CHECK(second.ungraded == 1);
  CHECK(second.mean == Approx(20.0 / 3));
  CHECK(second.median == Approx(0.0));  // of 0, 0, 20
  CHECK(second.levels == std::array<std::size_t, kLevels>{1, 0, 0, 1, 1, 1, 1});
}

TEST_CASE("an open case and the hidden one of its name fail as one", "[classroom][cohort]") {
  const std::vector<CaseNumbers> cases = failed_cases(small_class());
  REQUIRE(cases.size() == 2);
  CHECK(cases[0].name == "adds");
  CHECK(cases[0].lesson == 0);
  CHECK(cases[0].tested == 3);
  CHECK(cases[0].failed == 2);
  CHECK(cases[0].failed_hidden_only == 1);
  CHECK(cases[1].name == "strides");
  CHECK(cases[1].failed == 1);
  CHECK(cases[1].tested == 2);
  CHECK(hidden_cases(small_class()) == 1);
}

TEST_CASE("a diagnosis counts once a student, whatever the number of cases", "[classroom][cohort]") {
  const std::vector<DiagnosisNumbers> list = diagnoses(small_class());
  REQUIRE(list.size() == 3);
  CHECK(list[0].name == "out_of_bounds");
  CHECK(list[1].name == "race");
  CHECK(list[1].students == 1);
  CHECK(list[1].lessons == std::vector<std::size_t>{0, 1});
  CHECK(list[2].name == "tail_missing");
  ClassMarks more = small_class();
  more.students[4].lessons[0].cases[0].diagnoses = {"race"};
  CHECK(diagnoses(more)[0].name == "race");
  CHECK(diagnoses(more)[0].students == 2);
}

TEST_CASE("cases of a file that the machine did not grade to its end count nowhere", "[classroom][cohort]") {
  ClassMarks marks = small_class();
  marks.students[1].lessons[0].standing = Standing::ungraded;
  marks.students[1].lessons[1].standing = Standing::ungraded;
  REQUIRE(failed_cases(marks).size() == 1);
  CHECK(failed_cases(marks)[0].failed == 1);
  REQUIRE(diagnoses(marks).size() == 1);
  CHECK(diagnoses(marks)[0].name == "tail_missing");
}

TEST_CASE("totals leave out a student with an ungraded file", "[classroom][cohort]") {
  const TotalNumbers numbers = total_numbers(small_class());
  CHECK(numbers.max_points == Approx(30));
  CHECK(numbers.known == 4);
  CHECK(numbers.ungraded == 1);
  CHECK(numbers.all_points == 1);
  CHECK(numbers.mean == Approx(9.5));  // (30 + 6 + 0 + 2) / 4
  CHECK(numbers.median == Approx(4));  // of 0, 2, 6, 30
  CHECK(numbers.bins == std::array<std::size_t, 10>{2, 0, 1, 0, 0, 0, 0, 0, 0, 1});
}

TEST_CASE("slowest files come first, without those that took no time of their own", "[classroom][cohort]") {
  const std::vector<FileTime> list = slowest_files(small_class(), 10);
  REQUIRE(list.size() == 2);
  CHECK(list[0].seconds == Approx(7.5));
  CHECK(list[0].student == 1);
  CHECK(list[0].lesson == 1);
  CHECK(slowest_files(small_class(), 1).size() == 1);
}

TEST_CASE("levels have their bounds at all and at half of the points", "[classroom][cohort]") {
  const course::grading::Lesson one = lesson(1, "Vector add", 24);
  const auto of = [&](double points) {
    LessonMark reached = mark(one, Standing::graded);
    reached.points = points;
    return level(reached);
  };
  CHECK(of(24) == Level::all);
  CHECK(of(8 * 0.1 * 30) == Level::all);  // rounding costs nobody a level
  CHECK(of(23.5) == Level::most);
  CHECK(of(12) == Level::most);
  CHECK(of(11.5) == Level::some);
  CHECK(of(0) == Level::none);
}
