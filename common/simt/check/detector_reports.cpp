// What the detector says: each finding in full sentences, with places, threads and elements.

#include <fmt/format.h>

#include <algorithm>

#include "simt/check/detector.hpp"
#include "simt/check/phrases.hpp"
#include "simt/classes.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt::check {
namespace {

constexpr const char* kAdding[] = {"+=", "-=", "|=", "&=", "^=", "++", "--"};

std::string verb(Kind kind) {
  switch (kind) {
    case Kind::read:
      return "reads";
    case Kind::write:
      return "writes";
    case Kind::atomic:
      return "atomically updates";
    case Kind::mark:
      break;
  }
  return "uses";
}

void advise(Finding& report, const Advice& advice) {
  report.rule = advice.rule;
  report.fix = advice.fix;
}

/// Whether the line that was written for the access adds to an element, as `total += x` does. The step of a
/// loop that stands there, too, looks alike.
bool adds_up(const FindingSide& side) {
  const std::string text = side.own().text;
  return text.find("for (") == std::string::npos &&
         std::any_of(std::begin(kAdding), std::end(kAdding),
                     [&](const char* sign) { return text.find(sign) != std::string::npos; });
}

const char* name_of(Space space) { return space == Space::shared ? "shared" : "global"; }

/// Whether the lane is one of those that make this access, and to this place. Of a move of matrices, only
/// its rows are known.
bool lane_touches(const WarpAccess& access, unsigned lane, std::uint64_t offset) {
  if (access.matrices > 0) return true;
  return (access.lanes >> lane & 1u) != 0 && access.offsets[lane] <= offset &&
         offset < access.offsets[lane] + access.bytes;
}

}  // namespace

FindingSide Detector::side(unsigned site, unsigned thread) const {
  const unsigned x = facts_.block.x, y = facts_.block.y;
  const SourceLine& line = sites_[site].line;
  return {line.file,
          line.line,
          {block_.x, block_.y, block_.z},
          {thread % x, thread / x % y, thread / x / y},
          sites_.calls(site).calls};
}

FindingSide Detector::side(const Stamp& stamp) const {
  FindingSide result = side(stamp.site(), stamp.thread());
  const uint3 block =
      stamp.step() >= order_.first_of_block() ? block_ : blocks_[order_.block_of(stamp.step())];
  result.block = {block.x, block.y, block.z};
  return result;
}

FindingSide Detector::side(const Stamp& stamp, const PastLaunch& launch) const {
  const unsigned x = launch.facts.block.x, y = launch.facts.block.y, thread = stamp.thread();
  const uint3 block = launch.blocks[Order::block_of(stamp.step(), launch.block_starts)];
  FindingSide result;
  if (launch.code == sites_.code_begin()) result = side(stamp.site(), thread);
  result.block = {block.x, block.y, block.z};
  result.thread = {thread % x, thread / x % y, thread / x / y};
  return result;
}

Finding Detector::finding(const char* kind, unsigned site, unsigned thread) const {
  const FindingClass& known = *find_class(kind);
  Finding finding;
  finding.severity = known.severity;
  finding.rule = known.advice.rule;
  finding.fix = known.advice.fix;
  finding.kernel = sites_.calls(site).kernel;
  // A lambda of a template has no name that can be read.
  if (finding.kernel.empty() || finding.kernel.starts_with("_Z")) finding.kernel = facts_.kernel;
  finding.here = side(site, thread);
  if (finding.here.in_helper()) finding.called_from = finding.here.own().place();
  return finding;
}

ElementName Detector::element(const FindingSide& side, Space space, std::uint64_t offset, unsigned bytes) {
  return memory_map().element(space, offset, bytes, texts_of(side.calls));
}

