#include "cli/report.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "grading/base/messages.hpp"
#include "grading/facts/words.hpp"

namespace course::cli {
namespace {

using namespace course::grading;

constexpr const char* kLaunchRefused = "launch_refused";
constexpr std::size_t kFullCases = 3;   // failed cases that are shown with their message
constexpr std::size_t kNamedCases = 4;  // and, of those behind them, by name

std::string points(int reached, int of) { return fmt::format("{} of {} points", reached, of); }

/// Those of a severity, without the notes about check mode itself.
std::vector<Finding> of_severity(const std::vector<Finding>& findings, Severity severity) {
  std::vector<Finding> chosen;
  std::copy_if(findings.begin(), findings.end(), std::back_inserter(chosen),
               [&](const Finding& one) { return one.severity == severity && one.kind != kNotChecked; });
  return chosen;
}

bool shows(const std::optional<Cause>& cause, const CaseResult& result) {
  return cause && !sentence_for(*cause, result).empty();
}

/// How near a failed case comes to its cause: the least is nearest. What a finding says is sure; a mistake
/// that explains the numbers comes next; then what is only known to be wrong, and then what the lesson asks
/// for beside right results. Where there is a cause, findings are of accesses outside of arrays alone, to
/// which it led in some cases.
int distance_to_cause(const CaseResult& result, const std::optional<Cause>& cause,
                      const std::vector<Finding>& roots) {
  if (explains_findings(result)) return -1;
  const std::vector<Finding> reasons = reasons_in(result.findings);
  if (!reasons.empty() && cause) return 3;
  if (!reasons.empty() && std::all_of(reasons.begin(), reasons.end(),
                                      [&](const Finding& one) { return follows_from_one(one, roots); }))
    return 3;  // after the case that shows what it follows from
  if (!reasons.empty()) {
    const bool error =  // be it one that follows from what a warning says
        std::any_of(result.findings.begin(), result.findings.end(),
                    [](const Finding& one) { return one.severity == Severity::error; });
    return error ? 0 : 1;
  }
  if (shows(cause, result)) return 2;
  const bool beside = std::all_of(result.failures.begin(), result.failures.end(),
                                  [](const Failure& one) { return one.kind == Failure::Kind::check; });
  return beside ? 4 : 3;
}

/// Whether some result is never written in any of the failed cases that look at it. Then the kernel is not
/// finished, and a cause may well be something that its writer has not come to.
bool is_unfinished(const std::vector<const CaseResult*>& failed) {
  std::map<std::string, bool> untouched;  // by array
  for (const CaseResult* result : failed)
    for (const Failure& failure : result->failures)
      if (failure.kind == Failure::Kind::values) {
        bool& so_far = untouched.emplace(failure.values.array, true).first->second;
        so_far = so_far && never_written(failure.values);
      }
  return std::any_of(untouched.begin(), untouched.end(), [](const auto& array) { return array.second; });
}

/// The failed cases, in the order in which they are told.
std::vector<const CaseResult*> failed_cases(const LessonReport& report, std::size_t first = 0) {
  std::vector<const CaseResult*> failed;
  for (const CaseResult& result : report.cases)
    if (!result.passed) failed.push_back(&result);
  std::vector<Finding> roots = strays_in(report.cases);
  for (const CaseResult* result : failed)
    std::copy_if(result->findings.begin(), result->findings.end(), std::back_inserter(roots),
                 is_missed_barrier);
  const std::optional<Cause> leading = is_unfinished(failed) ? std::nullopt : report.cause;
  const auto distance = [&](const CaseResult* one) { return distance_to_cause(*one, leading, roots); };
  std::stable_sort(failed.begin(), failed.end(),
                   [&](const CaseResult* a, const CaseResult* b) { return distance(a) < distance(b); });
  if (!failed.empty()) {
    const auto chosen = failed.begin() + static_cast<std::ptrdiff_t>(first % failed.size());
    std::rotate(failed.begin(), chosen, chosen + 1);
  }
  return failed;
}

/// Adds to `lines` the number of this line, if it is in the student's file.
void add_line(const LessonReport& report, const simt::SourceCall& at, std::map<int, std::string>& lines) {
  if (at.line > 0 && std::filesystem::path(at.file).filename() == report.source.filename()) lines[at.line];
}

/// Those of the student's lines, for a report that is read without an editor beside it.
std::string render_source_lines(const Terminal& terminal, const LessonReport& report,
                                std::map<int, std::string> lines) {
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

/// The message with its class in colour, its further lines further in, and the lines of source.
std::string render_finding(const Terminal& terminal, const LessonReport& report, const Finding& finding) {
  std::string text = wrap(finding.message(), 6, terminal.width()).substr(2);
  // "kernel.cu:31: error: race:" stands on the first line.
  const std::string kind = fmt::format("{}: {}:", simt::to_string(finding.severity), finding.kind);
  const std::size_t found = text.find(kind);
  if (found != std::string::npos && found + kind.size() < text.find('\n')) {
    const std::size_t end = found + kind.size();
    const Style style = finding.severity == Severity::error ? Style::bad : Style::strong;
    text = text.substr(0, 4) + terminal.paint(style, std::string_view(text).substr(4, end - 4)) +
           text.substr(end);
  }
  std::map<int, std::string> lines;
  add_line(report, finding.here.own(), lines);
  add_line(report, finding.here.caller(), lines);
  add_line(report, finding.other.own(), lines);
  for (const simt::WaitingThreads& group : finding.waiting) add_line(report, group.where.own(), lines);
  return text + render_source_lines(terminal, report, lines);
}

/// Whether both have the same advice, and the same line on the other side, or the same element and none: what
/// is missing there shows at several places.
bool one_cause(const Finding& a, const Finding& b) {
  if (a.kind != b.kind || a.rule != b.rule || a.fix != b.fix) return false;
  const simt::SourceCall of_a = a.other.own(), of_b = b.other.own();
  if (of_a.line == 0 && of_b.line == 0) return !a.element.empty() && a.element == b.element;
  return of_a.line == of_b.line && of_a.file == of_b.file;
}

/// The finding without a rule and advice that another one, told before, has given in the same words.
Finding without_known_advice(Finding finding, const std::vector<Finding>& told) {
  if (std::any_of(told.begin(), told.end(), [&](const Finding& one) {
        return one.kind == finding.kind && one.rule == finding.rule && one.fix == finding.fix;
      }))
    finding.rule = finding.fix = "";
  return finding;
}

/// Of findings of one cause, the first whole and of the others the lines alone; advice that stands in
/// several, or in those that were told before, once.
std::string render_findings_of(const Terminal& terminal, const LessonReport& report,
                               std::vector<Finding> findings, std::vector<Finding> told) {
  std::string text;
  while (!findings.empty()) {
    const Finding first = findings.front();
    std::map<int, std::string> lines;  // of the others
    findings.erase(findings.begin());
    std::erase_if(findings, [&](const Finding& one) {
      if (!one_cause(first, one)) return false;
      const std::size_t known = lines.size();
      add_line(report, one.here.own(), lines);
      return lines.size() > known;
    });
    lines.erase(first.here.own().line);
    text += render_finding(terminal, report, without_known_advice(first, told));
    told.push_back(first);
    if (lines.empty()) continue;
    text += wrap("The same shows here, too:", 6, terminal.width());
    text += render_source_lines(terminal, report, lines);
  }
  return text;
}

/// Failure::way(), but of wrong numbers only for what is wrong in one entry: another has mistakes of its own.
std::string way_in(const CaseResult& result, const Failure& failure) {
  std::string way = failure.way();
  if (failure.kind != Failure::Kind::values || never_written(failure.values)) return way;
  for (const std::string& tag : result.tags)
    if (!tag.starts_with("points:")) way += " " + tag;
  return way;
}

/// What has been told so far. A case that adds nothing to it is only counted.
struct Told {
  std::set<std::string> ways;
  std::vector<Finding> findings;
  bool cause = false;
  bool strays_explained = false;  ///< a failure said why accesses leave their arrays

  bool knows(const Finding& finding) const {
    return (strays_explained && is_stray(finding)) || follows_from_one(finding, findings) ||
           std::any_of(findings.begin(), findings.end(), [&](const Finding& one) {
             return same_mistake(one, finding) || can_wait_for(one, finding);
           });
  }
  /// Of a case with findings, results come out as they say, and of one that shows the cause, as that says.
  /// What the lesson asks for besides is told by nothing but its own sentence; but it says little of a launch
  /// that an access outside of an array ended.
  bool knows(const CaseResult& result, const std::optional<Cause>& of_all) const {
    const std::vector<Finding> reasons = reasons_in(result.findings);
    if (!std::all_of(reasons.begin(), reasons.end(), [&](const Finding& one) { return knows(one); }))
      return false;
    const bool misplaced = std::any_of(result.failures.begin(), result.failures.end(),
                                       [](const Failure& one) { return one.misplaced; });
    const bool explained = (cause && shows(of_all, result)) || (strays_explained && misplaced);
    const bool ended = std::any_of(reasons.begin(), reasons.end(), is_stray);
    const bool overran_own = std::any_of(findings.begin(), findings.end(), is_own_stray);
    return std::all_of(result.failures.begin(), result.failures.end(), [&](const Failure& one) {
      if (ways.contains(way_in(result, one))) return true;
      if (one.kind == Failure::Kind::call && overran_own) return true;  // which may lead anywhere
      if (one.misplaced && (explained || explains_findings(result))) return true;
      return reasons.empty() ? explained && one.kind == Failure::Kind::values
                             : ended || one.found || one.kind != Failure::Kind::check;
    });
  }
  void add(const CaseResult& result) {
    for (const Failure& failure : result.failures) ways.insert(way_in(result, failure));
    add_new(findings, reasons_in(result.findings));
    strays_explained = strays_explained || explains_findings(result);
  }
  /// The case without remarks that were told before, if it has anything else to say.
  CaseResult rest_of(CaseResult result) const {
    const auto is_known = [&](const Failure& one) {
      return one.kind == Failure::Kind::check && ways.contains(way_in(result, one));
    };
    if (!std::all_of(result.failures.begin(), result.failures.end(), is_known))
      std::erase_if(result.failures, is_known);
    return result;
  }
};

/// Findings and a cause that were told before are left out.
std::string render_case(const Terminal& terminal, const LessonReport& report, const CaseResult& result,
                        const Told& told) {
  const std::string worth = plural(static_cast<std::size_t>(std::max(result.points, 0)), "point");
  std::string text = wrap(fmt::format("{} ({})", result.name, worth), 2, terminal.width());
  text = terminal.paint(Style::strong, text.substr(0, text.size() - 1)) + "\n";
  std::vector<Finding> untold = reasons_in(result.findings);
  std::erase_if(untold, [&](const Finding& reason) { return told.knows(reason); });
  const bool explained = explains_findings(result);
  if (explained && !untold.empty()) untold.resize(1);  // what it comes to; the others come to the same
  // Where a failure explains them, it has better advice, too.
  const std::string found = render_findings_of(terminal, report, untold, explained ? untold : told.findings);
  const std::string cause = report.cause && !told.cause ? sentence_for(*report.cause, result) : "";
  std::string failed;
  for (const std::string& line : lines_of_failures(told.rest_of(result), cause))
    failed += wrap(line, 4, terminal.width());
  // Whether a launch was refused on purpose is said by the test.
  const bool refused = std::all_of(untold.begin(), untold.end(),
                                   [](const Finding& one) { return one.kind == kLaunchRefused; });
  text += refused || explained ? failed + found : found + failed;
  if (const std::string printed = printed_part(result.printed); !printed.empty())
    text += wrap(printed.substr(1), 4, terminal.width());
  return text;
}

/// Those of all cases that were not told yet, each once; passed cases have them, too.
std::string render_all(const Terminal& terminal, const LessonReport& report, Severity severity,
                       const Told& told, const std::string& title) {
  std::vector<Finding> all;
  for (const CaseResult& result : report.cases) add_new(all, of_severity(result.findings, severity));
  std::erase_if(all, [&](const Finding& one) { return told.knows(one); });
  std::string text = all.empty() ? "" : terminal.paint(Style::strong, "  " + title) + "\n";
  return text + render_findings_of(terminal, report, all, told.findings);
}

/// How to see more.
std::string verbose_command(const ReportStyle& style) {
  return style.watching ? style.command + " --verbose" : "--verbose";
}

/// What check mode could not look at, and why.
std::string render_not_checked(const Terminal& terminal, const LessonReport& report,
                               const ReportStyle& style) {
  if (!report.not_checked.empty()) return wrap(report.not_checked, 2, terminal.width());
  std::vector<Finding> reasons;
  for (const CaseResult& result : report.cases)
    for (const Finding& one : result.findings)
      if (one.kind == kNotChecked) add_new(reasons, {one});
  if (!style.verbose && !reasons.empty())
    return wrap(fmt::format("Some calls have no diagnosis ({} says why)", verbose_command(style)), 2,
                terminal.width());
  std::string text;
  for (const Finding& reason : reasons) text += wrap(reason.what, 2, terminal.width());
  return text;
}

/// That NVIDIA's tools have looked, and how much they found.
std::string render_tools(const Terminal& terminal, const LessonReport& report) {
  if (report.tools.empty()) return "";
  std::vector<Finding> found;
  for (const CaseResult& result : report.cases)
    for (const Finding& one : result.findings)
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
  for (const CaseResult* failed : failed_cases(report, style.first)) {
    const CaseResult& result = *failed;
    if (!verbose && shown > 0 && told.knows(result, report.cause)) {
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
      told.cause = told.cause || shows(report.cause, result);
    }
  }
  text += named;
  if (same > 0)
    text += wrap(fmt::format("and {} {} in {}", plural(same, "more case"), same == 1 ? "fails" : "fail",
                             shown + by_name > 1 ? "one of these ways" : "the same way"),
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
