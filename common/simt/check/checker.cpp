#include "simt/check/checker.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <utility>

#include "simt/check/traffic.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/host_touches.hpp"

namespace simt::check {
namespace {

Sectors sectors_of(const WarpAccess& access) {
  if (access.kind == Kind::atomic) return count_atomic_sectors(access.offsets, access.lanes, access.bytes);
  if (!access.at_one_place()) return count_sectors(access.offsets, access.lanes, access.bytes);
  const LaneMask one = access.lanes & -access.lanes;  // stands for all, but for how many bytes they ask
  Sectors sectors = count_sectors(access.offsets, one, access.bytes);
  const auto asked = static_cast<unsigned>(std::popcount(access.lanes)) * access.bytes;
  sectors.ideal = std::min(sectors.touched, (asked + 31) / 32);
  return sectors;
}

Wavefronts wavefronts_of(const WarpAccess& access) {
  if (access.kind == Kind::atomic) return count_atomic_wavefronts(access.offsets, access.lanes, access.bytes);
  if (access.bytes <= 4 && access.spread() < kWavefrontBytes) return {1, 1};  // no two words in one bank
  // A matrix is served in a pass of its own, whoever else asks for the same row.
  const bool joins_lanes = access.kind == Kind::read && access.matrices == 0;
  return count_wavefronts(access.offsets, access.lanes, access.bytes, joins_lanes);
}

template <class Visit>
void for_each_lane(LaneMask lanes, Visit visit) {
  for (; lanes != 0; lanes &= lanes - 1) visit(static_cast<unsigned>(std::countr_zero(lanes)));
}
/// The lanes whose addresses count.
LaneMask rows_of(unsigned matrices) { return matrices == 1 ? 0xffu : matrices == 2 ? 0xffffu : ~LaneMask{0}; }

}  // namespace

Checker& Checker::get() {
  static auto* checker = new Checker;
  return *checker;
}

void Checker::begin_launch(const Launch& launch, const LaunchContext& context, const void* dynamic_buffer) {
  named_ = false;
  traced_source_.clear();
  apart_.clear();
  scopes_.clear();
  facts_ = {launch.name, launch.grid, launch.block, launch.order};
  launch_number_ = launch.number;
  block_order_ = {.blocks = std::uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z};
  load_order_ = store_order_ = block_order_;
  copies_ahead_ = {};
  waiting_.clear();
  memory_map().begin_launch(*context.module, context.dynamic_shared_bytes, launch.arguments,
                            launch.arguments_bytes);
  place_windows(context, dynamic_buffer);
  order_.begin_launch();
  sites_.begin_launch(recorder_.code, recorder_.code_bytes, launch.caller);
  merged_blocks_.begin_launch(recorder_.code, recorder_.code_bytes);
  recorder_.begun_by = merged_blocks_.table();
  block_work_.begin_launch(recorder_.code, recorder_.code_bytes);
  log_.begin_launch();
  detector_.begin_launch(facts_);
  trace_.begin_launch(facts_);
}

void Checker::place_windows(const LaunchContext& context, const void* dynamic_buffer) {
  const KernelModule& module = *context.module;
  recorder_.code = module.begin;
  recorder_.code_bytes = module.end - module.begin;  // no more than kMostCodeBytes, or no launch
  recorder_.functions = &module.functions;
  recorder_.arena = reinterpret_cast<std::uintptr_t>(device_memory().base());
  recorder_.dynamic = reinterpret_cast<std::uintptr_t>(dynamic_buffer) - Recorder::kMargin;
  recorder_.dynamic_bytes = Recorder::kMargin + kMaxDynamicSharedBytes + Recorder::kMargin;
  recorder_.shared = recorder_.shared_bytes = 0;
  shared_words_.clear();
  if (module.tls_module != 0) {
    std::size_t end = 0;
    for (const auto* variables : {&module.shared, &module.thread_locals})
      for (const SharedVariable& variable : *variables) end = std::max(end, variable.offset + variable.bytes);
    recorder_.shared = reinterpret_cast<std::uintptr_t>(thread_local_storage(module)) - Recorder::kMargin;
    recorder_.shared_bytes =
        std::min<std::size_t>(Recorder::kMargin + end + Recorder::kMargin, Recorder::kDynamicOffset);
    shared_words_.assign(recorder_.shared_bytes / 4 + 2, 0);
    for (const auto* variables : {&module.shared, &module.thread_locals})
      for (const SharedVariable& variable : *variables)
        for (std::size_t byte = 0; byte < variable.bytes; ++byte)
          shared_words_[(Recorder::kMargin + variable.offset + byte) / 4] =
              variables == &module.shared ? Recorder::kShared : Recorder::kThreadLocal;
  }
  recorder_.is_shared_word = shared_words_.data();
}

void Checker::end_launch() {
  active_recorder = nullptr;
  for (std::size_t i = 0; launch_number_ != 0 && i < host_touches().size(); ++i)
    if (launch_number_ <= host_touches()[i].launches) detector_.host_touched(host_touches()[i]);
  detector_.end_launch();
  for (const auto& [offset, bytes] : std::exchange(stored_thread_locals_, {})) bytes_of_variables_ += bytes;
  for (const auto& [offset, bytes] : std::exchange(stored_variables_, {})) {
    const GlobalRange* const range = memory_map().find_global(offset);
    const bool counted = range->shared != nullptr && filled_.insert(range->shared).second;  // when allocated
    if (!counted) bytes_of_variables_ += bytes;
  }
  LaunchProfile profile;
  profile.kernel = facts_.kernel;
  profile.grid = {facts_.grid.x, facts_.grid.y, facts_.grid.z};
  profile.block = {facts_.block.x, facts_.block.y, facts_.block.z};
  profile.order = block_order_;
  profile.loads = load_order_;
  profile.stores = store_order_;
  profile.copies_ahead = copies_ahead_;
  std::map<std::pair<std::string, int>, Counters> lines;
  for (const Site& site : sites_.all()) {
    if (site.counters.empty()) continue;
    profile.total += site.counters;
    if (site.line.line != 0) lines[{site.line.file, site.line.line}] += site.counters;
  }
  for (auto& [line, counters] : lines) profile.lines.push_back({line.first, line.second, counters});
  constexpr std::size_t kMostProfiles = 4096;  // nobody may ever ask; the last one then has all that follow
  if (profiles_.size() < kMostProfiles)
    profiles_.push_back(std::move(profile));
  else
    profiles_.back().total += profile.total;
}

/// What kernels store to outside of the device and of shared memory: the host could read it, after each
/// launch anew.
void Checker::note_variables(const WarpAccess& access) {
  for (LaneMask lanes = access.lanes; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t offset = access.offsets[std::countr_zero(lanes)];
    if (access.space == Space::shared) {
      if (offset < Recorder::kDynamicOffset && shared_words_[offset / 4] == Recorder::kThreadLocal)
        stored_thread_locals_[offset] = access.bytes;  // byte by byte: the compiler has flags among them
    } else if (offset >= kArenaBytes) {
      const GlobalRange* const range = memory_map().find_global(offset);
      if (range != nullptr && range->host_sees) stored_variables_[range->offset] = range->bytes;
    }
    if (access.at_one_place()) return;
  }
}

std::vector<LaunchProfile> Checker::take_profiles() { return std::exchange(profiles_, {}); }

void Checker::grid_opens() {
  detector_.end_part();
  order_.begin_launch();
  detector_.begin_launch(facts_);
}

// All threads of the block stand in grid.sync(), and nothing that they have done is unheard: when they go on,
// it is with empty traces, at the calls where they stand.
void Checker::block_waits_for_grid() {
  const NothingRecorded guard;
  drain_all();
  copies_.meet_at_barrier();
  waiting_[block_number_] = {
      block_, replay_.standing(), detector_.standing(), warp_work_, warp_loads_, warp_stores_, copies_};
  detector_.end_block();
}

void Checker::block_goes_on(const LaunchContext& launch, std::uint64_t number) {
  Waiting block = std::move(waiting_.extract(number).mapped());
  block_begins(launch, block.index, number);
  warp_work_ = block.work;
  warp_loads_ = block.loads;
  warp_stores_ = block.stores;
  copies_ = std::move(block.copies);
  replay_.stand(block.standing);
  detector_.stand(std::move(block.memory));
  detector_.end_epoch();
  order_.end_epoch();
}

void Checker::block_begins(const LaunchContext& launch, uint3 index, std::uint64_t number) {
  block_ = index;
  block_number_ = number;
  const auto threads = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  warp_work_.assign(static_cast<std::size_t>(threads + 31) / 32, 0);
  warp_loads_ = warp_stores_ = warp_work_;
  copies_ = CopiesUnderWay(static_cast<std::size_t>(threads));
  order_.begin_block(threads);
  recorder_.start_block(threads);
  last_blocks_.assign(static_cast<std::size_t>(threads), {});
  replay_.begin_block(threads);
  detector_.begin_block(index);
  trace_.begin_block(index);
  active_recorder = &recorder_;
}

// A thread that gives way waits for what another one does to memory. From then on, warps are heard in the
// order in which they ran.
template <class UnfinishedOf>
void Checker::drain_in_turns(UnfinishedOf unfinished_of) {
  const auto warps = static_cast<unsigned>((recorder_.threads.size() + 31) / 32);
  for (unsigned warp = 0; warp < warps; ++warp) replay_.drain(warp, unfinished_of(warp));
  if (turn_ == 0) return;
  std::vector<std::optional<std::uint64_t>> turns;
  for (unsigned warp = 0; warp < warps; ++warp) turns.push_back(replay_.turn(warp));
  for (;;) {
    unsigned first = warps;
    for (unsigned warp = 0; warp < warps; ++warp)
      if (turns[warp] && (first == warps || *turns[warp] < *turns[first])) first = warp;
    if (first == warps) return;
    replay_.take_turn(first);
    replay_.drain(first, unfinished_of(first));
    turns[first] = replay_.turn(first);
  }
}

void Checker::drain_all() {
  recorder_.switch_to(-1);
  drain_in_turns([](unsigned) { return LaneMask{0}; });
  turn_ = 0;
}

void Checker::drain(unsigned warp, LaneMask unfinished) {
  recorder_.switch_to(-1);
  if (turn_ == 0) return replay_.drain(warp, unfinished);
  drain_in_turns([&](unsigned one) { return one == warp ? unfinished : replay_.not_ended(one); });
}

void Checker::block_ends() {
  active_recorder = nullptr;
  recorder_.stored_bytes = 0;  // after a fault, the last store may never have happened
  drain_all();
  const std::uint64_t row = std::uint64_t{block_.z} * facts_.grid.y + block_.y,
                      number = row * facts_.grid.x + block_.x;
  copies_.meet_at_barrier();
  copies_ahead_.of_shared_loads += copies_.ahead().of_shared_loads;
  copies_ahead_.of_global_stores += copies_.ahead().of_global_stores;
  block_order_.add(number, warp_work_);
  load_order_.add(number, warp_loads_);
  store_order_.add(number, warp_stores_);
  detector_.end_block();
}

void Checker::thread_ends(int thread) {
  recorder_.switch_to(-1);
  note_exit(thread);
  replay_.thread_ends(thread);
}

// What follows an event in a second slot never looks like a mark: it is a hash of 32 bits, a count of bytes,
// a thread, or lanes and an operation. So a trace can be read backwards.
void Checker::note_exit(int thread) {
  const ThreadTrace& trace = recorder_.threads[static_cast<std::size_t>(thread)];
  auto& last = last_blocks_[static_cast<std::size_t>(thread)];
  constexpr std::ptrdiff_t kMostLookedAt = 64;
  const Event* const end =
      trace.tail - std::min<std::ptrdiff_t>(trace.tail - trace.slots.data(), kMostLookedAt);
  std::size_t count = 0;
  for (const Event* slot = trace.tail; slot > end && count < last.size();) {
    --slot;
    if (kind_of(*slot) == Kind::mark && mark_of(*slot) == Mark::block)
      last[count++] = static_cast<std::uint32_t>(code_of(*slot));
    else if (const std::uint32_t block = merged_blocks_.begun_by(code_of(*slot)))
      last[count++] = block;
  }
}

LaneMask Checker::warp_pauses(int warp, LaneMask unfinished) {
  const NothingRecorded guard;
  const int running = recorder_.thread;
  drain(static_cast<unsigned>(warp), unfinished);
  LaneMask with_room = 0;
  for_each_lane(unfinished, [&](unsigned lane) {
    if (!trace_of(warp, lane).full()) with_room |= LaneMask{1} << lane;
  });
  recorder_.switch_to(running);
  return with_room;
}

void Checker::lanes_must_go_on(int warp, LaneMask lanes) {
  const NothingRecorded guard;
  const int running = recorder_.thread;
  recorder_.switch_to(-1);
  for_each_lane(lanes, [&](unsigned lane) {
    if (ThreadTrace& trace = trace_of(warp, lane); trace.full()) trace.lengthen();
  });
  recorder_.switch_to(running);
}

bool Checker::are_apart(unsigned a, unsigned b) {
  if (a == b) return false;
  if (sites_[a].line != sites_[b].line) return true;
  const auto [known, is_new] = apart_.try_emplace(std::minmax(a, b), false);
  if (is_new) {
    const auto same = [](const SourceCall& one, const SourceCall& other) {
      return one.line == other.line && one.file == other.file;
    };
    const std::vector<SourceCall> of_a = sites_.calls(a).calls, of_b = sites_.calls(b).calls;
    known->second = !std::equal(of_a.begin(), of_a.end(), of_b.begin(), of_b.end(), same);
  }
  return known->second;
}

void Checker::barrier_opens(const std::uintptr_t* waits_at, int threads) {
  const NothingRecorded guard;
  const int running = recorder_.thread;
  drain_all();
  std::optional<Arrival> first;
  for (int begin = 0; begin < threads; begin += 32) {
    const int end = std::min(begin + 32, threads);
    std::optional<Arrival> first_of_warp;
    int returned = 0, first_returned = 0;
    for (int thread = begin; thread < end; ++thread) {
      if (waits_at[thread] == 0) {
        if (returned++ == 0) first_returned = thread;
        continue;
      }
      const Arrival arrival{static_cast<unsigned>(thread),
                            sites_.find(waits_at[thread] - recorder_.code, replay_.path_of(thread))};
      if (!first) first = arrival;
      if (!first_of_warp) first_of_warp = arrival;
      if (are_apart(arrival.site, first->site)) report_divergent_barrier(arrival, *first);
    }
    if (!first_of_warp) continue;
    const auto warp = static_cast<unsigned>(begin / 32);
    Site& site = sites_[first_of_warp->site];
    ++site.counters.barriers;
    if (trace_.wants(warp)) trace_.mark("barrier", warp, replay_.live(warp), site.line);
    if (returned > 0)
      report_exited_threads(*first_of_warp, returned, end - begin, static_cast<unsigned>(first_returned));
  }
  copies_.meet_at_barrier();
  detector_.end_epoch();
  order_.end_epoch();
  recorder_.switch_to(running);
}

void Checker::phase_ends() {
  const NothingRecorded guard;
  const int running = recorder_.thread;
  drain_all();
  copies_.meet_at_barrier();
  recorder_.switch_to(running);
}

// The warp's lanes all stand here, so what they did is known in full.
void Checker::named_barrier_reached(unsigned number, int warp, std::uintptr_t caller) {
  const NothingRecorded guard;
  const int running = recorder_.thread;
  const auto index = static_cast<unsigned>(warp);
  drain(index, 0);
  order_.hand_over(number, index, replay_.live(index));
  Site& site = sites_[sites_.find(caller - recorder_.code, replay_.path_of(running))];
  ++site.counters.barriers;
  if (trace_.wants(index)) trace_.mark("barrier", index, replay_.live(index), site.line);
  recorder_.switch_to(running);
}

void Checker::named_barrier_opens(unsigned number, const std::vector<std::size_t>& waiting_warps) {
  const NothingRecorded guard;
  for (const std::size_t warp : waiting_warps)
    order_.take_over(number, static_cast<unsigned>(warp), replay_.live(static_cast<unsigned>(warp)));
  order_.end_hand_over(number);
  copies_.meet_at_barrier();
}

void Checker::lanes_met(const LanesMet& met) {
  if (met.op == simt_op_aligned && (met.lanes != ~LaneMask{0} || met.caller != met.first_caller))
    lanes_apart(met);
  const std::uint64_t second = met.lanes | std::uint64_t{static_cast<unsigned>(met.op)} << kMetOpShift |
                               std::uint64_t{met.work} << kMetWorkShift;
  recorder_.append(mark_event(Mark::met) | (met.number & (kWindowBytes - 1)), second, met.caller);
}

void Checker::value_exchanged(std::uintptr_t caller) { recorder_.append(mark_event(Mark::exchange), caller); }

std::optional<std::uint64_t> Checker::shared_offset(std::uintptr_t address) const {
  if (address - recorder_.dynamic < recorder_.dynamic_bytes)
    return Recorder::kDynamicOffset + (address - recorder_.dynamic);
  if (address - recorder_.shared < recorder_.shared_bytes) return address - recorder_.shared;
  return {};
}

// On hardware the load belongs to the instruction that issues the copy, and the bytes reach shared memory
// without passing through the warp: so there is a request here, and no store where they land.
void Checker::async_copy_issued(const AsyncCopy& copy, std::uintptr_t caller) {
  const std::size_t read = copy.bytes - copy.zero_bytes;
  const auto from = reinterpret_cast<std::uintptr_t>(copy.from);
  CopyExtent extent{copy.bytes, copy.bytes, 0};  // what is read is not watched
  const unsigned step = (from | read) % 16 == 0  ? 16
                        : (from | read) % 8 == 0 ? 8
                        : (from | read) % 4 == 0 ? 4
                                                 : 1;
  for (std::size_t at = 0; at < read; at += step) {
    std::uint64_t offset = from + at - recorder_.arena;
    bool stray = false;
    if (offset >= kArenaBytes && !recorder_.find_elsewhere(from + at, false, offset, stray)) continue;
    if (at == 0) extent = {copy.bytes, copy.zero_bytes, offset};
    recorder_.append(access_event(Kind::read, static_cast<unsigned>(std::countr_zero(step)), false) |
                         at_offset(Space::global, offset),
                     caller);
  }
  if (const auto offset = shared_offset(reinterpret_cast<std::uintptr_t>(copy.to)))
    recorder_.append(mark_event(Mark::copy) | *offset, extent.packed(), caller);
  else
    BlockRunner::current()->raise_access(FaultKind::host_pointer, copy.to);
}

void Checker::async_copy_lands(const AsyncCopy& copy, int issuer, std::uintptr_t caller) {
  if (const auto offset = shared_offset(reinterpret_cast<std::uintptr_t>(copy.to)))
    recorder_.append(mark_event(Mark::land) | *offset, static_cast<std::uint64_t>(issuer), caller);
}

void Checker::async_copy_bound(const AsyncCopy& copy, std::uintptr_t caller) {
  if (const auto offset = shared_offset(reinterpret_cast<std::uintptr_t>(copy.to)))
    recorder_.append(mark_event(Mark::bind) | *offset, caller);
}

void Checker::async_copies_committed(std::uintptr_t caller) {
  recorder_.append(mark_event(Mark::commit), caller);
}

void Checker::async_copies_awaited(unsigned batches_in_flight, std::uintptr_t caller) {
  recorder_.append(mark_event(Mark::wait) | batches_in_flight, caller);
}

void Checker::fence(FenceScope scope, std::uintptr_t caller) {
  recorder_.append(mark_event(Mark::fence) | static_cast<unsigned>(scope), caller);
}

void Checker::note_scope(FenceScope scope, std::uintptr_t caller) {
  if (scope == FenceScope::device && scopes_.empty()) return;
  const auto code = static_cast<std::uint32_t>(caller - recorder_.code);
  FenceScope& widest = scopes_.try_emplace(code, scope).first->second;
  widest = std::max(widest, scope);
}

void Checker::atomic(const void* pointer, unsigned bytes, SimtAtomic operation, std::uintptr_t caller,
                     FenceScope scope) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  Event place = 0;
  std::uint64_t offset = address - recorder_.arena;
  if (offset < kArenaBytes)
    place = at_offset(Space::global, offset);
  else if (address - recorder_.stack < kStackBytes) {
    if (scope != FenceScope::thread)
      BlockRunner::current()->raise(
          FaultKind::wrong_memory,
          "an atomic operation on a variable of its own, which works on global and shared memory alone. No "
          "other thread has that variable: an ordinary operation does");
    return recorder_.append_begun_block(caller);
  } else if (recorder_.refuse_misuse(address, false); const auto in_shared = shared_offset(address))
    place = at_offset(Space::shared, *in_shared);
  else if (bool stray = false; recorder_.find_elsewhere(address, true, offset, stray))
    place = at_offset(Space::global, offset);
  else
    return;
  const auto log2_bytes = static_cast<unsigned>(std::countr_zero(bytes));
  const Event compares = operation == simt_atomic_compare ? kCompares : 0;
  const Event how =
      operation == simt_atomic_load ? atomic_load_event(space_of(place), log2_bytes)
      : bytes == 16                 ? access_event(Kind::atomic, 0, false) | kSpecial
                    : access_event(Kind::atomic, log2_bytes, operation == simt_atomic_exchange) | compares;
  note_scope(scope, caller);
  recorder_.append(how | place, caller);
}

