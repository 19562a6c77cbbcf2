#include "grading/sanitizer/log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "grading/sanitizer/finding_of_report.hpp"
#include "simt/classes.hpp"

namespace course::grading {
namespace {

using simt::Finding;

constexpr std::string_view kPrefix = "=========";
constexpr std::size_t kMostFindings = 100;  // of a log; nobody reads more
constexpr std::size_t kLongestLine = 1000;  // the name of a template may be long

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

/// Lines with one blank behind the prefix begin a report; those with more belong to it.
std::vector<SanitizerReport> split_reports(std::string_view text) {
  std::vector<SanitizerReport> reports;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, std::min(end, kLongestLine));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line.starts_with(kPrefix)) continue;
    line.remove_prefix(kPrefix.size());
    const std::string words(trimmed(line));
    if (words.empty()) continue;
    if (line.starts_with("  ") && !reports.empty())
      reports.back().details.push_back(words);
    else
      reports.push_back({words, {}});
  }
  return reports;
}

bool begins_with_one_of(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

/// What the tool says of itself and of the end of the program. False: a report.
bool take_remark(const SanitizerReport& report, SanitizerLog& log) {
  const std::string& line = report.headline;
  if (line.find(" SUMMARY: ") != std::string::npos) {
    if (line.find("were not printed") != std::string::npos ||
        line.find("was not printed") != std::string::npos)
      log.unprinted += number_of(between(line, "SUMMARY: ", " error"));
    if (!line.starts_with("LEAK")) log.complete = true;
    return true;
  }
  // How the program ended is seen by who started it.
  if (begins_with_one_of(line, {"COMPUTE-SANITIZER", "Error: process didn't terminate successfully",
                                "Target application returned an error"}))
    return true;
  if (begins_with_one_of(
          line, {"Target application", "Device not supported", "Error: Device not supported", "Unable to",
                 "Error: Unable to", "Failed to", "Error: Failed to", "Internal Sanitizer Error",
                 "Error: Internal", "Error: No attachable process", "Error: Target application"})) {
    if (log.problem.empty()) log.problem = line;
    return true;
  }
  return false;
}

/// Whether both tell of the same mistake. The two sides of a race change places from one report to the next.
bool same_mistake(const Finding& a, const Finding& b) {
  const auto same_place = [](const simt::FindingSide& one, const simt::FindingSide& other) {
    return one.line == other.line && one.file == other.file;
  };
  if (a.kind != b.kind || a.memory != b.memory) return false;
  if (a.kind == kSanitizerClass && a.what != b.what) return false;
  if (a.here.line == 0 || b.here.line == 0)
    return a.here.line == b.here.line && a.kernel == b.kernel && (a.kernel.empty() ? a.what == b.what : true);
  return (same_place(a.here, b.here) && same_place(a.other, b.other)) ||
         (same_place(a.here, b.other) && same_place(a.other, b.here));
}

/// An analysis of racecheck, which names no threads, sums up reports that do.
bool names_threads(const Finding& finding) { return finding.what.starts_with("thread ("); }

void add_finding(std::vector<Finding>& findings, Finding finding) {
  const auto known = std::find_if(findings.begin(), findings.end(),
                                  [&](const Finding& other) { return same_mistake(other, finding); });
  if (known == findings.end()) {
    if (findings.size() < kMostFindings) findings.push_back(std::move(finding));
  } else if (names_threads(*known) == names_threads(finding)) {
    known->count += finding.count;
  } else if (names_threads(finding)) {
    *known = std::move(finding);
  }
}

/// One finding for what a function leaked.
void add_leaks(std::vector<Finding>& findings, const std::vector<LeakedMemory>& leaks) {
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> sums;  // function: allocations, bytes
  for (const LeakedMemory& leak : leaks) {
    ++sums[leak.function].first;
    sums[leak.function].second += leak.bytes;
  }
  for (const auto& [function, sum] : sums) {
    const auto [count, bytes] = sum;
    Finding finding;
    finding.kind = "leak";
    finding.kernel = function;
    finding.count = count;
    finding.memory = "global";
    finding.what = fmt::format("{} bytes{}{} were never freed.", bytes,
                               count == 1 ? "" : fmt::format(" in {} allocations", count),
                               function.empty() ? "" : fmt::format(", allocated in {},", function));
    finding.rule = simt::check::kNeverFreed.rule;
    finding.fix = simt::check::kNeverFreed.fix;
    add_finding(findings, std::move(finding));
  }
}

/// Tests have calls refused on purpose, and only the program knows whether it looked at the error. An error
/// that nobody looked at fails the case anyway.
Finding refusal(const RefusedCall& refused, std::string_view tool) {
  Finding finding;
  finding.kind = "unchecked_error";
  finding.severity = simt::Severity::note;
  finding.what =
      fmt::format("CUDA refused the call of {}: {} ({}).", refused.call, refused.words, refused.error);
  finding.rule = fmt::format("{} cannot tell whether your code asked for that error.", tool);
  finding.fix = simt::check::kErrorUnread.fix;
  return finding;
}

/// Copies of memory that nothing has written. No number is used by that, and a framework copies whole
/// tensors.
bool only_copies(const SanitizerReport& report, std::string_view tool) {
  return tool == "initcheck" && report.headline.starts_with("Host API memory access error");
}

}  // namespace

SanitizerLog parse_sanitizer_log(std::string_view text, std::string_view tool,
                                 const std::filesystem::path& source) {
  SanitizerLog log;
  const std::vector<SanitizerReport> reports = split_reports(text);
  std::vector<LeakedMemory> leaks;
  const SanitizerReport* aftermath = nullptr;
  for (const SanitizerReport& report : reports) {
    if (take_remark(report, log) || only_copies(report, tool)) continue;
    if (const auto leak = leaked_memory(report)) {
      leaks.push_back(*leak);
    } else if (const auto refused = refused_call(report)) {
      if (refused->is_aftermath())
        aftermath = &report;
      else if (!refused->call.ends_with("LastError"))  // that call told of the error, and was not refused
        add_finding(log.findings, refusal(*refused, tool));
    } else {
      add_finding(log.findings, finding_of_report(report, tool, source.filename().string()));
    }
  }
  // After a fault nothing can be freed. What every later call says of it is worth a word only if nothing else
  // tells of it.
  if (!aftermath)
    add_leaks(log.findings, leaks);
  else if (std::none_of(log.findings.begin(), log.findings.end(),
                        [](const Finding& one) { return one.severity == simt::Severity::error; }))
    log.findings.push_back(finding_of_report(*aftermath, tool, source.filename().string()));
  return log;
}

bool SanitizerLog::has_mistakes() const {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& one) { return one.severity != simt::Severity::note; });
}

void add_log(SanitizerLog& log, const SanitizerLog& more) {
  for (const Finding& finding : more.findings) add_finding(log.findings, finding);
  log.complete = log.complete && more.complete;
  if (log.problem.empty()) log.problem = more.problem;
  log.unprinted += more.unprinted;
}

std::vector<Finding> findings_of(const SanitizerLog& log, std::string_view tool) {
  std::vector<Finding> findings = log.findings;
  for (Finding& finding : findings) {
    finding.tool = tool;
    finding.unprinted = log.unprinted > 0;
  }
  return findings;
}

}  // namespace course::grading
