// What check mode says of barriers, of warp operations, and of what the compiler's own checks found.

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "simt/check/checker.hpp"
#include "simt/check/phrases.hpp"
#include "simt/check/source_names.hpp"
#include "simt/classes.hpp"
#include "simt/runtime/block.hpp"

namespace simt::check {

void Checker::add_uninitialised(Finding finding) {
  finding.rule = kUninitialisedGlobal.rule;
  finding.fix = kUninitialisedGlobal.fix;
  log_.add(kUninitialisedRead, std::move(finding), 0, 0);
}

void Checker::report_divergent_barrier(const Arrival& arrival, const Arrival& other) {
  if (log_.repeated(kDivergentBarrier, arrival.site, other.site)) return;
  Finding report = detector_.finding(kDivergentBarrier, arrival.site, arrival.thread);
  report.other = detector_.side(other.site, other.thread);
  const std::string here = place_text(report.here), there = place_text(report.other);
  const SourceCall caller = report.other.caller();
  report.what =
      fmt::format("{} waits at this __syncthreads() while thread {} waits at {}.", subject(report.here),
                  index_text(report.other.thread),
                  here == there && caller.line != 0 ? "it in another call, that at " + caller.place()
                                                    : fmt::format("another ({} and {})", here, there));
  log_.add(kDivergentBarrier, std::move(report), arrival.site, other.site);
}

// The last block of a kernel is its end, with the line of whatever stands before it. A thread that comes
// there from a block on whose line, or below it, a `return` stands has taken that.
FindingSide Checker::way_out(unsigned thread) const {
  unsigned seen = 0;
  for (const std::uint32_t code : last_blocks_[thread]) {
    if (code == 0 || seen == 2) break;
    std::vector<SourceCall> calls = user_calls(CallStack::at(recorder_.code + code)).calls;
    if (calls.empty() || calls.back().function == kLambda) continue;  // the launch
    calls.erase(calls.begin(), calls.end() - 1);
    SourceCall& line = calls.front();
    if (seen++ == 0 && !has_word(line.text, "return")) continue;
    if (!has_word(line.text, "return")) line.text = source_text({line.file, ++line.line});
    if (!has_word(line.text, "return")) break;
    FindingSide side = detector_.side(0u, thread);
    side.file = line.file;
    side.line = line.line;
    side.calls = std::move(calls);
    return side;
  }
  return {};
}

void Checker::report_exited_threads(const Arrival& arrival, int returned, int of, unsigned first_returned) {
  if (log_.repeated(kExitedThreads, arrival.site, 0)) return;
  Finding report = detector_.finding(kExitedThreads, arrival.site, arrival.thread);
  report.other = way_out(first_returned);
  const std::string helper = helper_text(report.here);
  report.what = fmt::format(
      "{} of the {} threads of a warp have left the kernel{} without coming to {}, while {} and others of "
      "that warp wait in it.",
      returned, of, report.other.line == 0 ? "" : " by the return at " + place_text(report.other) + ",",
      helper.empty() ? "this barrier" : "the barrier " + helper, who(report.here));
  report.rule = kBarrierForAll.rule;
  log_.add(kExitedThreads, std::move(report), arrival.site, 0);
}

void Checker::inactive_lane(const InactiveLane& lane) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(lane.caller);
  if (log_.repeated(kInactiveLane, site, 0)) return;
  const auto thread = static_cast<unsigned>(recorder_.thread);
  Finding report = detector_.finding(kInactiveLane, site, thread);
  const std::string helper = helper_text(report.here);
  report.what = fmt::format("{}lane {} ({}) reads a value from lane {}, which {}.",
                            helper.empty() ? "" : helper + ", ", thread % 32, who(report.here), lane.source,
                            lane.exited ? "has left the kernel" : "takes no part in the shuffle");
  if (lane.exited)
    report.fix =
        "Let all lanes of the warp come to the shuffle: do not return before it or put it into a branch.";
  log_.add(kInactiveLane, std::move(report), site, 0);
}