void Detector::report_launches(const Touch& touch, unsigned thread, const Stamp& before, Did before_did,
                               const PastLaunch& other) {
  const WarpAccess& access = touch.access;
  const bool same_value = before_did == Did::write_same_value;
  const char* const kind = same_value ? kSameValueWrite : kRace;
  if (log_.repeated(kind, access.site, before.site())) return;
  Finding report = finding(kind, access.site, thread);
  report.other = side(before, other);
  report.memory = name_of(access.space);
  const ElementName here = element(report.here, access.space, touch.offset, access.bytes);
  report.element = here.text;
  const std::string place = report.other.line == 0 ? "" : " " + place_beside(report.other, report.here);
  report.what =
      fmt::format("{} {} {} in {} memory, which {} of {} {}{}{}, and nothing orders the two launches.",
                  subject(report.here), verb(access.kind), here.full_text(), report.memory, who(report.other),
                  other.facts.kernel,
                  before_did == Did::read ? "reads"
                  : before.atomic()       ? "atomically updates"
                                          : "writes",
                  place, same_value ? " with the same value" : "");
  advise(report, same_value ? kHarmlessWrite : kRaceOfLaunches);
  log_.add(kind, std::move(report), access.site, before.site());
}

void Detector::report_conflict(const Touch& touch, unsigned thread, const Stamp& before, Did before_did) {
  if (const PastLaunch* const other = beside(before.step()))
    return report_launches(touch, thread, before, before_did, *other);
  const WarpAccess& access = touch.access;
  const bool before_writes = before_did != Did::read, same_value = before_did == Did::write_same_value;
  const bool same_block = before.step() >= order_.first_of_block();
  const bool same_warp = same_block && before.warp() == access.warp;
  const bool one_instruction = same_warp && before.step() == order_.step_of(access.warp) &&
                               before.site() == access.site && before_writes && access.kind != Kind::read &&
                               lane_touches(access, before.thread() % 32, touch.offset);
  const char* const kind = same_value                      ? kSameValueWrite
                           : same_warp && !one_instruction ? kMissingSyncwarp
                                                           : kRace;
  if (log_.repeated(kind, access.site, before.site())) return;
  for (Guess& guess : earlier_guesses_) {
    if (!guess.between(access.site, before.site())) continue;
    ++guess.report.count;
    return;
  }
  Finding report = finding(kind, access.site, thread);
  report.other = side(before);
  report.memory = name_of(access.space);
  const ElementName here = element(report.here, access.space, touch.offset, access.bytes);
  const ElementName there = element(report.other, access.space, touch.offset, access.bytes);
  report.element = here.text;
  const bool other_name = here.by_source && there.by_source && there.array != here.array;
  // A line that names several arrays of one place may mean any of them.
  const bool either_name = here.by_source && !there.also.empty();
  const bool after_copy = before_did == Did::issue_copy;
  const std::string other_verb = after_copy                         ? "issues a copy"
                                 : before.atomic() && before_writes ? "atomically updates"
                                 : before_writes                    ? "writes"
                                                                    : "reads";
  if (one_instruction) {
    report.what = fmt::format("{} and thread {} write {} in {} memory with one instruction{}.",
                              subject(report.here), index_text(report.other.thread), here.full_text(),
                              report.memory, same_value ? ", the same value" : "");
  } else {
    report.what =
        fmt::format("{} {} {} in {} memory, {} {} {}{} {}{}, and nothing orders the two.",
                    subject(report.here), access.issues_copy ? "issues a copy to" : verb(access.kind),
                    here.full_text(), report.memory, after_copy ? "to which" : "which",
                    same_block ? "thread " + index_text(report.other.thread) : who(report.other), other_verb,
                    other_name    ? " as " + there.text
                    : either_name ? fmt::format(" as {} or {}", there.array, there.also)
                                  : "",
                    place_beside(report.other, report.here), same_value ? " with the same value" : "");
  }
  if (same_value) {
    advise(report, kHarmlessWrite);
  } else if (one_instruction) {
    advise(report, kRaceOfOneInstruction);
  } else if (kind == kMissingSyncwarp) {
    // The registry's advice is the only one.
  } else if (access.issues_copy || after_copy) {
    advise(report, kRaceWithCopy);
  } else if (before.atomic() && touch.atomic) {
    advise(report, kRaceOfNarrowScope);
  } else if (!same_block) {
    advise(report, before_writes && access.kind != Kind::read ? kRaceOfBlocksThatWrite : kRaceOfBlocks);
  } else if (before.atomic() || touch.atomic) {
    advise(report, kRaceWithAtomic);
  } else if (before_writes && access.kind != Kind::read) {
    advise(report, kRaceOfWrites);
  } else {
    advise(report, kRaceWithReads);
  }
  const bool plain = !before.atomic() && !touch.atomic && !access.issues_copy && !after_copy;
  if (kind == kRace && (other_name || either_name) && same_block && plain)
    report.fix = fmt::format(
        "{} and {} share this memory: give each a place of its own, or put a __syncthreads() between the use "
        "of one and that of the other.",
        there.array != here.array ? there.array : there.also, here.array);
  const bool by_one_line = report.here.own().place() == report.other.own().place();
  if (kind == kRace && by_one_line && !before.atomic() && !touch.atomic && adds_up(report.here))
    report.fix += kAddAtomically;
  const bool reads_atomic = access.kind == Kind::read && !touch.atomic && before.atomic();
  const bool updates_read = touch.atomic && !before_writes && !before.atomic();
  if (reads_atomic || (updates_read && same_block))
    guesses_.push_back({access.space, touch.offset, reads_atomic ? thread : before.thread(), kind,
                        std::move(report), access.site, before.site(),
                        reads_atomic ? access.site : before.site()});
  else
    log_.add(kind, std::move(report), access.site, before.site());
}

