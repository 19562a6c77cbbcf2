#include "cli/report.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/catch.hpp"
#include "support/findings.hpp"

using namespace course::cli;
using namespace course::grading;
using Catch::Matchers::ContainsSubstring;
using course::test::failed_check;
using course::test::finding;
using course::test::wrong_values;

namespace {

CaseResult failed(const std::string& name, std::vector<Failure> failures) {
  CaseResult result;
  result.name = name;
  result.points = 1;
  result.failures = std::move(failures);
  return result;
}

CaseResult failed(const std::string& name, const std::string& sentence) {
  return failed(name, std::vector<Failure>{failed_check(sentence)});
}

CaseResult found(const std::string& name, std::vector<Finding> findings, std::vector<Failure> failures = {}) {
  CaseResult result = failed(name, std::move(failures));
  result.findings = std::move(findings);
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
  result.cause = likeliest_cause(result.cases);
  return result;
}

std::string rendered(const LessonReport& report, bool verbose = false) {
  return render_report(Terminal(), report, {.verbose = verbose, .command = "./course check 01"});
}

}  // namespace

TEST_CASE("cases that fail in the same way are counted, not repeated", "[cli][report]") {
  const auto result = report({failed("first", {wrong_values("c")}), failed("second", {wrong_values("c")}),
                              failed("third", "c wrote 4 elements past the end.")});
  const std::string text = rendered(result);
  CHECK_THAT(text, ContainsSubstring("first (1 point)"));
  CHECK_THAT(text, !ContainsSubstring("second"));
  CHECK_THAT(text, ContainsSubstring("third"));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in one of these ways"));
  CHECK_THAT(rendered(result, true), ContainsSubstring("second"));
}

TEST_CASE("where all cases fail alike, it is said so", "[cli][report]") {
  CHECK_THAT(
      rendered(report({failed("first", "It reads 12 bytes."), failed("second", "It reads 480 bytes.")})),
      ContainsSubstring("and 1 more case fails in the same way"));
}

TEST_CASE("wrong arrays of other names are other ways to fail", "[cli][report]") {
  const std::string text =
      rendered(report({failed("first", {wrong_values("O")}), failed("second", {wrong_values("l")})}));
  CHECK_THAT(text, ContainsSubstring("O[0] is 5") && ContainsSubstring("l[0] is 5"));
}

TEST_CASE("the case that shows the cause comes first, and the cause is told once", "[cli][report]") {
  const Failure explained = wrong_values("c", {{"tail_missing", "The tail is missing."}});
  const std::string text =
      rendered(report({failed("first", "It reads too much."), failed("second", {explained}),
                       failed("third", {explained, failed_check("And more.")})}));
  const std::size_t first = text.find("first"), second = text.find("second"),
                    cause = text.find("The tail is");
  CHECK(second < cause);
  CHECK(cause < first);
  CHECK(text.find("The tail is", cause + 1) == std::string::npos);
}

TEST_CASE("while a result is never written, the cases keep their order", "[cli][report]") {
  const Failure explained = wrong_values("dV", {{"no_mask", "Keys past the query are seen."}});
  Failure unwritten = wrong_values("dQ");
  unwritten.values.never_written = true;
  unwritten.values.unwritten = unwritten.values.count;
  const std::vector<CaseResult> cases{failed("first", {unwritten}), failed("second", {explained, unwritten})};
  const std::string text = rendered(report(cases));
  CHECK(text.find("first") < text.find("second"));
  CHECK_THAT(text, ContainsSubstring("Keys past"));
  const std::string written = rendered(report({failed("other", {wrong_values("dQ")}), cases[0], cases[1]}));
  CHECK(written.find("second") < written.find("other"));
}

TEST_CASE("a case that shows the cause fails in that way, whichever arrays are wrong", "[cli][report]") {
  const std::vector<Attempt> attempts{{"tail_missing", "The tail is missing."}};
  const std::string text = rendered(report(
      {failed("first", {wrong_values("O", attempts)}), failed("second", {wrong_values("l", attempts)})}));
  CHECK_THAT(text, !ContainsSubstring("second") && ContainsSubstring("fails in the same way"));
}

