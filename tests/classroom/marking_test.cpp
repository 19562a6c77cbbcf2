#include "classroom/marking.hpp"

#include "classroom/verdict.hpp"
#include "grading/base/subprocess.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course;
using namespace course::classroom;
using Catch::Matchers::ContainsSubstring;

namespace {

grading::Lesson lesson() {
  grading::Lesson lesson;
  lesson.number = 3;
  lesson.name = "weighted_row_sum";
  lesson.points = 10;
  return lesson;
}

grading::CaseResult result(const std::string& name, int points, bool passed) {
  grading::CaseResult one;
  one.name = name;
  one.points = points;
  one.passed = passed;
  if (!passed) one.failures = {test::failed_check("It stands at 0x7fff12345678.")};
  return one;
}

/// One case of 4 points that passes, one of 6 that does not.
FileVerdict graded() {
  FileVerdict verdict;
  verdict.standing = Standing::graded;
  verdict.open = {result("small", 4, true), result("large", 6, false)};
  verdict.open[1].failures.push_back(test::wrong_values("y", {{"off_by_one", "It is off by one."}}));
  return verdict;
}

}  // namespace

TEST_CASE("without hidden cases each case counts in full") {
  const LessonMark mark = mark_of(lesson(), {}, graded(), {});
  CHECK(mark.earned == 4);
  CHECK(mark.points == 4);
  CHECK(mark.max_points == 10);
  REQUIRE(mark.cases.size() == 2);
  CHECK(mark.cases[1].max_points == 6);
  CHECK(mark.cases[1].points == 0);
  CHECK(mark.cases[1].diagnoses == std::vector<std::string>{"off_by_one"});
}

TEST_CASE("a message loses its addresses, which differ from run to run") {
  CHECK(mark_of(lesson(), {}, graded(), {}).cases[1].message ==
        "y[0] is 5, expected 7. 10 of 10 elements are wrong.\nIt is off by one.\nIt stands at 0x....");
}

TEST_CASE("a message names the file as the student has called it") {
  FileVerdict verdict = graded();
  verdict.open[1].failures = {test::failed_check("See submission/03_weighted_row_sum.cu:7.")};
  Submission submission;
  submission.file = "homework/sum.cu";
  CHECK_THAT(mark_of(lesson(), submission, verdict, {}).cases[1].message,
             ContainsSubstring("See homework/sum.cu:7."));
  verdict.standing = Standing::not_compiled;
  verdict.message = "submission/03_weighted_row_sum.cu:2: expected ';'";
  CHECK(mark_of(lesson(), submission, verdict, {}).message == "homework/sum.cu:2: expected ';'");
}

TEST_CASE("who has a file that this machine cannot read is not graded, and has no 0") {
  const LessonMark mark = mark_of_unreadable(lesson(), "sum.cu cannot be read.");
  CHECK(mark.standing == Standing::ungraded);
  CHECK(mark.max_points == 10);
  CHECK(mark.message == "sum.cu cannot be read.");
}

TEST_CASE("a mask is no address") {
  FileVerdict verdict = graded();
  verdict.open[1].failures = {test::failed_check("mask 0x0000ffff")};
  CHECK(mark_of(lesson(), {}, verdict, {}).cases[1].message == "mask 0x0000ffff");
}

TEST_CASE("what check mode found comes first, and then no mistake is guessed from the numbers") {
  FileVerdict verdict = graded();
  verdict.open[1].findings = {
      test::finding("exited_threads", 7, grading::Severity::warning, "16 threads have left."),
      test::finding("leak", 8, grading::Severity::warning, "A leak.")};
  const CaseMark mark = mark_of(lesson(), {}, verdict, {}).cases[1];
  CHECK_THAT(mark.message, Catch::Matchers::StartsWith("kernel.cu:7: warning: exited_threads: 16 threads"));
  CHECK_THAT(mark.message, !ContainsSubstring("off by one") && !ContainsSubstring("A leak"));
  CHECK(mark.diagnoses.empty());
  verdict.open[1].findings = {test::finding("race")};
  CHECK(mark_of(lesson(), {}, verdict, {}).cases[1].diagnoses == std::vector<std::string>{"race"});
}

