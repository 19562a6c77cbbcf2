#include "classroom/cohort_page.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <stdexcept>
#include <string>

#include "classroom/cohort_html.hpp"
#include "classroom/cohort_numbers.hpp"
#include "classroom/small_class.hpp"
#include "grading/base/sha256.hpp"
#include "support/catch.hpp"

namespace {

using namespace course::classroom;
using namespace course::classroom::test;
using Catch::Matchers::ContainsSubstring;
using course::grading::sha256_base64;

constexpr const char* kCss = "body { margin: 0; }";
constexpr const char* kScript = "\"use strict\";";

std::string page_of(const ClassMarks& marks) { return cohort_page(marks, kCss, kScript); }

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

}  // namespace

TEST_CASE("the page says the class's numbers", "[classroom][cohort]") {
  const std::string page = page_of(small_class());
  CHECK_THAT(page, ContainsSubstring("5 students, 2 lessons, 8 files, graded in the simulator, on the CPU."));
  CHECK_THAT(page, ContainsSubstring("1 hidden case ran on data from a secret seed."));
  CHECK_THAT(page, ContainsSubstring("Mean 9.5, median 4.0 of 30 points"));
  CHECK_THAT(page, ContainsSubstring("1 file is not graded"));
  CHECK_THAT(page, ContainsSubstring("<li><bdi>Dan</bdi>: 02</li>"));
  CHECK_THAT(page, ContainsSubstring("0 to 10 %: 2 students; 20 to 30 %: 1 student; 90 to 100 %: 1 student"));
  CHECK_THAT(page, ContainsSubstring("<th scope=\"row\">01 Vector add</th><td class=\"number\">4</td>"
                                     "<td class=\"number\">1</td><td class=\"number\">4.5</td>"
                                     "<td class=\"number\">4.0</td><td class=\"number\">10</td>"));
  CHECK_THAT(page, ContainsSubstring("6 <abbr title=\"late\">L</abbr>"));
  CHECK_THAT(page, ContainsSubstring("2 of 3 "));
  CHECK_THAT(page, ContainsSubstring("href=\"./Ada/feedback.md\""));
  CHECK_THAT(page, ContainsSubstring("href=\"./Ada/results.json\""));
  CHECK_THAT(page, ContainsSubstring("30 <small>100 %</small>"));
  CHECK(page == page_of(small_class()));
}

TEST_CASE("the page says on what and how weakly isolated files ran", "[classroom][cohort]") {
  ClassMarks marks = small_class();
  marks.backend = course::grading::Backend::gpu;
  marks.isolation = "process";
  marks.has_hidden = false;
  const std::string page = page_of(marks);
  CHECK_THAT(page, ContainsSubstring("graded on a GPU."));
  CHECK_THAT(page, ContainsSubstring("weaker than a sandbox (isolation: process)"));
  CHECK_THAT(page, ContainsSubstring("There are no hidden cases."));
  CHECK_THAT(page, !ContainsSubstring("On hidden data only"));
}

TEST_CASE("no text of a submission becomes markup", "[classroom][cohort]") {
  const std::string nasty = "\"'><script>alert(1)</script><img src=x onerror=alert(2)>&\n\x1b\xff";
  const std::string plain = page_of(small_class());
  ClassMarks marks = small_class();
  marks.title = nasty;
  marks.isolation = nasty;
  for (course::grading::Lesson& one : marks.lessons) one.title = nasty;
  for (StudentMarks& student : marks.students) {
    student.name = student.id = student.folder = nasty;
    for (LessonMark& one : student.lessons) {
      one.file = one.message = one.handed_in = nasty;
      for (CaseMark& each : one.cases) {
        each.name = each.message = nasty;
        each.diagnoses = {nasty};
      }
    }
  }
  const std::string page = page_of(marks);
  CHECK(occurrences(page, "<script") == occurrences(plain, "<script"));
  CHECK(occurrences(page, "<img") == 0);
  CHECK(occurrences(page, "\"'>") == 0);
  CHECK(occurrences(page, "&amp;\n") == 0);
  CHECK_THAT(page, ContainsSubstring("&amp;\\n\\x1b\\xff"));
  CHECK(page.find('\x1b') == std::string::npos);
  CHECK(page.find('\xff') == std::string::npos);
  CHECK_THAT(page, ContainsSubstring("%3Cscript%3Ealert%281%29%3C%2Fscript%3E"));
}

