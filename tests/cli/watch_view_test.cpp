#include "cli/watch_view.hpp"

#include <sstream>

#include "cli/check_process.hpp"
#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::StartsWith;

namespace {

CaseResult ended(const std::string& name, const std::string& message = "") {
  CaseResult result;
  result.name = name;
  result.points = 2;
  result.passed = message.empty();
  if (!message.empty()) result.failures = {course::test::failed_check(message)};
  return result;
}

Lesson lesson(int number, const std::string& name, const std::string& title) {
  Lesson result;
  result.number = number;
  result.name = name;
  result.title = title;
  result.points = 9;
  result.root = "/project";
  return result;
}

WatchView view(WatchView::Stage stage, std::vector<CaseResult> cases = {}) {
  WatchView result;
  result.stage = stage;
  result.report.lesson = lesson(1, "vector_add", "Vector add");
  result.report.source = "/project/lessons/01_vector_add/vector_add.cu";
  result.report.compiled = true;
  result.report.verdict = Verdict::fail;
  for (const CaseResult& one : cases) result.report.points += one.passed ? one.points : 0;
  result.report.cases = std::move(cases);
  result.next = lesson(2, "matrix_strides", "Matrix strides");
  result.why = "Saved at 12:03:15";
  result.seconds = 1.44;
  result.step = "compiling";
  result.keys = true;
  return result;
}

WatchView passed() {
  WatchView result = view(WatchView::Stage::judged, {ended("a"), ended("b")});
  result.report.verdict = Verdict::pass;
  return result;
}

WatchView failed() {
  return view(WatchView::Stage::judged, {ended("adds", "n = 3: c[2] is NaN, expected 7."), ended("is quiet"),
                                         ended("adds more", "n = 4: c[2] is NaN, expected 9."),
                                         ended("copies", "The copy was never made.")});
}

/// As one line, so that a test does not ask where lines are broken.
std::string flat(const std::string& text) {
  std::istringstream words(text);
  std::string line;
  for (std::string word; words >> word;) line += (line.empty() ? "" : " ") + word;
  return line;
}

std::string screen(const WatchView& shown, std::size_t width = 80) {
  return flat(render_screen(Terminal(width, false), shown));
}

}  // namespace

TEST_CASE("a failure shows the first finding in full, the others in short, and what to do", "[cli][watch]") {
  const std::string text = render_result(Terminal(80, false), failed());
  CHECK(text ==
        "FAIL  01 Vector add                                                2 of 9 points\n"
        "  adds (2 points)\n"
        "    n = 3: c[2] is NaN, expected 7.\n"
        "  also fails: copies\n"
        "  and 1 more case fails in one of these ways\n"
        "  Next: edit lessons/01_vector_add/vector_add.cu and save it. h shows a hint.\n"
        "  Saved at 12:03:15: all 4 cases were run; answered after 1.4 s.\n");
}

TEST_CASE("a key goes round the failed cases, one after the other in full", "[cli][watch]") {
  WatchView shown = failed();
  const auto first_case = [&](std::size_t failed_case) {
    shown.failed_case = failed_case;
    std::istringstream lines(render_result(Terminal(80, false), shown));
    std::string heading, name;
    std::getline(lines, heading);
    std::getline(lines, name);
    return name;
  };
  std::vector<std::string> names;
  for (const CaseResult& result : shown.report.cases)
    if (!result.passed) names.push_back("  " + result.name);
  REQUIRE(names.size() == 3);
  for (std::size_t i = 0; i < 2 * names.size(); ++i)
    CHECK_THAT(first_case(i), StartsWith(names[i % names.size()] + " ("));
}

TEST_CASE("without keys nobody is told to press one", "[cli][watch]") {
  WatchView shown = failed();
  shown.keys = false;
  CHECK_THAT(screen(shown), !ContainsSubstring("h shows") && !ContainsSubstring("q quit"));
  shown = passed();
  shown.keys = false;
  CHECK_THAT(screen(shown), ContainsSubstring("and run ./course watch 02.") && !ContainsSubstring("press"));
  shown = view(WatchView::Stage::problem);
  shown.keys = false;
  CHECK_THAT(screen(shown), ContainsSubstring("then save lessons/01_vector_add/vector_add.cu."));
}

TEST_CASE("a pass names the next lesson and its notes", "[cli][watch]") {
  CHECK_THAT(screen(passed()),
             ContainsSubstring("PASS 01 Vector add 4 of 9 points") &&
                 ContainsSubstring("Next: ./course solution 01 shows how the worked solution does it; "
                                   "then lesson 02, Matrix strides: read "
                                   "lessons/02_matrix_strides/README.md, and press n for it."));
  WatchView last = passed();
  last.next.reset();
  CHECK_THAT(screen(last),
             ContainsSubstring("That was the last lesson; ./course list") && !ContainsSubstring("press n"));
}

TEST_CASE("a file that does not compile says that nothing was run", "[cli][watch]") {
  WatchView shown = view(WatchView::Stage::judged);
  shown.report.compiled = false;
  shown.report.verdict = Verdict::error;
  shown.report.error = "vector_add.cu:3: error: 'y' was not declared\n  3 | int x = y;";
  CHECK_THAT(screen(shown), ContainsSubstring("DOES NOT COMPILE 01 Vector add 0 of 9 points") &&
                                ContainsSubstring("3 | int x = y;") && ContainsSubstring("no case was run") &&
                                ContainsSubstring("Next: mend this in lessons/01_vector_add/vector_add.cu"));
}

