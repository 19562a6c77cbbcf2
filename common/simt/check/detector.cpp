#include "simt/check/detector.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "simt/classes.hpp"

namespace simt::check {
namespace {

constexpr std::size_t kMostUninitialised = 4096;  // of one epoch, kept until it ends
// Launches that may meet another one, and blocks of all these.
constexpr std::size_t kMostPast = 4096, kMostPastBlocks = 1 << 20;

template <class Visit>
void for_each_lane(LaneMask lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}

}  // namespace

std::uint64_t Detector::place_of(const Touch& touch) {
  return touch.offset << 1 | static_cast<unsigned>(touch.access.space);
}
bool Detector::is_shared_place(std::uint64_t place) { return (place & 1u) != 0; }

void Detector::begin_launch(const LaunchFacts& facts) {
  facts_ = facts;
  blocks_.clear();
  last_range_ = nullptr;
  last_shared_ = nullptr;
  earlier_guesses_.clear();
  guessing_sites_.clear();
  comparing_sites_.clear();
  if (std::exchange(narrow_code_, sites_.code_begin()) != sites_.code_begin()) narrow_sites_.clear();
  unreached_.clear();
  if (order_.stamps_expired()) {
    global_.forget_accesses();
    shared_.forget_accesses();
    past_.clear();
    past_blocks_ = 0;
  }
  beside_.clear();
  for (const PastLaunch& past : past_)
    if (!facts.order.is_past(past.facts.order)) beside_.push_back(&past);
  forget_other_memory();
}

/// What was freed since, or allocated anew, holds no values any more.
void Detector::forget_other_memory() {
  std::vector<GlobalRange> allocations, elsewhere;
  for (const GlobalRange& range : memory_map().global_ranges())
    (range.serial != 0 ? allocations : elsewhere).push_back(range);
  for (const GlobalRange& range : known_allocations_)
    if (std::none_of(allocations.begin(), allocations.end(),
                     [&](const GlobalRange& now) { return now.serial == range.serial; }))
      global_.clear(range.offset, range.end());
  known_allocations_ = std::move(allocations);
  const auto is_same = [](const GlobalRange& a, const GlobalRange& b) {
    return a.offset == b.offset && a.bytes == b.bytes && a.symbol == b.symbol && a.shared == b.shared;
  };
  if (!std::equal(elsewhere.begin(), elsewhere.end(), known_elsewhere_.begin(), known_elsewhere_.end(),
                  is_same))
    global_.clear(kArenaBytes, memory_map().end_of_elsewhere());
  known_elsewhere_ = std::move(elsewhere);
}

void Detector::end_part() {
  beside_.clear();
  begun_.clear();
  past_blocks_ += blocks_.size();
  past_.push_back({facts_, order_.first_of_launch(), order_.last(), std::move(blocks_), order_.block_starts(),
                   sites_.code_begin()});
  blocks_.clear();
  for (; past_.size() > kMostPast || past_blocks_ > kMostPastBlocks; past_.pop_front())
    past_blocks_ -= past_.front().blocks.size();
}

void Detector::begin_block(uint3 index) {
  block_ = index;
  blocks_.push_back(index);
  uninitialised_.clear();
  uninitialised_at_.clear();
  copies_.clear();
  copies_near_.clear();
  history_.clear();
  guesses_.clear();
}

void Detector::end_epoch() {
  for (const UninitialisedRead& read : uninitialised_) {
    if (!read.raced) report_uninitialised(read);
  }
  uninitialised_.clear();
  uninitialised_at_.clear();
  std::erase_if(begun_, [](const auto& begun) { return is_shared_place(begun.first); });
}

void Detector::end_block() {
  end_epoch();
  for (Guess& guess : guesses_) {
    const auto is_same = [&](const Guess& known) { return known.between(guess.site, guess.other_site); };
    const auto known = std::find_if(earlier_guesses_.begin(), earlier_guesses_.end(), is_same);
    if (known == earlier_guesses_.end())
      earlier_guesses_.push_back(std::move(guess));
    else
      known->report.count += guess.report.count;
  }
  guesses_.clear();
}

void Detector::end_launch() {
  for (Guess& guess : earlier_guesses_)
    if (!guessing_sites_.contains(guess.read_site) || !comparing_sites_.contains(guess.atomic_site()))
      log_.add(guess.kind, std::move(guess.report), guess.site, guess.other_site);
  earlier_guesses_.clear();
  end_part();
}

void Detector::note_compare_and_swap(const Touch& touch, Cell& cell) {
  comparing_sites_.insert(touch.access.site);
  std::erase_if(guesses_, [&](const Guess& guess) {
    const bool is_it =
        guess.space == touch.access.space && guess.offset == touch.offset && guess.thread == touch.thread;
    if (is_it) guessing_sites_.insert(guess.read_site);
    return is_it;
  });
  const auto is_own = [&](const Stamp& read) {
    return read.step() >= order_.first_of_block() && read.warp() == touch.access.warp && !read.atomic();
  };
  if (is_own(cell.read)) {
    guessing_sites_.insert(cell.read.site());
    cell.readers &= ~touch.lanes;
    if (cell.readers == 0) cell.read = Stamp{};
  }
  if (is_own(cell.other_read)) cell.other_read = Stamp{};
}

void Detector::access(const WarpAccess& access) {
  const bool shared = access.space == Space::shared;
  scope_first_ = shared            ? order_.first_of_epoch()
                 : beside_.empty() ? order_.first_of_launch()
                                   : beside_.front()->first;
  if (access.scope != FenceScope::device) narrow_sites_[access.site] = access.scope;
  const bool fine = all_in_bounds(access);
  const bool atomic =
      access.kind == Kind::atomic || access.loads_atomically || (access.is_volatile && !shared);
  if (access.kind == Kind::read && access.matrices == 0 && fine && !(shared && may_meet_copy(access))) {
    read_all(access, atomic);
    return;
  }
  for_each_lane(access.lanes, [&](unsigned lane) {
    if (!fine && !in_bounds(access, lane)) {
      report_out_of_bounds(access, lane);
      return;
    }
    if (!copies_.empty() && meets_copy(access, lane)) return;
    if (access.matrices != 0) return move_matrix_row(access, lane);
    const std::uint32_t value =
        access.values != nullptr ? static_cast<std::uint32_t>(access.values[lane]) : 0;
    touch({access, access.offsets[lane], LaneMask{1} << lane, access.warp * 32 + lane, atomic, value});
  });
}

// One lane names the row, but others have its elements in their registers: what they read or wrote must be
// ordered with the accesses of others. A word of a row belongs to one lane. If the matrix is transposed, each
// of its two elements belongs to a lane of its own; of the two that write a word, the first stands for both.
void Detector::move_matrix_row(const WarpAccess& access, unsigned lane) {
  const unsigned row = lane % 8;
  WarpAccess words = access;
  words.bytes = 4;
  for (unsigned word = 0; word < 4; ++word) {
    const unsigned owner = access.transposed ? 8 * word + row / 2 : 4 * row + word;
    LaneMask owners = LaneMask{1} << owner;
    if (access.transposed && access.kind == Kind::read) owners |= LaneMask{1} << (owner + 4);
    touch({words, access.offsets[lane] + word * words.bytes, owners, access.warp * 32 + owner, false, 0});
  }
}

// The last read by another warp is remembered beside that of this one.
inline void Detector::note_read(Cell& cell, const Stamp& now, LaneMask lanes) {
  const Step before = cell.read.step();
  const bool same_warp = before >= order_.first_of_block() && cell.read.warp() == now.warp();
  if (same_warp && before == now.step()) {
    cell.readers |= lanes;
    return;
  }
  if (before >= scope_first_ && !same_warp) cell.other_read = cell.read;
  cell.read = now;
  cell.readers = lanes;
}

// Most accesses are reads of words that hold a value and that nobody wrote since the last barrier.
void Detector::read_all(const WarpAccess& access, bool atomic) {
  const bool shared = access.space == Space::shared;
  Shadow& shadow = shared ? shared_ : global_;
  const Step valued = shared ? order_.first_of_block() : 0;
  // Of unsigned numbers: from `valued` on, and before the scope begins.
  const auto is_plain = [&](const Cell& cell) {
    return !cell.write.none() && cell.write.step() - valued < scope_first_ - valued;
  };
  const Stamp first(order_.step_of(access.warp), access.warp * 32, access.site, atomic);
  const std::uint64_t one = access.offsets[std::countr_zero(access.lanes)], spread = access.spread();
  Cell* const page =
      spread < Shadow::kPageBytes && ((one | spread) & 3u) == 0 ? shadow.page_of_words(one) : nullptr;
  LaneMask rest = access.lanes;
  if (page != nullptr && access.bytes == 4 && !atomic && spread != 0)
    for (; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      Cell& cell = page[access.offsets[lane] % Shadow::kPageBytes / 4];
      if (!is_plain(cell)) [[unlikely]]
        break;
      note_read(cell, first.with_lane(lane), LaneMask{1} << lane);
    }
  // Lanes that read the same word in a row are taken together.
  while (rest != 0) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    const std::uint64_t offset = access.offsets[lane];
    LaneMask together = access.at_one_place() ? rest : 0;
    rest &= ~together;
    while (together == 0 || (rest != 0 && access.offsets[std::countr_zero(rest)] == offset)) {
      together |= rest & -rest;
      rest &= rest - 1;
    }
    bool plain = ((offset | access.bytes) & 3u) == 0 && !atomic;
    for (unsigned at = 0; plain && at < access.bytes; at += 4) {
      Cell* const cell = shadow.word(offset + at);
      plain = cell != nullptr && is_plain(*cell);
      if (plain) note_read(*cell, first.with_lane(lane), together);
    }
    if (!plain) touch({access, offset, together, access.warp * 32 + lane, atomic, 0});
  }
}