TEST_CASE("what the test was doing is said once for all that failed in it", "[cli][report]") {
  std::vector<Failure> failures{wrong_values("O"), wrong_values("l")};
  for (Failure& one : failures) one.context = "B = 1, H = 2";
  const std::string text = rendered(report({failed("first", failures)}));
  CHECK_THAT(text, ContainsSubstring("B = 1, H = 2: O[0] is 5"));
  CHECK(text.find("B = 1") == text.rfind("B = 1"));
  CHECK_THAT(text, ContainsSubstring("\n    l[0] is 5"));
}

TEST_CASE("threads that never came are told before what came of it, and only there", "[cli][report]") {
  const std::string text =
      rendered(report({found("first",
                             {finding("leak", 4, Severity::warning, "A leak."),
                              finding("exited_threads", 3, Severity::warning, "8 have left.")},
                             {wrong_values("c", {{"a", "It is a."}})})}));
  const std::size_t why = text.find("8 have left"), what = text.find("c[0] is 5"),
                    other = text.find("A leak");
  CHECK(why < what);
  CHECK(what < other);
  CHECK(other != std::string::npos);
  CHECK(text.find("8 have left", why + 1) == std::string::npos);
  CHECK_THAT(text, !ContainsSubstring("It is a."));
}

TEST_CASE("a mistake that the numbers show is told before where it left an array", "[cli][report]") {
  const std::string text = rendered(report({found("strays", {finding("out_of_bounds")}, {wrong_values("c")}),
                                            failed("shows", {wrong_values("c", {{"a", "It is a."}})})}));
  CHECK(text.find("It is a.") < text.find("out_of_bounds"));
  CHECK(text.find("out_of_bounds") != std::string::npos);
}

TEST_CASE("a failure that explains findings stands before the first of them, and before all that went astray",
          "[cli][report]") {
  Failure exchanged = failed_check("Heads and batches are exchanged."), misplaced = failed_check("Past c.");
  exchanged.explains_findings = misplaced.misplaced = true;
  Finding read = finding("out_of_bounds", 3), write = finding("out_of_bounds", 4);
  read.fix = write.fix = "Test the index.";
  const std::string text = rendered(report({found("strays", {write}, {wrong_values("c")}),
                                            failed("past the end", {wrong_values("c"), misplaced}),
                                            found("explained", {read, write}, {exchanged, misplaced})}));
  CHECK(text.find("explained (1 point)\n    Heads and batches") <
        text.find("kernel.cu:3: error: out_of_bounds"));
  CHECK_THAT(text, !ContainsSubstring("kernel.cu:4") && !ContainsSubstring("Test the index") &&
                       !ContainsSubstring("Past c.") &&
                       ContainsSubstring("and 2 more cases fail in the same way"));
}

TEST_CASE("what was written where no result belongs is told unless a cause is", "[cli][report]") {
  Failure misplaced = failed_check("Past c.");
  misplaced.misplaced = true;
  CHECK_THAT(rendered(report({failed("first", {wrong_values("c"), misplaced})})),
             ContainsSubstring("Past c."));
  const std::string text =
      rendered(report({failed("first", {wrong_values("c", {{"a", "It is a."}}), misplaced})}));
  CHECK_THAT(text, ContainsSubstring("It is a.") && !ContainsSubstring("Past c."));
}

TEST_CASE("how calls end once a thread has left an array of its own is not told again", "[cli][report]") {
  Failure crash{.kind = Failure::Kind::call, .sentence = "It crashed."};
  Finding own = finding("out_of_bounds", 3), global = own;
  global.memory = "global";
  const auto told_after = [&](const Finding& stray) {
    return rendered(report({found("first", {stray}), failed("second", {crash})}));
  };
  CHECK_THAT(told_after(own), !ContainsSubstring("It crashed."));
  CHECK_THAT(told_after(global), ContainsSubstring("It crashed."));
}

TEST_CASE("advice that several findings give is told with the first", "[cli][report]") {
  Finding read = finding("out_of_bounds", 3), write = finding("out_of_bounds", 4);
  read.fix = write.fix = "Test the index.";
  const std::string text = rendered(report({found("first", {read, write})}));
  CHECK_THAT(text, ContainsSubstring("kernel.cu:3") && ContainsSubstring("kernel.cu:4"));
  CHECK(text.find("Test the index.") == text.rfind("Test the index."));
  write.fix = "Make it larger.";
  CHECK_THAT(rendered(report({found("first", {read, write})})),
             ContainsSubstring("Test the index.") && ContainsSubstring("Make it larger."));
}