void Detector::report_out_of_bounds(const WarpAccess& access, unsigned lane) {
  if (log_.repeated(kOutOfBounds, access.site, 0)) return;
  Finding report = finding(kOutOfBounds, access.site, access.warp * 32 + lane);
  const ElementName outside = element(report.here, access.space, access.offsets[lane], access.bytes);
  const bool several = outside.element_bytes != 0 && access.bytes > outside.element_bytes;
  report.memory = name_of(access.space);
  report.element = outside.text;
  report.what = fmt::format("{} {} {}{} out of bounds: {}.", subject(report.here), verb(access.kind),
                            several ? fmt::format("{} bytes from ", access.bytes) : "", outside.text,
                            memory_map().describe_bounds(access.space, access.offsets[lane]));
  const bool before = std::any_of(outside.index.begin(), outside.index.end(), [](auto i) { return i < 0; });
  const bool shared = access.space == Space::shared;
  advise(report, shared && memory_map().past_dynamic(access.offsets[lane]) ? kOutOfBoundsDynamic
                 : shared                                                  ? kOutOfBoundsShared
                 : before                                                  ? kOutOfBoundsBefore
                                                                           : kOutOfBoundsGlobal);
  log_.add(kOutOfBounds, std::move(report), access.site, 0);
}

void Detector::report_uninitialised(const UninitialisedRead& read) {
  if (log_.repeated(kUninitialisedRead, read.site, 0)) return;
  const bool shared = read.space == Space::shared;
  Finding report = finding(kUninitialisedRead, read.site, read.thread);
  report.memory = name_of(read.space);
  const ElementName unwritten = element(report.here, read.space, read.offset, read.bytes);
  report.element = unwritten.text;
  report.what = fmt::format("{} reads {} in {} memory, which {} has written.", subject(report.here),
                            unwritten.full_text(), report.memory,
                            shared ? "no thread of the block" : "neither the host nor a kernel");
  advise(report, shared ? kUninitialisedShared : kUninitialisedGlobal);
  if (const std::string gap = shared ? "" : memory_map().gap(read.offset); !gap.empty()) {
    report.rule = fmt::format("It lies in a gap of {}, and belongs to no element.", gap);
    report.fix = kReadInGap;
  }
  log_.add(kUninitialisedRead, std::move(report), read.site, 0);
}