void Detector::touch(const Touch& touch) {
  const unsigned on_first_page = touch_page(touch, touch.offset, touch.access.bytes);
  if (on_first_page < touch.access.bytes) [[unlikely]]
    touch_page(touch, touch.offset + on_first_page, touch.access.bytes - on_first_page);
  if (touch.atomic && !order_.trivial())
    for_each_lane(touch.lanes, [&](unsigned lane) {
      order_.meet_at(touch.access.space, touch.offset, touch.access.warp * 32 + lane,
                     touch.access.kind != Kind::write, touch.access.kind != Kind::read);
    });
}

unsigned Detector::touch_page(const Touch& touch, std::uint64_t offset, unsigned bytes) {
  Shadow& shadow = touch.access.space == Space::shared ? shared_ : global_;
  const Shadow::Units units = shadow.at(offset, bytes);
  for (unsigned i = 0; i < units.count; ++i) {
    Touch unit = touch;
    unit.offset = offset + i * units.unit_bytes;
    if (touch.access.kind == Kind::read) {
      read(unit, units.cell[i], units.unit_bytes);
    } else {
      const bool reads = touch.access.kind == Kind::atomic && !touch.access.is_volatile;  // no exchange
      if (touch.atomic && !is_initialised(unit, units.cell[i])) {
        if (reads)
          note_uninitialised(unit, units.unit_bytes);
        else
          begun_.try_emplace(place_of(unit), order_.step_of(touch.access.warp), touch.thread,
                             touch.access.site, true);
      } else if (reads) {
        read_as_it_begins(unit);
      }
      if (touch.access.compares) note_compare_and_swap(unit, units.cell[i]);
      write(unit, units.cell[i]);
    }
  }
  return units.count * units.unit_bytes;
}