TEST_CASE("the untouched stub leads to the notes", "[cli][watch]") {
  WatchView shown = failed();
  shown.untouched = true;
  CHECK_THAT(screen(shown), ContainsSubstring("Next: read lessons/01_vector_add/README.md, fill in the first "
                                              "TODO of lessons/01_vector_add/vector_add.cu, and save it."));
}

TEST_CASE("while cases are running, what has failed so far is shown, and no verdict", "[cli][watch]") {
  WatchView shown = view(WatchView::Stage::checking);
  CHECK_THAT(screen(shown), ContainsSubstring("CHECKING 01 Vector add Saved at 12:03:15: compiling.") &&
                                !ContainsSubstring("ended"));
  shown.step = "running the tests";
  shown.report.cases = {ended("is quiet")};
  CHECK_THAT(screen(shown),
             ContainsSubstring("CHECKING") && ContainsSubstring("running the tests; 1 case ended."));
  shown.report.cases.push_back(ended("adds", "c[2] is 5, expected 7."));
  CHECK_THAT(screen(shown),
             ContainsSubstring("FAILS 01 Vector add other cases are running adds (2 points) "
                               "c[2] is 5, expected 7.") &&
                 ContainsSubstring("Next: edit lessons/01_vector_add/vector_add.cu and save it.") &&
                 ContainsSubstring("2 cases ended."));
  CHECK_THAT(screen(shown), !ContainsSubstring("PASS") && !ContainsSubstring("of 9 points"));
}

TEST_CASE("a case that was run before the others says so, and stands first", "[cli][watch]") {
  WatchView shown = view(WatchView::Stage::checking, {ended("copies", "The copy was never made.")});
  shown.first = ended("adds", "c[2] is 5, expected 7.");
  CHECK_THAT(screen(shown),
             ContainsSubstring("adds (2 points) c[2] is 5, expected 7. also fails: copies") &&
                 ContainsSubstring("the case that failed last time was run first, and fails again"));
  WatchView whole = failed();
  whole.first = shown.first;
  CHECK_THAT(screen(whole),
             ContainsSubstring("Saved at 12:03:15: the case that failed last time was run first, "
                               "then all 4 cases were run;"));
  shown.first = ended("adds");
  CHECK_THAT(screen(shown), ContainsSubstring("was run first, and passes") &&
                                ContainsSubstring("copies (2 points)") && !ContainsSubstring("also fails"));
}

TEST_CASE("only a case that is long in coming is run first the next time", "[cli][watch]") {
  LessonReport report;
  report.cases = {ended("quick"), ended("slow"), ended("adds", "wrong"), ended("copies", "wrong")};
  CHECK(case_to_run_first(report).empty());
  report.cases[1].seconds = 1.5;
  CHECK(case_to_run_first(report) == "adds");
  report.cases[0].passed = false;
  CHECK(case_to_run_first(report).empty());
  report.cases = {ended("quick")};
  CHECK(case_to_run_first(report).empty());
}

TEST_CASE("the machine's fault and a missing file are told with what to do", "[cli][watch]") {
  WatchView shown = view(WatchView::Stage::problem);
  shown.problem = "The disk is full: make room.";
  CHECK_THAT(screen(shown),
             ContainsSubstring("NOT CHECKED 01 Vector add The disk is full: make room. Next: put "
                               "that right, then press r."));
  shown = view(WatchView::Stage::missing);
  CHECK_THAT(screen(shown),
             ContainsSubstring("NO FILE 01 Vector add There is no file "
                               "lessons/01_vector_add/vector_add.cu. It is checked as soon as"));
}

TEST_CASE("hints and notes stand between the result and the keys", "[cli][watch]") {
  WatchView shown = failed();
  shown.aside = "Hint 1 of 5\n";
  shown.note = "Saved at 12:04:00 without a change.";
  CHECK_THAT(screen(shown),
             ContainsSubstring("1.4 s. Hint 1 of 5 Saved at 12:04:00 without a change. Watching "
                               "lessons/01_vector_add/vector_add.cu h hint f next failure"));
}

TEST_CASE("no line is wider than the screen, with and without colour", "[cli][watch]") {
  std::vector<WatchView> all{failed(), passed(), view(WatchView::Stage::checking),
                             view(WatchView::Stage::missing), view(WatchView::Stage::problem)};
  all.push_back(failed());
  all.back().stage = WatchView::Stage::checking;
  all.push_back(view(WatchView::Stage::judged));
  all.back().report.compiled = false;
  all.back().report.error = "vector_add.cu:3: error: here.";
  all.back().report.lesson.title = "FlashAttention-2, forward, with a name that is long";
  for (const std::size_t width : {80, 40}) {
    for (const WatchView& shown : all) {
      const std::string plain = render_screen(Terminal(width, false), shown);
      std::istringstream lines(plain);
      for (std::string line; std::getline(lines, line);) {
        CAPTURE(line);
        CHECK(columns_of(line) <= width);
      }
      CHECK(plain.find('\033') == std::string::npos);
      std::string painted = render_screen(Terminal(width, true), shown);
      CHECK(painted.find('\033') != std::string::npos);
      for (std::size_t at; (at = painted.find('\033')) != std::string::npos;)
        painted.erase(at, painted.find('m', at) + 1 - at);
      CHECK(painted == plain);
      CHECK_THAT(plain, ContainsSubstring("q quit"));
    }
  }
}

TEST_CASE("what the keys do is told for each of them", "[cli][watch]") {
  for (const std::size_t width : {80, 40}) {
    const std::string text = render_keys(Terminal(width, false));
    for (const char* const key :
         {"h shows", "f shows", "n goes", "l lists", "c clears", "r runs", "q quits", "? shows"})
      CHECK_THAT(text, ContainsSubstring(key));
  }
}