TEST_CASE("a case and its hidden twin are worth half each, and the twin's message is left out") {
  FileVerdict verdict = graded();
  verdict.hidden = {result("small", 4, false), result("large", 6, true)};
  const LessonMark mark = mark_of(lesson(), {}, verdict, {});
  CHECK(mark.earned == 2 + 3);
  REQUIRE(mark.cases.size() == 4);
  CHECK_FALSE(mark.cases[0].hidden);
  CHECK(mark.cases[2].hidden);
  CHECK_FALSE(mark.cases[2].passed);
  CHECK(mark.cases[2].max_points == 2);
  CHECK(mark.cases[2].message.empty());
}

TEST_CASE("a finding of a class that nobody knows gives no diagnosis") {
  FileVerdict verdict = graded();
  verdict.hidden = {result("small", 4, false), result("large", 6, true)};
  verdict.hidden[0].findings = {test::finding("the seed is 7"), test::finding("race")};
  CHECK(mark_of(lesson(), {}, verdict, {}).cases[2].diagnoses == std::vector<std::string>{"race"});
}

TEST_CASE("a case whose twin no solution passes has none, and counts in full") {
  FileVerdict verdict = graded();
  verdict.hidden = {result("small", 4, false), result("large", 6, true)};
  MarkingPolicy policy;
  policy.without_twin[3] = {"small"};
  const LessonMark mark = mark_of(lesson(), {}, verdict, policy);
  CHECK(mark.earned == 4 + 3);
  double most = 0;
  for (const CaseMark& one : mark.cases) most += one.max_points;
  CHECK(most == 10);
  CHECK(mark.cases.size() == 3);
}

TEST_CASE("a late file keeps what it earned, and gets its share of it") {
  Submission late;
  late.late = true;
  MarkingPolicy policy;
  policy.late_share = 0.5;
  const LessonMark mark = mark_of(lesson(), late, graded(), policy);
  CHECK(mark.earned == 4);
  CHECK(mark.points == 2);
  REQUIRE(mark.notes.size() == 1);
  CHECK(mark.notes[0] == "Handed in late: 50 % of the points count.");
  CHECK(mark_of(lesson(), late, graded(), {}).points == 4);
}

TEST_CASE("who hands in nothing has no points, and reads how the file is called") {
  const LessonMark mark = mark_of_missing(lesson());
  CHECK(mark.standing == Standing::missing);
  CHECK(mark.points == 0);
  CHECK(mark.max_points == 10);
  CHECK_THAT(mark.message, ContainsSubstring("03_weighted_row_sum.cu"));
}

TEST_CASE("a verdict is told as it is found again, whatever bytes a compiler quoted") {
  const grading::ScratchFolder folder(std::filesystem::temp_directory_path());
  const VerdictStore store(folder.path() / "verdicts");
  FileVerdict verdict;
  verdict.standing = Standing::not_compiled;
  verdict.message = "caf\xe9 \xff";
  const FileVerdict kept = store.keep("tests", "code", verdict);
  CHECK(kept.standing == Standing::not_compiled);
  CHECK(kept.message == "caf\xef\xbf\xbd \xef\xbf\xbd");
  REQUIRE(store.find("tests", "code").has_value());
  CHECK(store.find("tests", "code")->message == kept.message);
}

TEST_CASE("a verdict is found by the conditions and the very bytes of the file") {
  const grading::ScratchFolder folder(std::filesystem::temp_directory_path());
  const VerdictStore store(folder.path() / "verdicts");
  CHECK_FALSE(store.find("tests 1", "code"));
  FileVerdict verdict = graded();
  verdict.seconds = 1.5;
  store.keep("tests 1", "code", verdict);
  const auto found = store.find("tests 1", "code");
  REQUIRE(found);
  CHECK(found->standing == Standing::graded);
  CHECK(found->seconds == 1.5);
  REQUIRE(found->open.size() == 2);
  CHECK(found->open[1].failures.size() == verdict.open[1].failures.size());
  CHECK_FALSE(store.find("tests 2", "code"));
  CHECK_FALSE(store.find("tests 1", "Code"));
}

TEST_CASE("a verdict whose record was damaged, or made for another file, is not found") {
  const grading::ScratchFolder folder(std::filesystem::temp_directory_path());
  const VerdictStore store(folder.path());
  store.keep("tests", "code", graded());
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".cu") grading::write_file_atomically(entry.path(), "other code");
  CHECK_FALSE(store.find("tests", "code"));
  store.keep("tests", "code", graded());
  REQUIRE(store.find("tests", "code"));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path()))
    if (entry.path().extension() == ".json") grading::write_file_atomically(entry.path(), "{\"standing\"");
  CHECK_FALSE(store.find("tests", "code"));
}