void Detector::read(const Touch& touch, Cell& cell, unsigned bytes) {
  if (cell.write.step() >= scope_first_) read_after_write(touch, cell);
  if (!is_initialised(touch, cell))
    note_uninitialised(touch, bytes);
  else if (touch.atomic)
    read_as_it_begins(touch);
  note_read(cell, Stamp(order_.step_of(touch.access.warp), touch.thread, touch.access.site, touch.atomic),
            touch.lanes);
}

/// An atomic access that sees a value because the thread that first wrote one, atomically, ran before it.
void Detector::read_as_it_begins(const Touch& touch) {
  if (begun_.empty()) return;
  const auto first = begun_.find(place_of(touch));
  if (first == begun_.end()) return;
  const bool same_block = first->second.step() >= order_.first_of_block();
  for_each_lane(touch.lanes, [&](unsigned lane) {
    const unsigned thread = touch.access.warp * 32 + lane;
    if ((same_block && first->second.thread() == thread) || order_.happened_before(first->second, thread))
      return;
    report_unordered_begin(touch, thread, first->second);
  });
}

void Detector::write(const Touch& touch, Cell& cell) {
  if (!landing_) write_after_others(touch, cell);
  if (!uninitialised_.empty() && !touch.atomic) note_first_write(touch);
  // The thread's own atomic does not hide its plain write, with which others may race.
  if (touch.atomic && !cell.write.atomic() && cell.write.thread() == touch.thread &&
      cell.write.step() >= std::max(scope_first_, order_.first_of_block())) {
    cell.value = touch.value;
    return;
  }
  cell.write = landing_
                   ? *landing_
                   : Stamp(order_.step_of(touch.access.warp), touch.thread, touch.access.site, touch.atomic);
  cell.value = touch.value;
}