void Checker::note_copied(const void* to, const void* from, std::size_t bytes) const {
  const std::optional<DeviceRange> source = device_memory().range_at(from);
  if (!source) return;
  const auto first = static_cast<std::uint64_t>(static_cast<const std::byte*>(from) - device_memory().base());
  for (std::uint64_t begin = first, end = first + bytes; begin < end;) {
    const std::uint64_t stop = first_unwritten(*source, begin, end).value_or(end);
    if (begin < stop)
      device_memory().note_written(static_cast<const std::byte*>(to) + (begin - first), stop - begin);
    for (begin = stop; begin < end && first_unwritten(*source, begin, begin + 1);) ++begin;
  }
}

bool Checker::wants_names() { return !std::exchange(named_, true); }

void Checker::name_shared(const void* address, const char* name, const SimtArray& array, NameOf what) {
  const NothingRecorded guard;
  const auto offset = shared_offset(reinterpret_cast<std::uintptr_t>(address));
  if (!offset || memory_map().knows_shared(name, *offset)) return;
  ArrayName named{name, *offset, 0, array.element_bytes, {array.extents, array.extents + array.rank}, name};
  named.bytes = named.element_bytes;
  for (const std::size_t extent : named.extents) named.bytes *= extent;
  named.what = what;
  named.member = array.member;
  named.member_rank = static_cast<std::size_t>(array.member_rank);
  named.values = values_of(array.object_bytes, array.mark_values, recorder_);
  memory_map().name_shared(std::move(named));
}

