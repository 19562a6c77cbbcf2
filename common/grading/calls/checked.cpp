#include "grading/calls/checked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace course::grading {
namespace {

bool is_error(const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; }

bool came_back(const Outcome& outcome) {
  return outcome.status == Status::returned || outcome.status == Status::threw ||
         outcome.status == Status::cuda_error;
}

Diagnostic note_not_checked(const std::string& message) {
  return {.kind = std::string(kNotChecked), .message = message, .severity = Severity::note};
}

/// The error of check mode that tells of the same fault: the same class, or the same line.
const Diagnostic* find_same_fault(const std::vector<Diagnostic>& findings, const Diagnostic& fault) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const Diagnostic& finding) {
    return is_error(finding) &&
           (finding.kind == fault.kind ||
            (fault.line > 0 && finding.line == fault.line && finding.file == fault.file));
  });
  return found == findings.end() ? nullptr : &*found;
}

}  // namespace

void add_checked(Outcome& outcome, Outcome checked) {
  std::vector<Diagnostic>& findings = checked.diagnostics;
  const bool only_check_stopped = checked.status == Status::timeout && outcome.status != Status::timeout;
  if (only_check_stopped)  // instrumented code is slow: that it was stopped says nothing about it
    std::erase_if(findings, [](const Diagnostic& finding) { return finding.kind == "endless_loop"; });
  const bool differs = checked.status != outcome.status;
  if (differs && !came_back(checked) && std::none_of(findings.begin(), findings.end(), is_error))
    findings.push_back(note_not_checked(
        only_check_stopped ? "Check mode was stopped before the end of a call: it took too long."
                           : fmt::format("Check mode did not finish a call: {}",
                                         checked.message.substr(0, checked.message.find('\n')))));

  std::vector<Diagnostic> all = findings;
  for (Diagnostic& fault : outcome.diagnostics) {
    const Diagnostic* told = is_error(fault) ? find_same_fault(findings, fault) : nullptr;
    if (!told)
      all.push_back(std::move(fault));
    else if (outcome.message == fault.message)
      outcome.message = told->message;
  }
  outcome.diagnostics = std::move(all);
  const bool same_end = came_back(checked) && checked.status == outcome.status;
  outcome.checking = same_end ? Checking::done : Checking::stopped;
  if (same_end) outcome.profile = std::move(checked.profile);
}

void add_not_checked(Outcome& outcome, std::string_view why) {
  outcome.diagnostics.push_back(note_not_checked(fmt::format("Check mode could not run a call: {}", why)));
}

}  // namespace course::grading