bool Detector::is_initialised(const Touch& touch, Cell& cell) const {
  if (touch.access.space == Space::shared) return cell.write.step() >= order_.first_of_block();
  if (!cell.write.none()) return true;
  const GlobalRange* range = last_range_ != nullptr && last_range_->contains(touch.offset, 1)
                                 ? last_range_
                                 : memory_map().find_global(touch.offset);
  if (range == nullptr) return true;
  const std::uint64_t begin = touch.offset - range->offset;
  if (range->written != nullptr && !range->written->covers(begin, std::min(begin + 4, range->bytes)) &&
      !range->written->covers(begin, begin + 1))
    return false;
  cell.write = Stamp::of_host();
  return true;
}

Detector::Standing Detector::standing() const {
  Standing standing{.shared_values = {}, .copies = copies_, .history = history_};
  for (const SharedRange& range : memory_map().shared_ranges())
    for (std::uint64_t at = range.offset; at < range.offset + range.bytes; ++at)
      if (const Cell* const cell = shared_.known(at);
          cell != nullptr && cell->write.step() >= order_.first_of_block())
        standing.shared_values.push_back(at);
  return standing;
}

// Steps of the time before mean nothing any more: all of this is as if done when the block goes on.
void Detector::stand(Standing standing) {
  for (const std::uint64_t at : standing.shared_values)
    shared_.cell(at).write = Stamp(order_.step_of(0), 0, 0, false);
  copies_ = std::move(standing.copies);
  history_ = std::move(standing.history);
  for (PendingCopy& copy : copies_) {
    const Stamp& issued = copy.issued;
    copy.issued = Stamp(order_.step_of(issued.warp()), issued.thread(), issued.site(), false);
    count_copy(copy, 1);
  }
}

std::optional<std::uint64_t> Detector::first_unwritten(const DeviceRange& allocation, std::uint64_t begin,
                                                       std::uint64_t end) const {
  if (allocation.written->covers(begin - allocation.offset, end - allocation.offset)) return {};
  const bool known = std::any_of(known_allocations_.begin(), known_allocations_.end(),
                                 [&](const GlobalRange& range) { return range.serial == allocation.serial; });
  for (std::uint64_t at = begin; at < end; ++at)
    if (!(known && global_.holds_value(at)) &&
        !allocation.written->covers(at - allocation.offset, at - allocation.offset + 1))
      return at;
  return {};
}