void Checker::warp_did(const WarpEvent& event) {
  const unsigned site = sites_.find(code_of(event.event), event.path);
  if (kind_of(event.event) == Kind::mark)
    mark_did(event, site);
  else
    access_did(event, site);
}

void Checker::mark_did(const WarpEvent& event, unsigned site) {
  Counters& counters = sites_[site].counters;
  const char* traced = nullptr;
  switch (mark_of(event.event)) {
    case Mark::block:
      ++counters.steps;
      counters.lanes += static_cast<unsigned>(std::popcount(event.lanes));
      counters.divergent_steps += event.lanes != event.live;
      for (const BlockWork::Piece& piece : block_work_.of(code_of(event.event), event.path)) {
        Counters& of_line = sites_[sites_.find(piece.code, event.path)].counters;
        of_line.float_instructions += piece.floats;
        of_line.special_instructions += piece.specials;
      }
      return;
    case Mark::met: {
      const auto second = event.seconds[std::countr_zero(event.lanes)];
      const auto op = static_cast<SimtWarpOp>(second >> kMetOpShift & 0xffu);
      if (op == simt_op_aligned) {
        if (event.apart != 32)
          report_lanes_apart(site, event.warp * 32 + static_cast<unsigned>(std::countr_zero(event.lanes)),
                             sites_.find(code_of(event.event), event.path_apart),
                             event.warp * 32 + event.apart);
        count_matrix_work(
            event.warp, MatrixWork::unpacked(static_cast<std::uint32_t>(second >> kMetWorkShift)), counters);
        traced = "matrix";
      } else if (op == simt_op_syncwarp) {
        ++counters.warp_syncs;
        order_.join(event.warp, event.lanes);
        traced = "syncwarp";
      } else if (op == simt_op_shuffle) {
        ++counters.shuffles;
        traced = "shuffle";
      } else {
        ++counters.votes;
        traced = "vote";
      }
      break;
    }
    case Mark::fence:
      for_each_lane(event.lanes, [&](unsigned lane) {
        order_.fence(event.warp * 32 + lane, static_cast<FenceScope>(event.offsets[lane]));
      });
      return;
    case Mark::copy:
      for_each_lane(event.lanes, [&](unsigned lane) {
        const unsigned thread = event.warp * 32 + lane;
        const CopyExtent extent = CopyExtent::unpacked(event.seconds[lane]);
        copies_.issue(thread, event.offsets[lane], extent.bytes - extent.zeroed);
        detector_.copy_issued(thread, site, event.offsets[lane], extent);
      });
      return;
    case Mark::land:
      for_each_lane(event.lanes, [&](unsigned lane) {
        const auto issuer = static_cast<unsigned>(event.seconds[lane]);
        copies_.land(issuer, event.offsets[lane]);
        detector_.copy_lands(issuer, event.offsets[lane]);
      });
      return;
    case Mark::bind:
      for_each_lane(event.lanes, [&](unsigned lane) {
        detector_.copy_bound(event.warp * 32 + lane, event.offsets[lane]);
      });
      return;
    case Mark::commit:
    case Mark::wait:
      for_each_lane(event.lanes, [&](unsigned lane) {
        const unsigned thread = event.warp * 32 + lane;
        if (mark_of(event.event) == Mark::commit)
          detector_.copies_committed(thread);
        else
          detector_.copies_awaited(thread, site, event.offsets[lane]);
      });
      return;
    case Mark::work:
      counters.special_instructions += offset_of(event.event) & ((1u << kFloatsShift) - 1);
      counters.float_instructions += offset_of(event.event) >> kFloatsShift;
      return;
    case Mark::exchange:
      ++counters.shuffles;
      traced = "shuffle";
      break;
    case Mark::enter:
    case Mark::leave:
    case Mark::turn:
      return;
  }
  if (trace_.wants(event.warp)) trace_.mark(traced, event.warp, event.lanes, sites_[site].line);
}

