#include "cli/report.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"

using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;

namespace {

CaseResult failed(const std::string& name, const std::string& message) {
  CaseResult result;
  result.name = name;
  result.points = 1;
  result.message = message;
  return result;
}

LessonReport report(std::vector<CaseResult> cases) {
  LessonReport result;
  result.lesson.number = 1;
  result.lesson.name = "vector_add";
  result.lesson.title = "Vector add";
  result.lesson.points = 9;
  result.lesson.root = "/project";
  result.source = "/project/lessons/01_vector_add/vector_add.cu";
  result.compiled = true;
  result.verdict = Verdict::fail;
  result.cases = std::move(cases);
  return result;
}

std::string rendered(const LessonReport& report, bool verbose = false) {
  return render_report(Terminal(), report, {.verbose = verbose, .command = "./course check 01"});
}

}  // namespace

TEST_CASE("cases that fail in the same way are counted, not repeated", "[cli][report]") {
  const auto result = report({failed("first", "n = 1: c[0] is 5, expected 7. 1 of 1 is wrong."),
                              failed("second", "n = 33: c[32] is 1.5e-3, expected NaN. 1 of 33 is wrong."),
                              failed("third", "c wrote 4 elements past the end.")});
  const std::string text = rendered(result);
  CHECK_THAT(text, ContainsSubstring("first (1 point)"));
  CHECK_THAT(text, !ContainsSubstring("second"));
  CHECK_THAT(text, ContainsSubstring("third"));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in the same way"));
  CHECK_THAT(rendered(result, true), ContainsSubstring("second"));
}

TEST_CASE("only the first few ways to fail are told in full", "[cli][report]") {
  const std::string text =
      rendered(report({failed("a", "apples"), failed("b", "bananas"), failed("c", "cherries"),
                       failed("d", "dates"), failed("e", "elder")}));
  CHECK_THAT(text, ContainsSubstring("cherries"));
  CHECK_THAT(text, !ContainsSubstring("dates"));
  CHECK_THAT(text, ContainsSubstring("and 2 more cases fail in other ways (--verbose shows all)"));
}

TEST_CASE("a failed lesson ends with what to do next", "[cli][report]") {
  CHECK_THAT(rendered(report({failed("a", "apples")})),
             ContainsSubstring("Next: edit lessons/01_vector_add/vector_add.cu, then ./course check 01"));
}

TEST_CASE("a lesson that passed takes one line", "[cli][report]") {
  LessonReport passed = report({});
  passed.verdict = Verdict::pass;
  passed.points = 9;
  const std::string text = rendered(passed);
  CHECK_THAT(text, ContainsSubstring("PASS  01 Vector add"));
  CHECK_THAT(text, ContainsSubstring("9 of 9 points"));
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
  CHECK(text.size() == 81);
}

TEST_CASE("the JSON report is valid whatever bytes a message holds", "[cli][report]") {
  const auto root = nlohmann::json::parse(to_json({report({failed("a", "bad \xff byte")})}, Backend::gpu));
  CHECK(root.at("backend") == "gpu");
  CHECK(root.at("lessons").at(0).at("cases").at(0).at("points") == 0);
}
