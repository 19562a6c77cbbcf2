// The report of `check` for programs.

#include <nlohmann/json.hpp>

#include "cli/report.hpp"
#include "grading/facts/words.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

nlohmann::json case_to_json(const CaseResult& result, const std::optional<Cause>& cause) {
  const bool explained = cause && !sentence_for(*cause, result).empty();
  nlohmann::json failures = nlohmann::json::array();
  for (const Failure& failure : result.failures) failures.push_back(failure_to_json(failure));
  return {{"name", result.name},
          {"status", result.passed ? "pass" : "fail"},
          {"points", result.passed ? result.points : 0},
          {"message", result.passed ? "" : to_words(result, cause)},
          {"failures", std::move(failures)},
          {"diagnoses", explained ? cause->mistakes : std::vector<std::string>{}},
          {"diagnostics", findings_to_json(result.findings)},
          {"counters", result.counters}};
}

nlohmann::json report_to_json(const LessonReport& report) {
  nlohmann::json cases = nlohmann::json::array();
  if (!report.error.empty()) {  // so that whoever reads only cases learns of it, too
    CaseResult result;
    result.name = report.compiled ? "the tests run to their end" : "compiles";
    result.failures = {{.kind = Failure::Kind::test, .sentence = report.error}};
    cases.push_back(case_to_json(result, std::nullopt));
  }
  for (const CaseResult& result : report.cases) cases.push_back(case_to_json(result, report.cause));
  nlohmann::json lesson = {{"number", report.lesson.number},         {"name", report.lesson.name},
                           {"status", verdict_name(report.verdict)}, {"points", report.points},
                           {"max_points", report.lesson.points},     {"seconds", report.seconds},
                           {"not_checked", report.not_checked},      {"cases", cases}};
  if (!report.tools.empty()) lesson["tools"] = report.tools;
  return lesson;
}

}  // namespace

std::string to_json(const std::vector<LessonReport>& reports, Backend backend) {
  nlohmann::json lessons = nlohmann::json::array();
  for (const LessonReport& report : reports) lessons.push_back(report_to_json(report));
  const nlohmann::json root = {{"version", 1}, {"backend", backend_name(backend)}, {"lessons", lessons}};
  // Whatever bytes a kernel printed, the file is valid UTF-8.
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace course::cli
