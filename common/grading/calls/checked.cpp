#include "grading/calls/checked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace course::grading {
namespace {

bool is_error(const Finding& finding) { return finding.severity == Severity::error; }

bool came_back(const Outcome& outcome) {
  return outcome.status == Status::returned || outcome.status == Status::threw ||
         outcome.status == Status::cuda_error;
}

/// Whether an error of check mode tells of the same fault: the same class, or the same line.
bool tells_same_fault(const std::vector<Finding>& findings, const Finding& fault) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return is_error(finding) &&
           (finding.kind == fault.kind || (fault.here.line > 0 && finding.here.line == fault.here.line &&
                                           finding.here.file == fault.here.file));
  });
}

}  // namespace

void add_checked(Outcome& outcome, Outcome checked, std::string_view differs) {
  std::vector<Finding>& findings = checked.findings;
  const bool same_end = came_back(checked) && checked.status == outcome.status;
  if (came_back(outcome) && checked.status == Status::timeout)  // slow, perhaps, and not endless
    std::erase_if(findings, [](const Finding& finding) { return finding.kind == "endless_loop"; });
  if (came_back(outcome) && !same_end && std::none_of(findings.begin(), findings.end(), is_error)) {
    outcome.message = fmt::format(
        "The call came to its end, but not when it ran once more in check mode, which must see the same. {}",
        checked.status == Status::returned ? "There it returned." : why_not_returned(checked));
    outcome.status = Status::differed;
  }

  if (same_end && !differs.empty() && std::none_of(findings.begin(), findings.end(), is_error) &&
      std::none_of(outcome.findings.begin(), outcome.findings.end(), is_error)) {
    const bool told = std::any_of(findings.begin(), findings.end(), may_explain);
    outcome.message = fmt::format(
        "The call did something else when it ran once more in check mode, which must see the same. {}{}",
        differs,
        told ? ""
             : " Does a thread read a variable, or an array without __shared__, that it has not written?");
    outcome.status = Status::differed;
  }

  std::vector<Finding> all = findings;
  for (Finding& fault : outcome.findings)
    if (!is_error(fault) || !tells_same_fault(findings, fault)) all.push_back(std::move(fault));
  outcome.findings = std::move(all);
  outcome.checking = same_end ? Checking::done : Checking::stopped;
  if (same_end) outcome.profile = std::move(checked.profile);
}

void add_not_checked(Outcome& outcome, std::string_view why) {
  outcome.findings.push_back(note_not_checked(fmt::format("Check mode could not run a call: {}", why)));
}

}  // namespace course::grading
