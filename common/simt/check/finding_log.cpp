#include "simt/check/finding_log.hpp"

#include <utility>

#include "simt/classes.hpp"

namespace simt::check {
namespace {

/// Of the kinds as which one missing barrier or wait shows, a stronger one tells it all. 0: any other kind.
int strength(const char* kind) {
  if (kind == kMissingWait) return 3;
  if (kind == kRace) return 2;
  return kind == kSameValueWrite || kind == kMissingSyncwarp ? 1 : 0;
}

}  // namespace

bool FindingLog::repeated(const char* kind, unsigned site, unsigned other_site) {
  const auto known = by_site_.find({kind, site, other_site});
  if (known == by_site_.end()) return false;
  ++findings_[known->second].count;
  return true;
}

void FindingLog::add(const char* kind, Finding finding, unsigned site, unsigned other_site) {
  finding.kind = kind;
  // Threads that left by one return are missing at every barrier behind it: told once.
  const FindingSide &other = finding.other,
                    &here = kind == kExitedThreads && other.line != 0 ? other : finding.here;
  // The two sides of a race change places from one pair of threads to the next.
  const auto find = [&](const char* wanted) {
    const auto known = by_line_.find({wanted, here.file, here.line, other.file, other.line});
    return known != by_line_.end() ? known
                                   : by_line_.find({wanted, other.file, other.line, here.file, here.line});
  };
  auto known = find(kind);
  for (const char* const relative : {kMissingWait, kRace, kMissingSyncwarp, kSameValueWrite}) {
    if (known != by_line_.end() || strength(kind) == 0) break;
    if (strength(relative) == strength(kind)) continue;
    known = find(relative);
    if (known == by_line_.end() || strength(relative) > strength(kind)) continue;
    // A weaker one: this one stands in its place from now on.
    const std::size_t index = known->second;
    finding.count += findings_[index].count - 1;
    findings_[index] = finding;
    by_line_.erase(known);
    known = by_line_.emplace(Lines{kind, here.file, here.line, other.file, other.line}, index).first;
  }
  std::size_t index = findings_.size();
  if (known != by_line_.end()) {
    index = known->second;
    ++findings_[index].count;
  } else {
    by_line_.emplace(Lines{kind, here.file, here.line, other.file, other.line}, index);
    findings_.push_back(std::move(finding));
  }
  if (site != 0) by_site_.insert_or_assign({kind, site, other_site}, index);
}

std::vector<Finding> FindingLog::take() {
  by_site_.clear();
  by_line_.clear();
  return std::exchange(findings_, {});
}

}  // namespace simt::check