void Detector::report_unordered_begin(const Touch& touch, unsigned thread, const Stamp& first) {
  const WarpAccess& access = touch.access;
  if (log_.repeated(kUninitialisedRead, access.site, first.site())) return;
  Finding report = finding(kUninitialisedRead, access.site, thread);
  report.other = side(first);
  report.memory = name_of(access.space);
  const ElementName here = element(report.here, access.space, touch.offset, access.bytes);
  report.element = here.text;
  report.what = fmt::format(
      "{} {} {} in {} memory, which may hold no value yet: {} is the first to write one, {}, and nothing "
      "orders the two.",
      subject(report.here), verb(access.kind), here.full_text(), report.memory, who(report.other),
      place_beside(report.other, report.here));
  advise(report, access.space == Space::shared ? kUninitialisedShared : kUninitialisedGlobal);
  log_.add(kUninitialisedRead, std::move(report), access.site, first.site());
}

/// Whether a copy takes a value away from an access that nothing orders with the copy's issue. Otherwise, the
/// access is to what the copy brings.
bool Detector::overwrites(const PendingCopy& copy, const Touch& touch) const {
  if (touch.access.space != Space::shared || landing_ || copy.issued.warp() == touch.access.warp)
    return false;
  const Cell* const cell = shared_.known(touch.offset);
  return cell != nullptr && cell->write.step() >= order_.first_of_block() &&
         !order_.happened_before(copy.issued, touch.thread);
}

/// The last wait of the copy's thread since it issued the copy, if a barrier has made that wait known to
/// `thread`; else null. Where one of the two has waited since the last barrier, it may be the barrier that is
/// missing.
const Detector::CopyHistory::Wait* Detector::wait_for_others(const PendingCopy& copy, unsigned thread) const {
  const unsigned issuer = copy.issued.thread();
  const CopyHistory& history = history_[issuer];
  if (history.waits == copy.waits_before) return nullptr;
  const auto before_barrier = [&](unsigned one) {
    return one >= history_.size() || history_[one].wait.epoch < order_.first_of_epoch();
  };
  return issuer == thread || (before_barrier(issuer) && before_barrier(thread)) ? &history.wait : nullptr;
}

/// "last", "last but one", "last but 2"
std::string from_last(std::uint64_t later) {
  return later == 0 ? "last" : later == 1 ? "last but one" : fmt::format("last but {}", later);
}

/// Why the copy of `report`, which is about the element `here`, may still be under way after all that its
/// thread did about it, and what to do; empty if that is not known.
std::string Detector::advice_on_wait(const PendingCopy& copy, unsigned thread, const Finding& report,
                                     const ElementName& here) const {
  const unsigned issuer = copy.issued.thread();
  const CopyHistory& history = history_[issuer];
  const CopyHistory::Wait* const wait = wait_for_others(copy, thread);
  if (wait == nullptr && issuer != thread) return "";
  if (wait == nullptr)
    return history.committed == copy.batch ? "Commit the batch and wait for it before the access."
                                           : "Wait for the batch before the access.";
  const std::string place = place_beside(side(wait->site, issuer), report.here);
  if (wait->committed <= copy.batch)
    return fmt::format(
        "The wait {} is not for this copy, which no commit had made part of a batch by then. "
        "Commit the batch before the wait.",
        place);
  std::string landed;
  if (history.landed_last) {
    const ElementName last = element(report.here, Space::shared, *history.landed_last, 1);
    const bool by_stage = last.index.size() > 1 && here.index.size() > 1;
    if (last.array == here.array && !last.index.empty() &&
        (by_stage ? last.index[0] != here.index[0] : wait->in_flight > 0 && last.index != here.index))
      landed = fmt::format(" What has landed last went to {}[{}]: use that stage, if this is the wrong one.",
                           here.array, last.index[0]);
  }
  const std::uint64_t later = wait->committed - copy.batch - 1;
  const std::string still = later == 0   ? "none is"
                            : later == 1 ? "at most 1 is"
                                         : fmt::format("at most {} are", later);
  return fmt::format(
      "The wait {} lets the latest {} stay under way, and this copy's is the {}. Before the access, wait "
      "until {} under way.{}",
      place, wait->in_flight == 1 ? "batch" : fmt::format("{} batches", wait->in_flight), from_last(later),
      still, landed);
}

