#include "simt/report/ending.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "simt/classes.hpp"
#include "simt/report/text_layout.hpp"

namespace simt::report {
namespace {

FindingSide side_of(const Fault& fault) {
  return {fault.file, fault.line, fault.block, fault.thread, fault.calls};
}

/// The fault's sentence without the place that it begins with.
std::string sentence_of(const Fault& fault) {
  if (fault.line == 0) return fault.message;
  const std::string place = side_of(fault).own().place() + ": ";
  return fault.message.starts_with(place) ? fault.message.substr(place.size()) : fault.message;
}

Finding finding_at(const std::string& file, int line) {
  Finding finding;
  finding.here.file = file;
  finding.here.line = line;
  return finding;
}

/// Whether the finding and the fault are one mistake: of one kind, or made by one thread at one line.
bool tells_of(const Finding& finding, const Fault& fault) {
  if (fault.line == 0) return finding.kind == fault.kind;
  if (finding.here.line != fault.line || finding.here.file != fault.file) return false;
  return finding.kind == fault.kind ||
         (finding.here.block == fault.block && finding.here.thread == fault.thread);
}

/// One for each line that allocated.
void add_leaks(std::vector<Finding>& findings, const std::vector<Allocation>& live) {
  struct Leak {
    Allocation first;
    std::size_t bytes = 0, count = 0;
  };
  std::vector<Leak> leaks;
  for (const Allocation& allocation : live) {
    auto leak = std::find_if(leaks.begin(), leaks.end(), [&](const Leak& other) {
      return other.first.file == allocation.file && other.first.line == allocation.line;
    });
    if (leak == leaks.end()) leak = leaks.insert(leaks.end(), {allocation});
    leak->bytes += allocation.bytes;
    ++leak->count;
  }
  for (const Leak& leak : leaks) {
    Finding finding = finding_at(leak.first.file, leak.first.line);
    finding.kind = "leak";
    finding.memory = "global";
    finding.count = leak.count;
    finding.what = leak.count == 1
                       ? fmt::format("{} bytes allocated here were never freed.", count_text(leak.bytes))
                       : fmt::format("{} bytes in {} allocations made here were never freed.",
                                     count_text(leak.bytes), count_text(leak.count));
    finding.rule = check::kNeverFreed.rule;
    finding.fix = check::kNeverFreed.fix;
    findings.push_back(std::move(finding));
  }
}

/// The error that is still there at the end. Only a launch has no other way to tell of its failure; after any
/// other call, the program may have looked at what the call returned, so that is a warning, and only where
/// there is more to say than the error's name.
void add_unchecked_error(Ending& ending) {
  const auto refused = std::find_if(ending.faults.rbegin(), ending.faults.rend(),
                                    [](const Fault& fault) { return !fault.in_kernel; });
  if (refused == ending.faults.rend()) return;
  Finding finding = finding_of(*refused);
  finding.kind = "unchecked_error";
  finding.severity = refused->kind == "launch_refused" ? Severity::error : Severity::warning;
  finding.rule = check::kErrorUnread.rule;
  finding.fix = check::kErrorUnread.fix;
  finding.here.block = finding.here.thread = {};
  ending.faults.erase(std::next(refused).base());
  ending.findings.push_back(std::move(finding));
}

}  // namespace

Finding finding_of(const Fault& fault) {
  Finding finding;
  finding.kind = fault.kind;
  finding.kernel = fault.kernel;
  finding.here = side_of(fault);
  if (finding.here.in_helper()) finding.called_from = finding.here.own().place();
  finding.waiting = fault.waiting;
  finding.what = sentence_of(fault);
  return finding;
}

Ending sum_up(Remains remains) {
  Ending ending;
  ending.findings = std::move(remains.findings);
  bool kernel_failed = false;
  const std::size_t told = ending.findings.size();
  for (Fault& fault : remains.faults) {
    if (!fault.in_kernel) {
      ending.faults.push_back(std::move(fault));
      continue;
    }
    kernel_failed = true;
    const auto end = ending.findings.begin() + static_cast<std::ptrdiff_t>(told);
    const bool known = std::any_of(ending.findings.begin(), end,
                                   [&](const Finding& finding) { return tells_of(finding, fault); });
    if (!known) ending.findings.push_back(finding_of(fault));
  }
  if (kernel_failed) return ending;  // after that every call fails, cudaFree too
  if (remains.error_pending) add_unchecked_error(ending);
  add_leaks(ending.findings, remains.live);
  return ending;
}

}  // namespace simt::report
