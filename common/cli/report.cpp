#include "cli/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "cli/words.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

constexpr std::size_t kFullCases = 3;   // failed cases that are shown with their message
constexpr std::size_t kNamedCases = 4;  // and, of those behind them, by name

std::string points(int reached, int of) { return fmt::format("{} of {} points", reached, of); }

/// Those of a severity, without the notes about check mode itself.
std::vector<Diagnostic> of_severity(const std::vector<Diagnostic>& diagnostics, Severity severity) {
  std::vector<Diagnostic> chosen;
  std::copy_if(diagnostics.begin(), diagnostics.end(), std::back_inserter(chosen),
               [&](const Diagnostic& one) { return one.severity == severity && one.kind != kNotChecked; });
  return chosen;
}

/// Warnings that may be why a case fails: threads that did not come where others wait for them.
std::vector<Diagnostic> explanations(const CaseResult& result) {
  std::vector<Diagnostic> chosen = of_severity(result.diagnostics, Severity::warning);
  std::erase_if(chosen, [](const Diagnostic& one) {
    return one.kind != "exited_threads" && one.kind != "divergent_barrier" && one.kind != "inactive_lane";
  });
  return chosen;
}

/// The message's first sentence without its numbers and without what stands before a colon, such as "n = 33:"
/// or "vector_add.cu:61:". Cases with the same one fail in the same way, unless different mistakes explain
/// them.
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

/// The student's lines that the diagnostic names, for a report that is read without an editor beside it.
std::string render_source_lines(const Terminal& terminal, const LessonReport& report,
                                const Diagnostic& diagnostic) {
  std::map<int, std::string> lines;  // by number
  const auto in_source = [&](const std::string& file) {
    return std::filesystem::path(file).filename() == report.source.filename();
  };
  if (diagnostic.line > 0 && in_source(diagnostic.file)) lines[diagnostic.line];
  if (diagnostic.other_line > 0 && in_source(diagnostic.other_file)) lines[diagnostic.other_line];
  if (lines.empty()) return "";
  std::ifstream stream(report.source);
  int number = 0;
  for (std::string line; number < lines.rbegin()->first && std::getline(stream, line);) {
    if (const auto wanted = lines.find(++number); wanted != lines.end()) wanted->second = line;
  }
  std::string text;
  for (const auto& [line, code] : lines) {
    const std::size_t begin = code.find_first_not_of(" \t");
    if (begin == std::string::npos) continue;
    // Two spaces in front: wrap() cuts such a line.
    std::string shown = wrap(fmt::format("  {:>4} | {}", line, code.substr(begin)), 4, terminal.width());
    shown.pop_back();
    text += terminal.paint(Style::note, shown) + "\n";
  }
  return text;
}

/// The sentence with its place in colour, its further lines further in, and the lines of source. `context`,
/// such as "n = 33: ", goes before it.
std::string render_diagnostic(const Terminal& terminal, const LessonReport& report,
                              const Diagnostic& diagnostic, const std::string& context = "") {
  const std::string file = std::filesystem::path(diagnostic.file).filename().string();
  const bool names_place = diagnostic.line == 0 || diagnostic.message.starts_with(file + ":");
  const std::string place = names_place ? "" : fmt::format("{}:{}: ", diagnostic.file, diagnostic.line);
  std::string text = wrap(context + place + diagnostic.message, 6, terminal.width()).substr(2);
  // "kernel.cu:31: error: race:" stands on the first line.
  const std::string kind = fmt::format("{}: {}:", to_string(diagnostic.severity), diagnostic.kind);
  const std::size_t found = text.find(kind);
  if (found != std::string::npos && found + kind.size() < text.find('\n')) {
    const std::size_t end = found + kind.size();
    const Style style = diagnostic.severity == Severity::error ? Style::bad : Style::strong;
    text = text.substr(0, 4) + terminal.paint(style, std::string_view(text).substr(4, end - 4)) +
           text.substr(end);
  }
  return text + render_source_lines(terminal, report, diagnostic);
}

/// What has been told so far. A case that adds nothing to it is only counted.
struct Told {
  struct Way {
    std::string pattern;
    std::vector<std::string> mistakes;
    bool operator==(const Way&) const = default;
  };
  std::vector<Way> ways;
  std::vector<Diagnostic> findings;