void Detector::host_touched(const HostTouch& touch) {
  std::uint64_t offset = 0;
  if (memory_map().find_elsewhere(touch.address, offset) != MemoryMap::Owner::kernels) return;
  const Cell* const cell = global_.known(offset);
  if (cell == nullptr) return;
  const Step first = order_.first_of_launch();
  const bool written = cell->write.step() >= first;
  if (!written && !(touch.write && cell->read.step() >= first)) return;
  if (touch.atomic && (written ? cell->write : cell->read).atomic()) return;
  Finding report;
  report.severity = find_class(kRace)->severity;
  report.kernel = facts_.kernel;
  report.here.calls = user_calls(touch.stack).calls;
  const SourceLine line = user_line(touch.stack);
  report.here.file = line.file;
  report.here.line = line.line;
  report.other = side(written ? cell->write : cell->read);
  report.memory = name_of(Space::global);
  report.element = element(report.other, Space::global, offset / 4 * 4, 4).text;
  report.what = fmt::format(
      "host code {} {} in managed memory, which {} {} {}, and nothing has waited for that launch.",
      touch.write ? "writes" : "reads", report.element, who(report.other), written ? "writes" : "reads",
      place_beside(report.other, report.here));
  advise(report, kRaceWithHost);
  log_.add(kRace, std::move(report), 0, 0);
}

/// True if an asynchronous copy to that place is under way, or one from there and the access writes: then
/// that is the mistake, whatever else is wrong.
bool Detector::meets_copy(const WarpAccess& access, unsigned lane) {
  const std::uint64_t begin = access.offsets[lane], end = begin + access.bytes;
  const unsigned thread = access.warp * 32 + lane;
  const bool shared = access.space == Space::shared;
  if (shared ? !may_meet_copy(begin, end) : access.kind == Kind::read) return false;
  const auto overlaps = [&](const PendingCopy& copy) {
    return shared ? copy.begin < end && begin < copy.end : copy.source_begin < end && begin < copy.source_end;
  };
  const auto copy = std::find_if(copies_.begin(), copies_.end(), overlaps);
  if (copy == copies_.end()) return false;
  const Touch touch{access, begin, LaneMask{1} << lane, thread, false, 0};
  if (overwrites(*copy, touch)) {
    report_conflict(touch, thread, copy->issued, Did::issue_copy);
    return true;
  }
  const unsigned issuer = copy->issued.thread();
  if (log_.repeated(kMissingWait, access.site, copy->issued.site())) return true;
  Finding report = finding(kMissingWait, access.site, thread);
  report.other = side(copy->issued);
  report.memory = name_of(access.space);
  const ElementName here = element(report.here, access.space, begin, access.bytes);
  report.element = here.text;
  report.what = fmt::format("{} {} {} while the asynchronous copy that {} issued {} may still be under way.",
                            subject(report.here), verb(access.kind), report.element,
                            issuer == thread ? "it" : "thread " + index_text(report.other.thread),
                            place_beside(report.other, report.here));
  if (landing_)
    report.fix = "Two copies go to the same place: give each one a place of its own.";
  else if (copy->bound)
    advise(report, kCopyOfBarrierNotAwaited);
  else if (const std::string fix = advice_on_wait(*copy, thread, report, here); !fix.empty())
    report.fix = fix;
  log_.add(kMissingWait, std::move(report), access.site, copy->issued.site());
  return true;
}

}  // namespace simt::check