/// What lies between the members of a struct holds no value, and a copy of the struct reads it all the same.
/// Where the kernel knows the memory by no struct's type, a word of which some bytes hold a value and others
/// do not, within an access of several words, passes for padding. What is atomic or volatile copies no
/// struct.
bool Detector::is_padding(const Touch& touch, unsigned bytes) {
  if (touch.atomic || touch.access.is_volatile) return false;
  if (const auto known = memory_map().is_padding(touch.access.space, touch.offset, bytes)) return *known;
  if (touch.access.bytes < 8) return false;
  const std::uint64_t begin = touch.offset / touch.access.bytes * touch.access.bytes;
  for (std::uint64_t word = begin; word < begin + touch.access.bytes; word += 4) {
    unsigned with_value = 0;
    for (unsigned byte = 0; byte < 4; ++byte) {
      Touch one = touch;
      one.offset = word + byte;
      Cell& cell = (touch.access.space == Space::shared ? shared_ : global_).cell(one.offset);
      with_value += is_initialised(one, cell);
    }
    if (with_value != 0 && with_value != 4) return true;
  }
  return false;
}

void Detector::note_uninitialised(const Touch& touch, unsigned bytes) {
  if (is_padding(touch, bytes)) return;
  if (uninitialised_.size() == kMostUninitialised) return;
  uninitialised_at_.emplace(place_of(touch), uninitialised_.size());
  uninitialised_.push_back({touch.access.space, touch.offset, touch.access.site, touch.thread,
                            touch.access.bytes, order_.step_of(touch.access.warp)});
}

/// A read of memory without a value, then a write by another thread: a race, unless something orders the two.
void Detector::note_first_write(const Touch& touch) {
  const auto [begin, end] = uninitialised_at_.equal_range(place_of(touch));
  for (auto entry = begin; entry != end; ++entry) {
    UninitialisedRead& read = uninitialised_[entry->second];
    const Stamp stamp(read.step, read.thread, read.site, false);
    if (read.thread != touch.thread && !order_.happened_before(stamp, touch.thread)) read.raced = true;
  }
}

/// Another thread's access that nothing orders with this one.
bool Detector::racing(const Stamp& before, const Touch& touch, unsigned thread) const {
  if (before.step() < scope_first_ || both_atomic(before, touch)) return false;
  if (before.step() < order_.first_of_launch()) return beside(before.step()) != nullptr;
  return !order_.happened_before(before, thread);
}

/// An atomic of block scope is none for another block, and one of thread scope none for another thread.
bool Detector::both_atomic(const Stamp& before, const Touch& touch) const {
  if (!before.atomic() || !touch.atomic) return false;
  FenceScope narrowest = touch.access.scope;
  if (const auto narrow = narrow_sites_.find(before.site()); narrow != narrow_sites_.end())
    narrowest = std::min(narrowest, narrow->second);
  const bool same_block = before.step() >= order_.first_of_block();
  return narrowest >= (same_block ? FenceScope::block : FenceScope::device);
}

const PastLaunch* Detector::beside(Step step) const {
  const auto is_earlier = [step](const PastLaunch* past) { return past->last < step; };
  const auto found = std::partition_point(beside_.begin(), beside_.end(), is_earlier);
  return found != beside_.end() && (*found)->first <= step ? *found : nullptr;
}

void Detector::read_after_write(const Touch& touch, const Cell& cell) {
  for_each_lane(touch.lanes, [&](unsigned lane) {
    const unsigned thread = touch.access.warp * 32 + lane;
    if (racing(cell.write, touch, thread)) report_conflict(touch, thread, cell.write, Did::write);
  });
}

void Detector::write_after_others(const Touch& touch, const Cell& cell) {
  if (cell.write.step() >= scope_first_) write_after_write(touch, cell);
  if (cell.read.step() >= scope_first_) write_after_reads(touch, cell);
}

void Detector::write_after_write(const Touch& touch, const Cell& cell) {
  if (!racing(cell.write, touch, touch.thread)) return;
  const bool same_value = touch.value != 0 && touch.value == cell.value;
  report_conflict(touch, touch.thread, cell.write, same_value ? Did::write_same_value : Did::write);
}

void Detector::write_after_own_reads(const Touch& touch, const Cell& cell) {
  for (LaneMask others = cell.readers & ~touch.lanes; others != 0; others &= others - 1) {
    const Stamp read = cell.read.with_lane(static_cast<unsigned>(std::countr_zero(others)));
    if (racing(read, touch, touch.thread)) return report_conflict(touch, touch.thread, read, Did::read);
  }
}