  bool knows(const Diagnostic& finding) const {
    return std::any_of(findings.begin(), findings.end(),
                       [&](const Diagnostic& one) { return same_mistake(one, finding); });
  }
  /// A case with findings fails in the way that they say, whatever came of it.
  bool knows(const CaseResult& result) const {
    const auto found = of_severity(result.diagnostics, Severity::error);
    if (!found.empty())
      return std::all_of(found.begin(), found.end(), [&](const Diagnostic& error) { return knows(error); });
    const Way way{pattern_of(result), result.diagnoses};
    return std::find(ways.begin(), ways.end(), way) != ways.end();
  }
  void add(const CaseResult& result) {
    ways.push_back({pattern_of(result), result.diagnoses});
    add_new(findings, of_severity(result.diagnostics, Severity::error));
    add_new(findings, explanations(result));
  }
};

/// Whether some failed case looks the same and has an explanation, which this one lacks.
bool explained_by_another(const CaseResult& result, const std::vector<CaseResult>& cases) {
  if (!result.diagnoses.empty() || !of_severity(result.diagnostics, Severity::error).empty()) return false;
  return std::any_of(cases.begin(), cases.end(), [&](const CaseResult& other) {
    return !other.passed && !other.diagnoses.empty() && pattern_of(other) == pattern_of(result);
  });
}

/// Findings that were told before are left out.
std::string render_case(const Terminal& terminal, const LessonReport& report, const CaseResult& result,
                        const Told& told) {
  const std::string worth = plural(static_cast<std::size_t>(std::max(result.points, 0)), "point");
  std::string text = wrap(fmt::format("{} ({})", result.name, worth), 2, terminal.width());
  text = terminal.paint(Style::strong, text.substr(0, text.size() - 1)) + "\n";
  for (const Diagnostic& warning : explanations(result))
    if (!told.knows(warning)) text += render_diagnostic(terminal, report, warning);
  const auto errors = of_severity(result.diagnostics, Severity::error);
  std::istringstream lines(result.message);
  for (std::string line; std::getline(lines, line);) {
    const auto error = std::find_if(errors.begin(), errors.end(),
                                    [&](const Diagnostic& one) { return line.ends_with(one.message); });
    if (error == errors.end())
      text += wrap(line, 4, terminal.width());
    else if (!told.knows(*error))
      text +=
          render_diagnostic(terminal, report, *error, line.substr(0, line.size() - error->message.size()));
  }
  for (const Diagnostic& error : errors)
    if (result.message.find(error.message) == std::string::npos && !told.knows(error))
      text += render_diagnostic(terminal, report, error);
  return text;
}

/// Those of all cases that were not told yet, each once; passed cases have them, too.
std::string render_all(const Terminal& terminal, const LessonReport& report, Severity severity,
                       const Told& told, const std::string& title) {
  std::vector<Diagnostic> all;
  for (const CaseResult& result : report.cases) add_new(all, of_severity(result.diagnostics, severity));
  std::erase_if(all, [&](const Diagnostic& one) { return told.knows(one); });
  std::string text = all.empty() ? "" : terminal.paint(Style::strong, "  " + title) + "\n";
  for (const Diagnostic& one : all) text += render_diagnostic(terminal, report, one);
  return text;
}

/// How to see more.
std::string verbose_command(const ReportStyle& style) {
  return style.watching ? style.command + " --verbose" : "--verbose";
}

/// What check mode could not look at, and why.
std::string render_not_checked(const Terminal& terminal, const LessonReport& report,
                               const ReportStyle& style) {
  if (!report.not_checked.empty()) return wrap(report.not_checked, 2, terminal.width());
  std::vector<Diagnostic> reasons;
  for (const CaseResult& result : report.cases)
    for (const Diagnostic& one : result.diagnostics)
      if (one.kind == kNotChecked) add_new(reasons, {one});
  if (!style.verbose && !reasons.empty())
    return wrap(fmt::format("Some calls have no diagnosis ({} says why)", verbose_command(style)), 2,
                terminal.width());
  std::string text;
  for (const Diagnostic& reason : reasons) text += wrap(reason.message, 2, terminal.width());
  return text;
}