void Checker::access_did(const WarpEvent& event, unsigned site) {
  WarpAccess access;
  access.loads_atomically = loads_atomically(event.event);
  access.kind = access.loads_atomically ? Kind::read : kind_of(event.event);
  access.space = space_of(event.event);
  access.matrices = matrices_of(event.event);
  (access.matrices == 0 ? access.is_volatile : access.transposed) = is_volatile(event.event);
  access.compares = compares(event.event);
  if (!scopes_.empty())
    if (const auto scope = scopes_.find(static_cast<std::uint32_t>(code_of(event.event)));
        scope != scopes_.end())
      access.scope = scope->second;
  access.bytes = bytes_of(event.event);
  access.site = site;
  access.warp = event.warp;
  access.lanes = event.lanes & rows_of(access.matrices);
  access.differing = event.differing;
  access.offsets = event.offsets;
  access.values = access.kind == Kind::write ? event.seconds : nullptr;
  if (access.lanes == 0) return;
  if (access.kind != Kind::read) note_variables(access);
  if (access.space == Space::shared) access.lanes = detector_.watched_lanes(access);
  if (access.lanes == 0) return;
  count_access(access, sites_[site].counters);
  detector_.access(access);
}

const SourceTexts& Checker::source_of(unsigned site) {
  const auto [entry, is_new] = traced_source_.try_emplace(site);
  if (is_new) entry->second = texts_of(sites_.calls(site).calls);
  return entry->second;
}