TEST_CASE("a folder's name is never read as a scheme or a host", "[classroom][cohort]") {
  ClassMarks marks = small_class();
  marks.students[0].folder = "javascript:alert(1)";
  marks.students[1].folder = "//example.org";
  const std::string page = page_of(marks);
  CHECK_THAT(page, ContainsSubstring("href=\"./javascript%3Aalert%281%29/feedback.md\""));
  CHECK_THAT(page, ContainsSubstring("href=\"./%2F%2Fexample.org/feedback.md\""));
}

TEST_CASE("a class without students and lessons has a page", "[classroom][cohort]") {
  const std::string page = page_of({});
  CHECK_THAT(page, ContainsSubstring("0 students, 0 lessons, 0 files"));
  CHECK_THAT(page, ContainsSubstring("There are no students."));
  CHECK_THAT(page, ContainsSubstring("No lesson was graded."));
  CHECK_THAT(page, !ContainsSubstring("<table"));
  CHECK_THAT(page, !ContainsSubstring("nan"));
}

TEST_CASE("lessons without students, and students without lessons, have a page", "[classroom][cohort]") {
  ClassMarks lessons = small_class();
  lessons.students.clear();
  CHECK_THAT(page_of(lessons), ContainsSubstring("01 Vector add"));
  CHECK_THAT(page_of(lessons), !ContainsSubstring("nan"));
  ClassMarks students = small_class();
  students.lessons.clear();
  CHECK_THAT(page_of(students), ContainsSubstring("There is nothing to reach points in."));
  ClassMarks short_of_marks = small_class();
  for (StudentMarks& student : short_of_marks.students) student.lessons.clear();
  CHECK(lesson_numbers(short_of_marks)[1].missing == 5);
  CHECK_THAT(page_of(short_of_marks), ContainsSubstring("5 not handed in"));
}

TEST_CASE("a class of which nothing is graded says so and has no means", "[classroom][cohort]") {
  ClassMarks marks = small_class();
  for (StudentMarks& student : marks.students) {
    for (LessonMark& one : student.lessons) {
      one = mark(one.lesson, Standing::ungraded);
      one.message = "The disk is full.\nNo space left on device";
    }
  }
  const std::string page = page_of(marks);
  CHECK_THAT(page, ContainsSubstring("10 files are not graded"));
  CHECK_THAT(page, ContainsSubstring("<bdi>Ada</bdi>: all 2 lessons"));
  CHECK_THAT(page, ContainsSubstring("<li>The disk is full. (10 files)</li>"));
  CHECK_THAT(page, ContainsSubstring("Run the same command again"));
  CHECK_THAT(page, ContainsSubstring("No student’s points are known yet."));
  CHECK_THAT(page, !ContainsSubstring("Mean 0"));
}

TEST_CASE("the policy of the page allows its own style and script by their hashes", "[classroom][cohort]") {
  const std::string page = page_of(small_class());
  CHECK_THAT(page, ContainsSubstring("style-src 'sha256-" + sha256_base64(kCss) + "'; script-src 'sha256-" +
                                     sha256_base64(kScript) + "';"));
  CHECK_THAT(page, ContainsSubstring(fmt::format("<style>{}</style>", kCss)));
  CHECK_THAT(page, ContainsSubstring(fmt::format("<script>{}</script>", kScript)));
  const std::string silent = cohort_page(small_class(), kCss, "");
  CHECK_THAT(silent, ContainsSubstring("script-src 'none'"));
  CHECK_THAT(silent, !ContainsSubstring("<script"));
}

TEST_CASE("style and script that cannot stand in the page are refused by name", "[classroom][cohort]") {
  CHECK_THROWS_WITH(cohort_page({}, "a</style>", ""), ContainsSubstring("css has \"</style\""));
  CHECK_THROWS_WITH(cohort_page({}, "", "'</script>'"), ContainsSubstring("script has \"</script\""));
  CHECK_THROWS_AS(cohort_page({}, "a {}\r\n", ""), std::invalid_argument);
}

TEST_CASE("a long message is cut between two characters", "[classroom][cohort]") {
  std::string umlauts;
  for (int i = 0; i < 150; ++i) umlauts += "ü";
  CHECK(headline("\n\n" + umlauts + "\nmore") == umlauts.substr(0, 200) + " …");
  CHECK(headline("x" + umlauts) == "x" + umlauts.substr(0, 198) + " …");
  CHECK(headline(" <a>\r\nb").starts_with("&lt;a&gt;"));
  CHECK(headline(" \n ").empty());
}