TEST_CASE("only the first few ways to fail are told in full", "[cli][report]") {
  const std::string text =
      rendered(report({failed("a", "apples"), failed("b", "bananas"), failed("c", "cherries"),
                       failed("d", "dates"), failed("e", "elder")}));
  CHECK_THAT(text, ContainsSubstring("cherries"));
  CHECK_THAT(text, !ContainsSubstring("dates"));
  CHECK_THAT(text, ContainsSubstring("and 2 more cases fail in other ways (--verbose shows all)"));
}

TEST_CASE("cases with the same finding fail in the same way, whatever their results", "[cli][report]") {
  const std::string text = rendered(report({found("first", {finding("race", 3)}, {wrong_values("c")}),
                                            found("second", {finding("race", 3)}, {wrong_values("d")}),
                                            found("third", {finding("race", 4)})}));
  CHECK_THAT(text, ContainsSubstring("    kernel.cu:3: error: race: Here.\n    c[0] is 5, expected 7."));
  CHECK_THAT(text, !ContainsSubstring("second"));
  CHECK_THAT(text, ContainsSubstring("third"));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in one of these ways"));
}

TEST_CASE("what the lesson asks for beside results is told in spite of a known finding", "[cli][report]") {
  const std::string text =
      rendered(report({found("first", {finding("race", 3)}, {wrong_values("c")}),
                       found("second", {finding("race", 3)}, {failed_check("3 blocks.")})}));
  CHECK_THAT(text, ContainsSubstring("second"));
  CHECK_THAT(text, ContainsSubstring("3 blocks."));
}

TEST_CASE("wrong results of another entry are another way to fail", "[cli][report]") {
  CaseResult one = found("first", {}, {wrong_values("c")}), other = found("second", {}, {wrong_values("c")});
  one.tags = {"entry", "points:1"};
  other.tags = {"entry", "points:2"};
  CHECK_THAT(rendered(report({one, other})), ContainsSubstring("and 1 more case fails in the same way"));
  other.tags = {"another_entry", "points:1"};
  CHECK_THAT(rendered(report({one, other})), ContainsSubstring("second"));
}

TEST_CASE("what a finding tells better is not told again", "[cli][report]") {
  Failure fault{.kind = Failure::Kind::call, .sentence = "The call failed."};
  fault.found = true;
  const std::string text = rendered(report({found("first", {finding("out_of_bounds")}, {fault})}));
  CHECK_THAT(text, ContainsSubstring("out_of_bounds") && !ContainsSubstring("The call failed."));
}

TEST_CASE("a remark is told once, also where a case has something else to say", "[cli][report]") {
  const std::string text =
      rendered(report({failed("first", {wrong_values("c"), failed_check("Half a grid.")}),
                       failed("second", {wrong_values("d"), failed_check("Half a grid.")}),
                       failed("third", {failed_check("Half a grid.")})}));
  CHECK_THAT(text, ContainsSubstring("second (1 point)\n    d[0]"));
  CHECK(text.find("Half a grid.") == text.rfind("Half a grid."));
}

TEST_CASE("a case with one more finding is told, without the findings that were told before",
          "[cli][report]") {
  const std::vector<CaseResult> cases{
      found("first", {finding("race", 3)}),
      found("second", {finding("race", 3, Severity::error, "There."), finding("deadlock", 9)})};
  const std::string text = rendered(report(cases));
  CHECK_THAT(text, ContainsSubstring("second (1 point)\n    kernel.cu:9: error: deadlock: Here.\n"));
  CHECK_THAT(text, !ContainsSubstring("There"));
  CHECK_THAT(rendered(report(cases), true), ContainsSubstring("There"));
}