/// "tile[..][33]": the array that the line indexes, if there is only one that it can be. `type` is that of
/// the array or of its row, such as 'float [33]'.
std::string Checker::bounded_element(const SourceLine& line, const std::string& type, std::int64_t index) {
  std::vector<std::string> names = indexed_names(source_text(line));
  std::erase_if(names, [](const std::string& name) { return memory_map().is_pointer_name(name); });
  const auto dimensions = static_cast<std::size_t>(std::count(type.begin(), type.end(), '['));
  const auto shape_of = [](const std::string& name) -> const ArrayName* {
    for (const ArrayName& known : memory_map().shared_names())
      if (known.name + known.member == name && !known.moves) return &known;
    return nullptr;
  };
  std::erase_if(names, [&](const std::string& name) {
    const ArrayName* known = shape_of(name);
    if (known == nullptr) return false;
    if (known->extents.size() < dimensions) return true;
    const std::size_t extent = known->extents[known->extents.size() - dimensions];
    return extent != 0 && type.find(fmt::format("[{}]", extent)) == std::string::npos;
  });
  if (names.size() != 1) return {};
  const ArrayName* known = shape_of(names.front());
  std::string element = names.front();
  for (std::size_t row = dimensions; known != nullptr && row < known->extents.size(); ++row)
    element += "[..]";
  return element + fmt::format("[{}]", index);
}

void Checker::array_bound_broken(std::uintptr_t caller, const char* type, std::int64_t index) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(caller);
  if (log_.repeated(kOutOfBounds, site, 0)) return;
  Finding report = detector_.finding(kOutOfBounds, site, static_cast<unsigned>(recorder_.thread));
  report.element = bounded_element(sites_[site].line, type, index);
  report.what = fmt::format("{} uses {}index {} of an array of type {}.", subject(report.here),
                            report.element.empty() ? "" : report.element + ", ", index, type);
  report.rule = kOutOfBoundsRow.rule;
  report.fix = kOutOfBoundsRow.fix;
  log_.add(kOutOfBounds, std::move(report), site, 0);
}

void Checker::shift_out_of_range(std::uintptr_t caller) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(caller);
  if (log_.repeated(kShift, site, 0)) return;
  Finding report = detector_.finding(kShift, site, static_cast<unsigned>(recorder_.thread));
  report.what = fmt::format("{} shifts by a negative amount, or by the width of the type or more.",
                            subject(report.here));
  log_.add(kShift, std::move(report), site, 0);
}

void Checker::misaligned(std::uintptr_t caller, std::uintptr_t address, std::uint64_t alignment) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(caller);
  if (log_.repeated(kMisaligned, site, 0)) return;
  Finding report = detector_.finding(kMisaligned, site, static_cast<unsigned>(recorder_.thread));
  std::uint64_t offset = address - recorder_.arena;
  Space space = Space::global;
  if (const auto in_shared = shared_offset(address)) space = Space::shared, offset = *in_shared;
  if (space == Space::shared || offset < kArenaBytes)
    report.element = Detector::element(report.here, space, offset, static_cast<unsigned>(alignment)).text;
  report.memory = space == Space::shared ? "shared" : "global";
  report.what = fmt::format(
      "{} accesses {} bytes at {}, which is not a multiple of {}.", subject(report.here), alignment,
      report.element.empty() ? "an address" : "the address of " + report.element, alignment);
  log_.add(kMisaligned, std::move(report), site, 0);
}

void refuse_misaligned(BlockRunner& runner, std::uintptr_t address, unsigned bytes, std::uintptr_t caller) {
  if (active_recorder != nullptr) {
    Checker::get().misaligned(caller, address, bytes);
    runner.raise(FaultKind::told_misaligned, "");
  }
  char text[80];  // nothing that is to be freed: raise() does not return
  std::snprintf(text, sizeof text, "%u bytes at 0x%llx", bytes, static_cast<unsigned long long>(address));
  runner.raise(FaultKind::misaligned, text);
}

}  // namespace simt::check
