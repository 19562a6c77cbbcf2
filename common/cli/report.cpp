#include "cli/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

namespace course::cli {
namespace {

using namespace course::grading;

constexpr std::size_t kFullCases = 3;  // failed cases that are shown with their message

std::string plural(std::size_t count, const std::string& thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string points(int reached, int of) { return fmt::format("{} of {} points", reached, of); }

/// The message's first sentence without its numbers and without what stands before a colon, such as "n = 33:"
/// or "vector_add.cu:61:". Cases with the same one fail in the same way.
std::string pattern_of(const CaseResult& result) {
  const std::string line = result.message.substr(0, result.message.find('\n'));
  std::istringstream words(line.substr(0, line.find(". ")));
  std::string pattern;
  for (std::string word; words >> word;) {
    if (word.ends_with(':')) {
      pattern.clear();
      continue;
    }
    std::erase_if(word, [](char c) { return std::isalpha(static_cast<unsigned char>(c)) == 0; });
    const bool number = word.size() <= 1 || word == "NaN" || word == "nan" || word == "inf";
    if (!number) pattern += word + " ";
  }
  return pattern;
}

std::string render_case(const Terminal& terminal, const CaseResult& result) {
  const std::string worth = plural(static_cast<std::size_t>(std::max(result.points, 0)), "point");
  std::string text = wrap(fmt::format("{} ({})", result.name, worth), 2, terminal.width());
  text = terminal.paint(Style::strong, text.substr(0, text.size() - 1)) + "\n";
  text += wrap(result.message, 4, terminal.width());
  for (const std::string& diagnosis : result.diagnoses) text += wrap(diagnosis, 4, terminal.width());
  for (const Diagnostic& diagnostic : result.diagnostics) {
    if (result.message.find(diagnostic.message) != std::string::npos) continue;
    const std::string file = std::filesystem::path(diagnostic.file).filename().string();
    const bool names_place = diagnostic.line == 0 || diagnostic.message.starts_with(file + ":");
    const std::string place = names_place ? "" : fmt::format("{}:{}: ", diagnostic.file, diagnostic.line);
    text += wrap(place + diagnostic.message, 4, terminal.width());
  }
  return text;
}

std::string render_failed_cases(const Terminal& terminal, const LessonReport& report, bool verbose) {
  std::vector<std::string> shown;
  std::size_t same = 0, other = 0;
  std::string text;
  for (const CaseResult& result : report.cases) {
    if (result.passed) continue;
    const std::string pattern = pattern_of(result);
    const bool known = std::find(shown.begin(), shown.end(), pattern) != shown.end();
    if (!verbose && known) {
      ++same;
    } else if (!verbose && shown.size() == kFullCases) {
      ++other;
    } else {
      shown.push_back(pattern);
      text += render_case(terminal, result);
    }
  }
  if (same > 0)
    text +=
        fmt::format("  and {} {} in the same way\n", plural(same, "more case"), same == 1 ? "fails" : "fail");
  if (other > 0) {
    text += fmt::format("  and {} {} in other ways (--verbose shows all)\n", plural(other, "more case"),
                        other == 1 ? "fails" : "fail");
  }
  return text;
}

std::string relative(const LessonReport& report) {
  const auto path = report.source.lexically_relative(report.lesson.root);
  return path.empty() || *path.begin() == ".." ? report.source.string() : path.string();
}

nlohmann::json case_to_json(const CaseResult& result) {
  nlohmann::json diagnostics = nlohmann::json::array();
  for (const Diagnostic& diagnostic : result.diagnostics) {
    diagnostics.push_back({{"class", diagnostic.kind},
                           {"file", diagnostic.file},
                           {"line", diagnostic.line},
                           {"message", diagnostic.message}});
  }
  return {{"name", result.name},
          {"status", result.passed ? "pass" : "fail"},
          {"points", result.passed ? result.points : 0},
          {"message", result.message},
          {"diagnoses", result.diagnoses},
          {"diagnostics", diagnostics},
          {"counters", result.counters}};
}

nlohmann::json report_to_json(const LessonReport& report) {
  nlohmann::json cases = nlohmann::json::array();
  if (!report.error.empty()) {  // so that whoever reads only cases learns of it, too
    CaseResult result;
    result.name = report.compiled ? "the tests run to their end" : "compiles";
    result.message = report.error;
    cases.push_back(case_to_json(result));
  }
  for (const CaseResult& result : report.cases) cases.push_back(case_to_json(result));
  return {{"number", report.lesson.number},
          {"name", report.lesson.name},
          {"status", verdict_name(report.verdict)},
          {"points", report.points},
          {"max_points", report.lesson.points},
          {"seconds", report.seconds},
          {"cases", cases}};
}

}  // namespace

std::string render_report(const Terminal& terminal, const LessonReport& report, const ReportStyle& style) {
  const bool pass = report.verdict == Verdict::pass;
  const std::string word = pass ? "PASS" : report.compiled ? "FAIL" : "DOES NOT COMPILE";
  const std::string right =
      report.compiled
          ? fmt::format("{}  {:.1f} s", points(report.points, report.lesson.points), report.seconds)
          : points(0, report.lesson.points);
  const std::string left = fmt::format("{}  {} {}", word, report.lesson.two_digits(), report.lesson.title);
  const std::size_t used = columns_of(left) + columns_of(right);
  const std::size_t gap = used + 2 < terminal.width() ? terminal.width() - used : 2;
  std::string text = terminal.paint(pass ? Style::good : Style::bad, word) +
                     terminal.paint(Style::strong, left.substr(word.size())) + std::string(gap, ' ') + right +
                     "\n";
  if (pass) return text;
  if (!report.error.empty()) text += wrap(report.error, 2, terminal.width());
  text += render_failed_cases(terminal, report, style.verbose);
  text += wrap(fmt::format("Next: edit {}, then {}", relative(report), style.command), 2, terminal.width());
  return text;
}

std::string render_summary(const Terminal& terminal, const std::vector<LessonReport>& reports) {
  int reached = 0, of = 0;
  std::size_t passed = 0;
  for (const LessonReport& report : reports) {
    reached += report.points;
    of += report.lesson.points;
    passed += report.verdict == Verdict::pass ? 1 : 0;
  }
  const std::string text =
      fmt::format("{} of {} passed, {}", passed, plural(reports.size(), "lesson"), points(reached, of));
  return terminal.paint(passed == reports.size() ? Style::good : Style::bad, text) + "\n";
}

std::string to_json(const std::vector<LessonReport>& reports, Backend backend) {
  nlohmann::json lessons = nlohmann::json::array();
  for (const LessonReport& report : reports) lessons.push_back(report_to_json(report));
  const nlohmann::json root = {{"version", 1}, {"backend", backend_name(backend)}, {"lessons", lessons}};
  // Whatever bytes a kernel printed, the file is valid UTF-8.
  return root.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace course::cli