void Detector::write_after_reads(const Touch& touch, const Cell& cell) {
  if (cell.read.step() >= order_.first_of_block() && cell.read.warp() == touch.access.warp) {
    write_after_own_reads(touch, cell);
  } else if (racing(cell.read, touch, touch.thread)) {
    report_conflict(touch, touch.thread, cell.read, Did::read);
    return;
  }
  if (racing(cell.other_read, touch, touch.thread))
    report_conflict(touch, touch.thread, cell.other_read, Did::read);
}

LaneMask Detector::watched_lanes(const WarpAccess& access) {
  if (is_watched(access.offsets[std::countr_zero(access.lanes)])) return access.lanes;  // in nearly all cases
  LaneMask watched = 0;
  for_each_lane(access.lanes, [&](unsigned lane) {
    if (is_watched(access.offsets[lane])) watched |= LaneMask{1} << lane;
  });
  return watched;
}

bool Detector::is_watched(std::uint64_t offset) {
  if (last_shared_ == nullptr || offset < last_shared_->offset ||
      offset >= last_shared_->offset + last_shared_->bytes)
    last_shared_ = memory_map().find_shared(offset);
  return last_shared_ == nullptr || last_shared_->watched;
}

// Looks at each offset only where what the offsets have in common does not settle it.
bool Detector::all_in_bounds(const WarpAccess& access) {
  const std::uint64_t one = access.offsets[std::countr_zero(access.lanes)], spread = access.spread();
  if (in_one_range(access.space, one & ~spread, (one | spread) + access.bytes)) return true;
  if (spread == 0) return false;
  std::uint64_t least = one, most = one;
  for_each_lane(access.lanes, [&](unsigned lane) {
    least = std::min(least, access.offsets[lane]);
    most = std::max(most, access.offsets[lane]);
  });
  return in_one_range(access.space, least, most + access.bytes);
}

bool Detector::in_one_range(Space space, std::uint64_t begin, std::uint64_t end) {
  if (space == Space::global) {
    const auto holds = [&](const GlobalRange* range) {
      return range != nullptr && range->contains(begin, end - begin);
    };
    if (!holds(last_range_)) last_range_ = memory_map().find_global(begin);
    return holds(last_range_);
  }
  const auto holds = [&](const SharedRange* range) { return range != nullptr && range->holds(begin, end); };
  if (!holds(last_shared_)) last_shared_ = memory_map().find_shared(begin);
  return holds(last_shared_);
}

bool Detector::in_bounds(const WarpAccess& access, unsigned lane) {
  const std::uint64_t offset = access.offsets[lane];
  if (access.space == Space::global) {
    const GlobalRange* range = memory_map().find_global(offset);
    return range != nullptr && range->contains(offset, access.bytes);
  }
  const SharedRange* range = memory_map().find_shared(offset);
  if (range == nullptr || !range->watched) return false;
  if (!range->reached && unreached_.insert({access.site, range}).second &&
      memory_map().reach_unnamed(*range, sites_.calls(access.site).calls))
    unreached_.clear();
  return range->holds(offset, offset + access.bytes);
}

// A target out of bounds is the fault of the line that issues the copy, not of the wait where it lands. And
// from that line on the copy may write: what others did to the place before has to be ordered with it. What
// they do from now on is judged by meets_copy(), until it lands.
void Detector::copy_issued(unsigned thread, unsigned site, std::uint64_t shared_offset,
                           const CopyExtent& extent) {
  std::uint64_t offsets[32] = {};
  const unsigned lane = thread % 32;
  offsets[lane] = shared_offset;
  WarpAccess write;
  write.kind = Kind::write;
  write.space = Space::shared;
  write.bytes = static_cast<unsigned>(extent.bytes);
  write.issues_copy = true;
  write.site = site;
  write.warp = thread / 32;
  write.offsets = offsets;
  if (!in_bounds(write, lane)) return report_out_of_bounds(write, lane);
  scope_first_ = order_.first_of_epoch();
  const Shadow::Units units = shared_.at(shared_offset, write.bytes);
  for (unsigned i = 0; i < units.count; ++i) {
    const Touch unit{write, shared_offset + i * units.unit_bytes, LaneMask{1} << lane, thread, false, 0};
    write_after_others(unit, units.cell[i]);
  }
  const std::uint64_t source_end = extent.source + (extent.bytes - extent.zeroed);
  const CopyHistory& history = history_of(thread);
  const Stamp issued(order_.step_of(thread / 32), thread, site, false);
  copies_.push_back({shared_offset, shared_offset + extent.bytes, extent.source, source_end, issued,
                     history.committed, history.waits});
  count_copy(copies_.back(), 1);
}

