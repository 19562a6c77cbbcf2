#include "simt/check/finding_log.hpp"

#include <utility>

#include "simt/classes.hpp"

namespace simt::check {

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
  // One missing barrier shows between warps and within one: the former tells it all.
  const bool milder = kind == kSameValueWrite || kind == kMissingSyncwarp;
  auto known = milder ? find(kRace) : find(kind);
  if (known == by_line_.end() && milder) known = find(kind);
  if (known == by_line_.end() && kind == kRace) {
    known = find(kMissingSyncwarp);
    if (known == by_line_.end()) known = find(kSameValueWrite);
    if (known != by_line_.end()) {
      const std::size_t index = known->second;
      finding.count += findings_[index].count;
      findings_[index] = finding;
      --findings_[index].count;
      by_line_.erase(known);
      known = by_line_.emplace(Lines{kind, here.file, here.line, other.file, other.line}, index).first;
    }
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