/// That NVIDIA's tools have looked, and how much they found.
std::string render_tools(const Terminal& terminal, const LessonReport& report) {
  if (report.tools.empty()) return "";
  std::vector<Diagnostic> found;
  for (const CaseResult& result : report.cases)
    for (const Diagnostic& one : result.diagnostics)
      if (!one.tool.empty() && one.severity != Severity::note) add_new(found, {one});
  std::string names;
  for (std::size_t i = 0; i < report.tools.size(); ++i)
    names += (i == 0 ? "" : i + 1 == report.tools.size() ? " and " : ", ") + report.tools[i];
  const std::string result = found.empty() ? "nothing" : plural(found.size(), "mistake");
  return wrap(fmt::format("compute-sanitizer ({}) found {}", names, result), 2, terminal.width());
}

/// Adds what it tells to `told`.
std::string render_failed_cases(const Terminal& terminal, const LessonReport& report,
                                const ReportStyle& style, Told& told) {
  const bool verbose = style.verbose;
  const std::size_t in_full = style.watching ? 1 : kFullCases;
  std::size_t shown = 0, by_name = 0, same = 0, other = 0;
  std::string text, named;
  for (const CaseResult& result : report.cases) {
    if (result.passed) continue;
    if (!verbose && (told.knows(result) || explained_by_another(result, report.cases))) {
      ++same;
    } else if (!verbose && shown == in_full) {
      if (style.watching && ++by_name <= kNamedCases) {
        named += wrap("also fails: " + result.name, 2, terminal.width());
        told.add(result);
      } else {
        ++other;
      }
    } else {
      ++shown;
      text += render_case(terminal, report, result, verbose ? Told() : told);
      told.add(result);
    }
  }
  text += named;
  if (same > 0)
    text += wrap(fmt::format("and {} {} in {}", plural(same, "more case"), same == 1 ? "fails" : "fail",
                             told.ways.size() > 1 ? "one of these ways" : "the same way"),
                 2, terminal.width());
  if (other > 0)
    text += wrap(fmt::format("and {} {} in other ways ({} shows all)", plural(other, "more case"),
                             other == 1 ? "fails" : "fail", verbose_command(style)),
                 2, terminal.width());
  return text;
}

std::string relative(const LessonReport& report) {
  const auto path = report.source.lexically_relative(report.lesson.root);
  return path.empty() || *path.begin() == ".." ? report.source.string() : path.string();
}

}  // namespace

std::string render_heading(const Terminal& terminal, Style style, const std::string& word,
                           const Lesson& lesson, const std::string& right) {
  const std::string left = fmt::format("{}  {} {}", word, lesson.two_digits(), lesson.title);
  const std::size_t used = columns_of(left) + columns_of(right);
  const std::string painted =
      terminal.paint(style, word) + terminal.paint(Style::strong, left.substr(word.size()));
  if (columns_of(left) > terminal.width())
    return terminal.paint(style, word) + "\n" +
           wrap(left.substr(word.size() + 2) + "\n" + right, 2, terminal.width());
  if (right.empty()) return painted + "\n";
  if (used + 2 > terminal.width()) return painted + "\n" + wrap(right, 2, terminal.width());
  return painted + std::string(terminal.width() - used, ' ') + right + "\n";
}

std::string render_findings(const Terminal& terminal, const LessonReport& report, const ReportStyle& style) {
  std::string text;
  if (!report.error.empty()) text += wrap(report.error, 2, terminal.width());
  Told told;
  text += render_failed_cases(terminal, report, style, told);
  text += render_all(terminal, report, Severity::warning, told, "Warnings, which cost no points");
  if (style.verbose) text += render_all(terminal, report, Severity::note, told, "Notes");
  return text + render_not_checked(terminal, report, style) + render_tools(terminal, report);
}

std::string render_report(const Terminal& terminal, const LessonReport& report, const ReportStyle& style) {
  const bool pass = report.verdict == Verdict::pass;
  const std::string word = pass ? "PASS" : report.compiled ? "FAIL" : "DOES NOT COMPILE";
  const std::string right =
      report.compiled
          ? fmt::format("{}  {:.1f} s", points(report.points, report.lesson.points), report.seconds)
          : points(0, report.lesson.points);
  std::string text = render_heading(terminal, pass ? Style::good : Style::bad, word, report.lesson, right) +
                     render_findings(terminal, report, style);
  if (pass) return text;
  const std::string next = fmt::format("Next: edit {}, then {}", relative(report), style.command);
  if (columns_of(next) + 2 <= terminal.width()) return text + wrap(next, 2, terminal.width());
  // The command stays in one piece, so that it can be copied.
  return text +
         wrap(fmt::format("Next: edit {}, then\n{}", relative(report), style.command), 2, terminal.width());
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

}  // namespace course::cli