Detector::CopyHistory& Detector::history_of(unsigned thread) {
  history_.resize(std::max<std::size_t>(history_.size(), thread + 1));
  return history_[thread];
}

void Detector::count_copy(const PendingCopy& copy, int by) {
  copies_near_.resize(std::max<std::size_t>(copies_near_.size(), copy.end / kStretch + 1));
  for (std::uint64_t at = copy.begin / kStretch; at * kStretch < copy.end; ++at)
    copies_near_[at] += static_cast<std::uint32_t>(by);
}

// Hundreds of copies are under way in a pipeline, and most accesses are to none of their places.
bool Detector::may_meet_copy(std::uint64_t begin, std::uint64_t end) const {
  for (std::uint64_t at = begin / kStretch; at < copies_near_.size() && at * kStretch < end; ++at)
    if (copies_near_[at] != 0) return true;
  return false;
}

bool Detector::may_meet_copy(const WarpAccess& access) const {
  if (copies_.empty()) return false;
  bool may = false;
  for_each_lane(access.lanes, [&](unsigned lane) {
    may = may || may_meet_copy(access.offsets[lane], access.offsets[lane] + access.bytes);
  });
  return may;
}

void Detector::copies_committed(unsigned thread) { ++history_of(thread).committed; }

void Detector::copies_awaited(unsigned thread, unsigned site, std::uint64_t batches_in_flight) {
  CopyHistory& history = history_of(thread);
  ++history.waits;
  history.wait = {site, order_.first_of_epoch(), history.committed, batches_in_flight};
}

void Detector::copy_bound(unsigned thread, std::uint64_t shared_offset) {
  const auto is_it = [&](const PendingCopy& copy) {
    return copy.issued.thread() == thread && copy.begin == shared_offset && !copy.bound;
  };
  if (const auto copy = std::find_if(copies_.begin(), copies_.end(), is_it); copy != copies_.end())
    copy->bound = true;
}

void Detector::copy_lands(unsigned thread, std::uint64_t shared_offset) {
  const auto is_it = [&](const PendingCopy& copy) {
    return copy.issued.thread() == thread && copy.begin == shared_offset;
  };
  const auto copy = std::find_if(copies_.begin(), copies_.end(), is_it);
  if (copy == copies_.end()) return;  // it has been told of when it was issued
  const std::uint64_t end = copy->end;
  const unsigned site = copy->issued.site();  // for reports, its line writes
  // By the end of a phase, what the thread did until it arrived is known to whoever waits, and no more.
  const bool as_issued = copy->bound && copy->issued.step() >= order_.first_of_block();
  const Stamp stamp = as_issued ? copy->issued : Stamp(order_.step_of(thread / 32), thread, site, false);
  count_copy(*copy, -1);
  copies_.erase(copy);
  history_of(thread).landed_last = shared_offset;
  std::uint64_t offsets[32] = {}, values[32] = {};
  const unsigned lane = thread % 32;
  WarpAccess write;
  write.kind = Kind::write;
  write.space = Space::shared;
  write.site = site;
  write.warp = thread / 32;
  write.lanes = LaneMask{1} << lane;
  write.offsets = offsets;
  write.values = values;
  write.bytes = (shared_offset | end) % 4 == 0 ? 4 : 1;
  landing_ = stamp;
  for (std::uint64_t at = shared_offset; at < end; at += write.bytes) {
    offsets[lane] = at;
    access(write);
  }
  landing_.reset();
}

}  // namespace simt::check
