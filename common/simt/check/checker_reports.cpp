// What check mode says of barriers, of warp operations, and of what the compiler's own checks found.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "simt/check/advice.hpp"
#include "simt/check/checker.hpp"
#include "simt/check/kinds.hpp"
#include "simt/check/source_names.hpp"
#include "simt/check/words.hpp"

namespace simt::check {

void Checker::stand_in_calls_of(const Arrival& arrival) {
  const Replay::Calls calls = replay_.calls_of(static_cast<int>(arrival.thread));
  sites_.stand_in(calls.callers, calls.depth);
}

void Checker::report_divergent_barrier(const Arrival& arrival, const Arrival& other) {
  if (log_.repeated(kDivergentBarrier, arrival.site, other.site)) return;
  stand_in_calls_of(arrival);
  Finding report = detector_.finding(Severity::warning, arrival.site, arrival.thread);
  report.other = detector_.side(other.site, other.thread);
  report.what = fmt::format("{} waits at this __syncthreads() while thread {} waits at another ({} and {}).",
                            who(report.here), index_text(report.other.thread), place_text(report.here),
                            place_text(report.other));
  report.rule = kBarrierNotForAll.rule;
  report.fix = kBarrierNotForAll.fix;
  log_.add(kDivergentBarrier, std::move(report), arrival.site, other.site);
}

void Checker::report_exited_threads(const Arrival& arrival, int returned, int of) {
  if (log_.repeated(kExitedThreads, arrival.site, 0)) return;
  stand_in_calls_of(arrival);
  Finding report = detector_.finding(Severity::warning, arrival.site, arrival.thread);
  report.what = fmt::format(
      "{} of the {} threads of a warp have left the kernel without coming to this barrier, while {} and "
      "others of that warp wait in "
      "it.",
      returned, of, who(report.here));
  report.rule = "A barrier is for all threads of the block; before Volta this hangs.";
  report.fix =
      "Let every thread reach the barrier: do not return before it or put it into a branch; guard the work "
      "instead.";
  log_.add(kExitedThreads, std::move(report), arrival.site, 0);
}

void Checker::inactive_lane(const InactiveLane& lane) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(lane.caller);
  if (log_.repeated(kInactiveLane, site, 0)) return;
  const auto thread = static_cast<unsigned>(recorder_.thread);
  Finding report = detector_.finding(Severity::warning, site, thread);
  report.what =
      fmt::format("lane {} ({}) reads a value from lane {}, which {}.", thread % 32, who(report.here),
                  lane.source, lane.exited ? "has left the kernel" : "takes no part in the shuffle");
  report.rule = "What a lane that takes no part would give is undefined.";
  report.fix =
      lane.exited
          ? "Let all lanes of the warp come to the shuffle: do not return before it or put it into a branch."
          : "Name that lane in the mask and let it come to the shuffle, or pass a smaller width.";
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
      if (known.name == name) return &known;
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
  Finding report = detector_.finding(Severity::error, site, static_cast<unsigned>(recorder_.thread));
  report.element = bounded_element(sites_[site].line, type, index);
  report.what = fmt::format("{} uses {}index {} of an array of type {}.", who(report.here),
                            report.element.empty() ? "" : report.element + ", ", index, type);
  report.rule = "An index must lie within its own array or row, even where other memory follows.";
  report.fix = "Test the index, or make the array larger.";
  log_.add(kOutOfBounds, std::move(report), site, 0);
}

void Checker::shift_out_of_range(std::uintptr_t caller) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(caller);
  if (log_.repeated(kShift, site, 0)) return;
  Finding report = detector_.finding(Severity::warning, site, static_cast<unsigned>(recorder_.thread));
  report.what =
      fmt::format("{} shifts by a negative amount, or by the width of the type or more.", who(report.here));
  report.rule = "The result of such a shift is undefined in C++.";
  report.fix = "Keep the amount below the number of bits.";
  log_.add(kShift, std::move(report), site, 0);
}

void Checker::misaligned(std::uintptr_t caller, std::uintptr_t address, std::uint64_t alignment) {
  const NothingRecorded guard;
  const unsigned site = sites_.find_here(caller);
  if (log_.repeated(kMisaligned, site, 0)) return;
  Finding report = detector_.finding(Severity::error, site, static_cast<unsigned>(recorder_.thread));
  std::uint64_t offset = address - recorder_.arena;
  Space space = Space::global;
  if (const auto in_shared = shared_offset(address)) space = Space::shared, offset = *in_shared;
  if (space == Space::shared || offset < kArenaBytes)
    report.element = memory_map().element(space, offset, static_cast<unsigned>(alignment)).text;
  report.memory = space == Space::shared ? "shared" : "global";
  report.what =
      fmt::format("{} accesses {} bytes at {}, which is not a multiple of {}.", who(report.here), alignment,
                  report.element.empty() ? "an address" : "the address of " + report.element, alignment);
  report.rule = kMisalignedAddress.rule;
  report.fix = kMisalignedAddress.fix;
  log_.add(kMisaligned, std::move(report), site, 0);
}

}  // namespace simt::check