void Checker::count_access(const WarpAccess& access, Counters& counters) {
  ++warp_work_[access.warp];
  if (access.kind == Kind::write && access.is_volatile && access.space == Space::global) ++counters.signals;
  const auto lanes = static_cast<unsigned>(std::popcount(access.lanes));
  Sectors sectors;
  Wavefronts wavefronts;
  if (access.space == Space::global) {
    GlobalTraffic& traffic = access.kind == Kind::read    ? counters.global_load
                             : access.kind == Kind::write ? counters.global_store
                                                          : counters.global_atomic;
    sectors = sectors_of(access);
    ++traffic.requests;
    traffic.sectors += sectors.touched;
    traffic.ideal_sectors += sectors.ideal;
    traffic.bytes_asked += lanes * access.bytes;
    traffic.bytes += sectors.touched * 32;
    if (access.kind == Kind::read)
      warp_loads_[access.warp] += sectors.touched;
    else
      warp_stores_[access.warp] += lanes * access.bytes;
    if (access.kind == Kind::write)
      for_each_lane(access.lanes,
                    [&](unsigned lane) { copies_.store_global(access.warp * 32 + lane, access.bytes); });
  } else {
    SharedTraffic& traffic = access.kind == Kind::read    ? counters.shared_load
                             : access.kind == Kind::write ? counters.shared_store
                                                          : counters.shared_atomic;
    wavefronts = wavefronts_of(access);
    ++traffic.requests;
    traffic.wavefronts += wavefronts.needed;
    traffic.ideal_wavefronts += wavefronts.ideal;
    traffic.bytes_asked += lanes * access.bytes;
    if (access.kind == Kind::read)
      for_each_lane(access.lanes,
                    [&](unsigned lane) { copies_.load_shared(access.warp * 32 + lane, access.bytes); });
  }
  if (trace_.wants(access.warp))
    trace_.access(access, sites_[access.site].line, source_of(access.site), sectors.touched,
                  wavefronts.needed);
}

}  // namespace simt::check
