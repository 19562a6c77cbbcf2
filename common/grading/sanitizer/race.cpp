#include "grading/sanitizer/race.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "simt/classes.hpp"

namespace course::grading {
namespace {

namespace check = simt::check;

constexpr std::string_view kAnalysis = "Race reported between ";

/// One of the two accesses.
struct Side {
  const char* verb = "uses";
  bool writes = false;
  bool names_thread = false;
  simt::FindingSide place;
};

/// "Write Thread (0,1,0) at scale(float *)+0x70 in scale.cu:10" or "Read access at scale(float *)+0x70 in
/// ..."
Side side_of(std::string_view line) {
  Side side;
  side.place = place_of(line);
  side.names_thread = read_index(line, "Thread (", side.place.thread);
  const std::size_t at = line.find(" at ");
  side.writes = line.substr(0, at).find("Write") != std::string_view::npos;
  side.verb = side.writes ? "writes" : "reads";
  return side;
}

std::vector<Side> sides_of(const SanitizerReport& report) {
  std::vector<Side> sides;
  if (const std::size_t begin = report.headline.find(kAnalysis); begin != std::string::npos)
    sides.push_back(side_of(std::string_view(report.headline).substr(begin + kAnalysis.size())));
  for (const std::string& line : report.details)
    if (line.find(" Thread (") < line.find(" at ") || line.starts_with("and "))
      sides.push_back(side_of(line));
  sides.resize(2);
  return sides;
}

/// " at scale.cu:10", or " in the same line"; empty if the line is not known.
std::string beside(const simt::FindingSide& other, const simt::FindingSide& here) {
  if (other.line == 0) return "";
  if (other.line == here.line && other.file == here.file) return " in the same line";
  return fmt::format(" at {}:{}", name_of(other.file), other.line);
}

/// An analysis says how many hazards it sums up.
std::uint64_t hazards_of(const SanitizerReport& report) {
  std::uint64_t hazards = 0;
  for (const std::string& line : report.details)
    if (line.ends_with("hazards]") || line.ends_with("hazard]"))
      hazards += number_of(std::string_view(line).substr(line.rfind('[') + 1));
  return std::max<std::uint64_t>(hazards, 1);
}

}  // namespace

bool is_race(const SanitizerReport& report) {
  return report.headline.find(kAnalysis) != std::string::npos ||
         report.headline.find(" hazard detected") != std::string::npos;
}

void tell_race(simt::Finding& finding, const SanitizerReport& report) {
  const std::vector<Side> sides = sides_of(report);
  const Side &before = sides[0], &after = sides[1];
  finding.here = after.place;
  finding.other = before.place;
  finding.memory = "shared";
  finding.count = hazards_of(report);
  if (read_index(report.headline, "in block (", finding.here.block)) finding.other.block = finding.here.block;

  const std::string who = after.names_thread
                              ? fmt::format("thread {} of block {}", index_text(finding.here.thread),
                                            index_text(finding.here.block))
                              : "a thread";
  const std::string other =
      before.names_thread ? "thread " + index_text(finding.other.thread) : "another thread";
  const std::string where = beside(finding.other, finding.here);
  const auto tell = [&](const char* kind, const check::Advice& advice, const std::string& what) {
    finding.kind = kind;
    finding.rule = advice.rule;
    finding.fix = advice.fix;
    finding.what = what;
  };
  if (report.headline.find("memcpy_async") != std::string::npos) {
    finding.severity = simt::Severity::error;
    return tell(check::kMissingWait, check::kCopyNotAwaited,
                fmt::format("{} {} shared memory while the asynchronous copy that {} issued{} may still be "
                            "under way.",
                            who, after.verb, other, where));
  }
  const std::string what = fmt::format("{} {} shared memory, which {} {}{}, and nothing orders the two.", who,
                                       after.verb, other, before.verb, where);
  if (finding.severity != simt::Severity::error)  // lanes of one warp
    return tell(check::kMissingSyncwarp, check::kRaceInWarp, what);
  tell(check::kRace, before.writes && after.writes ? check::kRaceOfWrites : check::kRaceWithReads, what);
}

}  // namespace course::grading