TEST_CASE("a finding shows the lines of source that it names, and keeps to the width", "[cli][report]") {
  const std::filesystem::path source =
      std::filesystem::temp_directory_path() / ("course-report-" + std::to_string(getpid()) + ".cu");
  std::ofstream(source) << "// one\n  tile[i] = x[i];\n// three\n\ty[i] = tile[" << std::string(90, 'j')
                        << "];\n";
  const std::string name = source.filename().string();
  Finding race = finding("race", 4, Severity::error, std::string(40, 'a') + " " + std::string(40, 'b'));
  race.here.file = race.other.file = source.string();
  race.other.line = 2;
  LessonReport result = report({found("first", {race})});
  result.source = source;
  const std::string text = rendered(result);
  std::filesystem::remove(source);
  CHECK_THAT(text, ContainsSubstring("\n    " + name + ":4: error: race:"));
  CHECK_THAT(text, ContainsSubstring("\n      bbbb"));
  CHECK_THAT(text, ContainsSubstring("\n         2 | tile[i] = x[i];\n         4 | y[i] = tile[jjj"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 80);
}

TEST_CASE("what one cause shows at several places is told once, with the lines of all", "[cli][report]") {
  const std::filesystem::path source =
      std::filesystem::temp_directory_path() / ("course-report-" + std::to_string(getpid()) + ".cu");
  std::ofstream(source) << "copy(tile);\nfirst(tile);\nsecond(tile);\nthird(tile);\ncopy(other);\n";
  const auto wait = [&](int line, int copied_at, const std::string& fix = "Wait.") {
    Finding one = finding("missing_wait", line, Severity::error, "Read too early.");
    one.here.file = one.other.file = source.string();
    one.other.line = copied_at;
    one.fix = fix;
    return one;
  };
  const auto told = [&](std::vector<Finding> findings) {
    LessonReport result = report({found("first", std::move(findings))});
    result.source = source;
    return rendered(result);
  };
  const auto times = [](const std::string& text) {
    int count = 0;
    for (std::size_t at = 0; (at = text.find("missing_wait", at)) != std::string::npos; ++at) ++count;
    return count;
  };
  const std::string once = told({wait(2, 1), wait(4, 1), wait(3, 1)});
  CHECK(times(once) == 1);
  CHECK_THAT(once,
             ContainsSubstring(
                 "         1 | copy(tile);\n         2 | first(tile);\n      The same shows here, too:\n"
                 "         3 | second(tile);\n         4 | third(tile);\n"));
  CHECK(times(told({wait(2, 1), wait(4, 5)})) == 2);
  CHECK(times(told({wait(2, 1), wait(3, 1, "Take the other stage.")})) == 2);
  CHECK(times(told({wait(2, 0), wait(3, 0)})) == 2);
  Finding first = wait(2, 0), second = wait(3, 0);
  first.element = second.element = "dP.data[140]";
  CHECK(times(told({first, second})) == 1);
  std::filesystem::remove(source);
}

TEST_CASE("warnings are shown under a lesson that passed, each once; notes only if asked for",
          "[cli][report]") {
  CaseResult passed;
  passed.passed = true;
  passed.findings = {finding("missing_syncwarp", 3, Severity::warning),
                     finding("same_value_write", 5, Severity::note)};
  LessonReport result = report({passed, passed});
  result.verdict = Verdict::pass;
  const std::string text = rendered(result);
  CHECK(text.find("missing_syncwarp") == text.rfind("missing_syncwarp"));
  CHECK_THAT(text,
             ContainsSubstring(
                 "  Warnings, which cost no points\n    kernel.cu:3: warning: missing_syncwarp: Here.\n"));
  CHECK_THAT(text, !ContainsSubstring("same_value_write"));
  CHECK_THAT(rendered(result, true),
             ContainsSubstring("  Notes\n    kernel.cu:5: note: same_value_write: Here.\n"));
}

TEST_CASE("why there is no diagnosis takes one sentence and costs nothing", "[cli][report]") {
  LessonReport result = report({});
  result.verdict = Verdict::pass;
  result.not_checked = "Without diagnoses and counters: check mode could not be prepared.";
  CHECK_THAT(rendered(result), ContainsSubstring("PASS") && ContainsSubstring("\n  Without diagnoses and"));
  CaseResult half;
  half.passed = true;
  half.findings = {note_not_checked("Check mode was stopped.")};
  result = report({half});
  result.verdict = Verdict::pass;
  CHECK_THAT(rendered(result), ContainsSubstring("Some calls have no diagnosis (--verbose says why)"));
  CHECK_THAT(rendered(result, true), ContainsSubstring("\n  Check mode was stopped.\n"));
}

TEST_CASE("a failed lesson ends with what to do next", "[cli][report]") {
  CHECK_THAT(rendered(report({failed("a", "apples")})),
             ContainsSubstring("Next: edit lessons/01_vector_add/vector_add.cu, then ./course check 01"));
}

TEST_CASE("the command to repeat is not broken over two lines", "[cli][report]") {
  LessonReport result = report({failed("a", "apples")});
  result.source = "/project/lessons/07_naive_attention/naive_attention.cu";
  CHECK_THAT(rendered(result), ContainsSubstring(".cu, then\n  ./course check 01\n"));
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
