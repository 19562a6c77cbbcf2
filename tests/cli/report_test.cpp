#include "cli/report.hpp"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

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
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in one of these ways"));
  CHECK_THAT(rendered(result, true), ContainsSubstring("second"));
}

TEST_CASE("where all cases fail alike, it is said so", "[cli][report]") {
  const std::string text = rendered(report(
      {failed("first", "n = 1: c[0] is 5, expected 7."), failed("second", "n = 3: c[2] is 1, expected 3.")}));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in the same way"));
}

TEST_CASE("of cases that fail in the same way, one that is explained is shown", "[cli][report]") {
  CaseResult second = failed("second", "n = 2: c[1] is 5, expected 7.\nThe tail is missing.");
  second.diagnoses = {"tail_missing"};
  CaseResult third = failed("third", "n = 3: c[2] is 5, expected 7.\nIt is transposed.");
  third.diagnoses = {"transposed"};
  const std::string text =
      rendered(report({failed("first", "n = 1: c[0] is 5, expected 7."), second, third}));
  CHECK_THAT(text, !ContainsSubstring("first"));
  CHECK_THAT(text, ContainsSubstring("The tail is missing."));
  CHECK_THAT(text, ContainsSubstring("It is transposed."));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in one of these ways"));
}

TEST_CASE("threads that never came are told before what came of it, and only there", "[cli][report]") {
  CaseResult result = failed("first", "c[0] is 5, expected 7.");
  result.diagnostics = {{"exited_threads", "k.cu", 3, "k.cu:3: warning: exited_threads: 8 have left."},
                        {"missing_syncwarp", "k.cu", 4, "k.cu:4: warning: missing_syncwarp: here."}};
  for (Diagnostic& warning : result.diagnostics) warning.severity = Severity::warning;
  const std::string text = rendered(report({result}));
  const std::size_t why = text.find("8 have left"), what = text.find("c[0] is 5"),
                    other = text.find("missing_syncwarp");
  CHECK(why < what);
  CHECK(what < other);
  CHECK(other != std::string::npos);
  CHECK(text.find("8 have left", why + 1) == std::string::npos);
}

TEST_CASE("only the first few ways to fail are told in full", "[cli][report]") {
  const std::string text =
      rendered(report({failed("a", "apples"), failed("b", "bananas"), failed("c", "cherries"),
                       failed("d", "dates"), failed("e", "elder")}));
  CHECK_THAT(text, ContainsSubstring("cherries"));
  CHECK_THAT(text, !ContainsSubstring("dates"));
  CHECK_THAT(text, ContainsSubstring("and 2 more cases fail in other ways (--verbose shows all)"));
}

TEST_CASE("cases with the same finding fail in the same way, whatever else they say", "[cli][report]") {
  CaseResult first = failed("first", "k.cu:3: error: race: here.\nc[0] is 1, expected 2.");
  CaseResult second = failed("second", "k.cu:3: error: race: there.\nThe launch had 3 blocks.");
  CaseResult third = failed("third", "k.cu:4: error: race: here.");
  first.diagnostics = {{"race", "k.cu", 3, "k.cu:3: error: race: here."}};
  second.diagnostics = {{"race", "k.cu", 3, "k.cu:3: error: race: there."}};
  third.diagnostics = {{"race", "k.cu", 4, "k.cu:4: error: race: here."}};
  const std::string text = rendered(report({first, second, third}));
  CHECK_THAT(text, ContainsSubstring("    k.cu:3: error: race: here.\n    c[0] is 1, expected 2.\n"));
  CHECK_THAT(text, !ContainsSubstring("second"));
  CHECK_THAT(text, ContainsSubstring("third"));
  CHECK_THAT(text, ContainsSubstring("and 1 more case fails in one of these ways"));
}

TEST_CASE("a case with one more finding is told, without the findings that were told before",
          "[cli][report]") {
  CaseResult first = failed("first", "k.cu:3: error: race: here.");
  CaseResult second = failed("second", "k.cu:3: error: race: there.\nk.cu:9: error: deadlock: now.");
  first.diagnostics = {{"race", "k.cu", 3, "k.cu:3: error: race: here."}};
  second.diagnostics = {{"race", "k.cu", 3, "k.cu:3: error: race: there."},
                        {"deadlock", "k.cu", 9, "k.cu:9: error: deadlock: now."}};
  const std::string text = rendered(report({first, second}));
  CHECK_THAT(text, ContainsSubstring("second (1 point)\n    k.cu:9: error: deadlock: now.\n"));
  CHECK_THAT(text, !ContainsSubstring("there"));
  CHECK_THAT(rendered(report({first, second}), true), ContainsSubstring("there"));
}

TEST_CASE("a finding shows the lines of source that it names, and keeps to the width", "[cli][report]") {
  const std::filesystem::path source =
      std::filesystem::temp_directory_path() / ("course-report-" + std::to_string(getpid()) + ".cu");
  std::ofstream(source) << "// one\n  tile[i] = x[i];\n// three\n\ty[i] = tile[" << std::string(90, 'j')
                        << "];\n";
  const std::string name = source.filename().string();
  LessonReport result = report(
      {failed("first", name + ":4: error: race: " + std::string(40, 'a') + " " + std::string(40, 'b'))});
  result.source = source;
  Diagnostic race{"race", source.string(), 4, result.cases[0].message};
  race.other_file = source.string();
  race.other_line = 2;
  result.cases[0].diagnostics = {race};
  const std::string text = rendered(result);
  std::filesystem::remove(source);
  CHECK_THAT(text, ContainsSubstring("\n    " + name + ":4: error: race:"));
  CHECK_THAT(text, ContainsSubstring("\n      bbbb"));
  CHECK_THAT(text, ContainsSubstring("\n         2 | tile[i] = x[i];\n         4 | y[i] = tile[jjj"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) CHECK(columns_of(line) <= 80);
}

TEST_CASE("warnings are shown under a lesson that passed, each once; notes only if asked for",
          "[cli][report]") {
  CaseResult passed;
  passed.passed = true;
  passed.diagnostics = {{"missing_syncwarp", "k.cu", 3, "k.cu:3: warning: missing_syncwarp: here."},
                        {"same_value_write", "k.cu", 5, "k.cu:5: note: same_value_write: here."}};
  passed.diagnostics[0].severity = Severity::warning;
  passed.diagnostics[1].severity = Severity::note;
  LessonReport result = report({passed, passed});
  result.verdict = Verdict::pass;
  const std::string text = rendered(result);
  CHECK(text.find("missing_syncwarp") == text.rfind("missing_syncwarp"));
  CHECK_THAT(text, ContainsSubstring(
                       "  Warnings, which cost no points\n    k.cu:3: warning: missing_syncwarp: here.\n"));
  CHECK_THAT(text, !ContainsSubstring("same_value_write"));
  CHECK_THAT(rendered(result, true),
             ContainsSubstring("  Notes\n    k.cu:5: note: same_value_write: here.\n"));
}

TEST_CASE("why there is no diagnosis takes one sentence and costs nothing", "[cli][report]") {
  LessonReport result = report({});
  result.verdict = Verdict::pass;
  result.not_checked = "Without diagnoses and counters: check mode could not be prepared.";
  CHECK_THAT(rendered(result), ContainsSubstring("PASS") && ContainsSubstring("\n  Without diagnoses and"));
  CaseResult half;
  half.passed = true;
  half.diagnostics = {{std::string(kNotChecked), "", 0, "Check mode was stopped."}};
  half.diagnostics[0].severity = Severity::note;
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
