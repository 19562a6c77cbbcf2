#pragma once
/// @file
/// Check mode as a whole: takes what a block tells about itself and what its threads trace, and turns them
/// into findings, counts and traces.

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simt/check/block_work.hpp"
#include "simt/check/copies_under_way.hpp"
#include "simt/check/detector.hpp"
#include "simt/check/finding_log.hpp"
#include "simt/check/recorder.hpp"
#include "simt/check/replay.hpp"
#include "simt/check/trace_log.hpp"
#include "simt/matrix/work.hpp"
#include "simt/profile.hpp"
#include "simt/runtime/fiber.hpp"
#include "simt/runtime/launch.hpp"
#include "simt/runtime/observer.hpp"

namespace simt::check {

class Checker final : public BlockObserver, public Replay::Listener {
 public:
  static Checker& get();

  void begin_launch(const Launch& launch, const LaunchContext& context, const void* dynamic_buffer);
  void end_launch();
  /// All blocks of a cooperative launch have come to grid.sync(): what they did comes before what they do.
  void grid_opens();

  // BlockObserver
  void block_begins(const LaunchContext& launch, uint3 index, std::uint64_t number) override;
  void block_waits_for_grid() override;
  void block_goes_on(const LaunchContext& launch, std::uint64_t number) override;
  void block_ends() override;
  void thread_runs(int thread, const void* stack_top) override {
    recorder_.switch_to(thread);
    recorder_.stack = reinterpret_cast<std::uintptr_t>(stack_top) - kStackBytes;
    if (turn_ != 0) recorder_.append_turn(turn_++);
  }
  void thread_gives_way() override { turn_ = std::max<std::uint64_t>(turn_, 1); }
  void thread_ends(int thread) override;
  void barrier_opens(const std::uintptr_t* waits_at, int threads) override;
  void phase_ends() override;
  LaneMask warp_pauses(int warp, LaneMask unfinished) override;
  void lanes_must_go_on(int warp, LaneMask lanes) override;
  void named_barrier_reached(unsigned number, int warp, std::uintptr_t caller) override;
  void named_barrier_opens(unsigned number, const std::vector<std::size_t>& waiting_warps) override;
  void lanes_met(const LanesMet& met) override;
  void inactive_lane(const InactiveLane& lane) override;
  void value_exchanged(std::uintptr_t caller) override;
  void matrix_row(const MatrixRow& row, std::uintptr_t caller) override;
  void misaligned_row(const MatrixRow& row, std::uintptr_t caller) override;
  void special_functions(unsigned count, std::uintptr_t caller) override;
  void float_operations(unsigned count, std::uintptr_t caller) override;
  void async_copy_issued(const AsyncCopy& copy, std::uintptr_t caller) override;
  void async_copy_lands(const AsyncCopy& copy, int issuer, std::uintptr_t caller) override;
  void async_copy_bound(const AsyncCopy& copy, std::uintptr_t caller) override;
  void async_copies_committed(std::uintptr_t caller) override;
  void async_copies_awaited(unsigned batches_in_flight, std::uintptr_t caller) override;

  // Replay::Listener
  void warp_did(const WarpEvent& event) override;

  // What kernels tell by calls of their own.
  bool wants_names();
  void name_shared(const void* address, const char* name, const SimtArray& array, NameOf what);
  void fence(FenceScope scope, std::uintptr_t caller);
  void atomic(const void* address, unsigned bytes, SimtAtomic operation, std::uintptr_t caller,
              FenceScope scope = FenceScope::device);
  /// Of the atomics that are called there.
  void note_scope(FenceScope scope, std::uintptr_t caller);
  /// A check that the compiler built in failed, at that instruction.
  void array_bound_broken(std::uintptr_t caller, const char* type, std::int64_t index);
  void shift_out_of_range(std::uintptr_t caller);
  void misaligned(std::uintptr_t caller, std::uintptr_t address, std::uint64_t alignment);

  // Of work that host code does in a kernel's place.
  /// The first place in [begin, end) of an allocation, as offsets in the arena, that holds no value.
  std::optional<std::uint64_t> first_unwritten(const DeviceRange& allocation, std::uint64_t begin,
                                               std::uint64_t end) const {
    return detector_.first_unwritten(allocation, begin, end);
  }
  /// A copy within the device brings values from where its source holds some.
  void note_copied(const void* to, const void* from, std::size_t bytes) const;
  /// Rule and fix are those of memory that nobody has written.
  void add_uninitialised(Finding finding);

  std::vector<Finding> take_findings() { return log_.take(); }
  std::uint64_t take_unwatched_accesses() { return detector_.take_unwatched_accesses(); }
  std::vector<LaunchProfile> take_profiles();
  std::uint64_t take_stored_variables() {
    filled_.clear();
    return std::exchange(bytes_of_variables_, 0);
  }
  /// A kernel took memory with malloc or new, which the host could read, or gave some back. Where a piece
  /// lies, and what the heap notes beside it, are seen as well.
  void note_kernel_heap(std::uint64_t bytes) { bytes_of_variables_ += std::max<std::uint64_t>(bytes, 32); }
  TraceLog& trace() { return trace_; }

 private:
  void place_windows(const LaunchContext& context, const void* dynamic_buffer);
  ThreadTrace& trace_of(int warp, unsigned lane) {
    return recorder_.threads[static_cast<std::size_t>(warp) * 32 + lane];
  }
  void drain_all();  ///< when no thread of the block can do more before all of them have been heard
  /// What is certain of one warp's traces, and of the other warps' what came before: of the one, lanes of
  /// `unfinished` will do more.
  void drain(unsigned warp, LaneMask unfinished);
  template <class UnfinishedOf>
  void drain_in_turns(UnfinishedOf unfinished_of);
  void mark_did(const WarpEvent& event, unsigned site);
  void access_did(const WarpEvent& event, unsigned site);
  void lanes_apart(const LanesMet& met);
  void report_lanes_apart(unsigned site, unsigned thread, unsigned other_site, unsigned other_thread);
  void count_matrix_work(unsigned warp, MatrixWork work, Counters& counters);
  const SourceTexts& source_of(unsigned site);
  void count_access(const WarpAccess& access, Counters& counters);
  void note_variables(const WarpAccess& access);
  /// A thread at a barrier.
  struct Arrival {
    unsigned thread, site;
  };
  void note_exit(int thread);
  /// The line of a `return` by which a thread left the kernel, as a side of a finding; line 0 if there is
  /// none.
  FindingSide way_out(unsigned thread) const;
  /// Whether these are different calls of a barrier: on different lines, or on one line of a helper that was
  /// called on different lines. Copies that the compiler makes of a line are one call.
  bool are_apart(unsigned a, unsigned b);
  void report_divergent_barrier(const Arrival& arrival, const Arrival& other);
  void report_exited_threads(const Arrival& arrival, int returned, int of, unsigned first_returned);
  static std::string bounded_element(const SourceLine& line, const std::string& type, std::int64_t index);
  std::optional<std::uint64_t> shared_offset(std::uintptr_t address) const;

  Recorder recorder_;
  Order order_;
  CallPaths paths_;
  SiteTable sites_{paths_};
  MergedBlocks merged_blocks_;
  BlockWork block_work_{sites_, merged_blocks_};
  FindingLog log_;
  Detector detector_{order_, sites_, log_};
  Replay replay_{recorder_, paths_, merged_blocks_, *this};
  TraceLog trace_;
  std::map<std::pair<unsigned, unsigned>, bool> apart_;  ///< sites, the lower first, of the launch
  /// By place in the code, of the launch: the widest scope of the atomics there. Of those not listed: the
  /// device.
  std::unordered_map<std::uint32_t, FenceScope> scopes_;
  std::map<unsigned, SourceTexts> traced_source_;  ///< by site, of the launch
  LaunchFacts facts_;
  /// A block that waits for the grid, while others run.
  struct Waiting {
    uint3 index;
    Replay::Standing standing;
    Detector::Standing memory;
    std::vector<std::uint64_t> work, loads, stores;
    CopiesUnderWay copies;
  };
  std::map<std::uint64_t, Waiting> waiting_;  ///< by number
  uint3 block_{};                             ///< that runs
  std::uint64_t block_number_ = 0;
  std::uint64_t launch_number_ = 0;                    ///< for host_touches()
  std::vector<std::uint64_t> warp_work_,               ///< of the block that runs, as BlockOrder has it
      warp_loads_,                                     ///< sectors
      warp_stores_;                                    ///< bytes
  CopiesUnderWay copies_;                              ///< of the block that runs
  BlockOrder block_order_, load_order_, store_order_;  ///< of the launch
  CopiesAhead copies_ahead_;
  std::vector<LaunchProfile> profiles_;
  std::map<std::uint64_t, std::uint64_t>
      stored_variables_,                    ///< of the launch: offset in the global window -> bytes
      stored_thread_locals_;                ///< likewise, in the window of shared memory
  std::uint64_t bytes_of_variables_ = 0;    ///< of all launches
  std::set<const std::byte*> filled_;       ///< managed and page-locked memory to which kernels have stored
  std::vector<std::uint8_t> shared_words_;  ///< what lies in each word of static shared memory; 0: nothing
  /// By thread: where in the code the last basic blocks begin that it went through before it left, the last
  /// one first; 0 behind them.
  std::vector<std::array<std::uint32_t, 8>> last_blocks_;
  /// Since the block's last barrier: of the next turn. 0: no thread has given way, so that the order of warps
  /// does not matter.
  std::uint64_t turn_ = 0;
  bool named_ = false;  ///< the launch's parameters have their names
};

/// A GPU refuses an address that is no multiple of the size. So does either mode.
[[noreturn]] void refuse_misaligned(BlockRunner& runner, std::uintptr_t address, unsigned bytes,
                                    std::uintptr_t caller);
inline void need_aligned(BlockRunner& runner, const void* address, unsigned bytes, std::uintptr_t caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (at % bytes != 0) refuse_misaligned(runner, at, bytes, caller);
}

}  // namespace simt::check
