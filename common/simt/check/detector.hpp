#pragma once
/// @file
/// Judges every access: is it within bounds, is what it reads initialised, is it ordered with the others?

#include <bit>
#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "simt/check/finding_log.hpp"
#include "simt/check/memory_map.hpp"
#include "simt/check/order.hpp"
#include "simt/check/shadow.hpp"
#include "simt/check/sites.hpp"
#include "simt/runtime/host_touches.hpp"
#include "simt/runtime/stream_order.hpp"
#include "simt/shim/simt_vector_types.h"

namespace simt::check {

/// One memory instruction of a warp.
struct WarpAccess {
  Kind kind = Kind::read;
  Space space = Space::global;
  bool is_volatile = false;
  bool compares = false;                  ///< a compare-and-swap
  bool loads_atomically = false;          ///< from shared memory
  bool issues_copy = false;               ///< which may write from now on
  FenceScope scope = FenceScope::device;  ///< for whose threads an atomic is one
  unsigned bytes = 4;
  unsigned matrices = 0;    ///< that are moved, with 16 bytes, a row, for each lane; 0: an ordinary access
  bool transposed = false;  ///< of such a move
  unsigned site = 0;
  unsigned warp = 0;
  LaneMask lanes = 0;
  std::uint64_t differing = kWindowBytes - 1;  ///< bits in which the offsets may differ
  const std::uint64_t* offsets = nullptr;      ///< [32], for the lanes
  const std::uint64_t* values = nullptr;       ///< [32], hashes of what a write left; null for other kinds

  bool at_one_place() const { return differing == 0; }
  /// The bits from the lowest to the highest that may differ: no offset is further off any other.
  std::uint64_t spread() const {
    return differing == 0 ? 0
                          : (~std::uint64_t{0} >> std::countl_zero(differing)) & -(differing & -differing);
  }
};

/// What findings need to know of the launch.
struct LaunchFacts {
  std::string kernel;
  dim3 grid, block;
  StreamOrder order{};
};

/// A launch that has ended, or a part of it between two grid.sync(), with what findings need to know.
struct PastLaunch {
  LaunchFacts facts;
  Step first = 0, last = 0;
  std::vector<uint3> blocks;  ///< in the order in which they began
  std::vector<Step> block_starts;
  std::uintptr_t code = 0;  ///< where its module begins: sites of another module have been forgotten
};

class Detector {
 public:
  Detector(Order& order, SiteTable& sites, FindingLog& log)
      : order_(order), sites_(sites), log_(log), global_(kWindowBytes), shared_(kSharedWindowBytes) {}

  void begin_launch(const LaunchFacts& facts);
  /// The launch has ended, or all its blocks stand in grid.sync(): before Order::begin_launch.
  void end_part();
  void begin_block(uint3 index);
  void end_epoch();  ///< before Order::end_epoch
  void end_block();
  void end_launch();
  /// What the running block has in shared memory and on the way there, and the way back, in an epoch of its
  /// own.
  struct Standing;
  Standing standing() const;
  void stand(Standing standing);

  /// At the end of a launch: host code used memory while the kernel may have run.
  void host_touched(const HostTouch& touch);
  /// See Checker.
  std::optional<std::uint64_t> first_unwritten(const DeviceRange& allocation, std::uint64_t begin,
                                               std::uint64_t end) const;
  /// Those to memory of which there was no room to remember anything.
  std::uint64_t take_unwatched_accesses() { return global_.take_unwatched(); }

  /// All but those that access a variable of the simulator's own, which lies among the shared ones.
  LaneMask watched_lanes(const WarpAccess& shared_access);
  void access(const WarpAccess& access);
  void copy_issued(unsigned thread, unsigned site, std::uint64_t shared_offset, const CopyExtent& extent);
  void copy_lands(unsigned thread, std::uint64_t shared_offset);
  /// From now on a barrier tracks the copy, and no batch.
  void copy_bound(unsigned thread, std::uint64_t shared_offset);
  void copies_committed(unsigned thread);
  void copies_awaited(unsigned thread, unsigned site, std::uint64_t batches_in_flight);

  /// One side of a finding, with places and threads filled in.
  FindingSide side(unsigned site, unsigned thread) const;
  FindingSide side(const Stamp& stamp) const;
  FindingSide side(const Stamp& stamp, const PastLaunch& launch) const;
  /// A finding of the running block at that site, of a class of the registry, with its severity and advice.
  Finding finding(const char* kind, unsigned site, unsigned thread) const;
  /// The element as the side's source has it.
  static ElementName element(const FindingSide& side, Space space, std::uint64_t offset, unsigned bytes);

 private:
  static constexpr std::uint64_t kSharedWindowBytes = 2u << 20;

  /// Some lanes of an access, at one place.
  struct Touch {
    const WarpAccess& access;
    std::uint64_t offset;
    LaneMask lanes;   ///< one, except for reads
    unsigned thread;  ///< of the lowest lane
    bool atomic;      ///< or a volatile access of global memory
    std::uint32_t value;
  };
  struct UninitialisedRead {
    Space space;
    std::uint64_t offset;
    unsigned site, thread, bytes;
    Step step;
    bool raced = false;  ///< somebody wrote it meanwhile, and nothing orders the two: that has been told
  };
  /// A plain read that is not ordered with an atomic of another thread. If the reader goes on with a
  /// compare-and-swap on the same element, the read was the first guess of a loop, and harmless. So it is if
  /// other readers at that site go on so and the atomic is a compare-and-swap, too: this one was content with
  /// what it found, and updates nothing.
  struct Guess {
    Space space;
    std::uint64_t offset;
    unsigned thread;  ///< the reader, of the running block
    const char* kind;
    Finding report;
    unsigned site, other_site, read_site;

    bool between(unsigned one, unsigned other) const { return site == one && other_site == other; }
    unsigned atomic_site() const { return read_site == site ? other_site : site; }
  };
  struct PendingCopy {
    std::uint64_t begin, end;                ///< in shared memory
    std::uint64_t source_begin, source_end;  ///< in global memory
    Stamp issued;
    std::uint64_t batch;         ///< how many the thread had committed when it issued this one
    std::uint64_t waits_before;  ///< of the thread, when it issued this one
    bool bound = false;          ///< to a barrier
  };
  /// What a thread of the running block did about its copies.
  struct CopyHistory {
    std::uint64_t committed = 0;  ///< batches
    std::uint64_t waits = 0;
    /// The last of them.
    struct Wait {
      unsigned site = 0;
      Step epoch = 0;
      std::uint64_t committed = 0;  ///< by then
      std::uint64_t in_flight = 0;  ///< how many of the latest batches it lets stay under way
    } wait;
    std::optional<std::uint64_t> landed_last;  ///< where that copy went in shared memory
  };
  static constexpr std::uint64_t kStretch = 4;  ///< bytes: what one copy moves at least

  static std::uint64_t place_of(const Touch& touch);  ///< offset and space in one
  static bool is_shared_place(std::uint64_t place);
  void forget_other_memory();
  void read_all(const WarpAccess& access, bool atomic);
  void note_read(Cell& cell, const Stamp& now, LaneMask lanes);
  void move_matrix_row(const WarpAccess& access, unsigned lane);
  void touch(const Touch& touch);
  /// A part of it, up to the end of a page of the shadow; returns how many bytes that were.
  unsigned touch_page(const Touch& touch, std::uint64_t offset, unsigned bytes);
  void read(const Touch& touch, Cell& cell, unsigned bytes);  ///< that the cell stands for
  void write(const Touch& touch, Cell& cell);
  void read_as_it_begins(const Touch& touch);
  bool is_watched(std::uint64_t shared_offset);
  bool all_in_bounds(const WarpAccess& access);
  /// Whether one variable or allocation holds the bytes from `begin` to `end`: the last one, or the one at
  /// `begin`.
  bool in_one_range(Space space, std::uint64_t begin, std::uint64_t end);
  bool in_bounds(const WarpAccess& access, unsigned lane);
  bool is_initialised(const Touch& touch, Cell& cell) const;
  bool is_padding(const Touch& touch, unsigned bytes);
  void note_uninitialised(const Touch& touch, unsigned bytes);
  void note_first_write(const Touch& touch);
  bool racing(const Stamp& before, const Touch& touch, unsigned thread) const;
  bool both_atomic(const Stamp& before, const Touch& touch) const;
  /// The launch that made the step, if nothing orders it with the one that runs; else null.
  const PastLaunch* beside(Step step) const;
  void read_after_write(const Touch& touch, const Cell& cell);
  void write_after_others(const Touch& touch, const Cell& cell);
  void write_after_write(const Touch& touch, const Cell& cell);
  void write_after_own_reads(const Touch& touch, const Cell& cell);
  void write_after_reads(const Touch& touch, const Cell& cell);
  void note_compare_and_swap(const Touch& touch, Cell& cell);
  CopyHistory& history_of(unsigned thread);
  void count_copy(const PendingCopy& copy, int by);
  bool may_meet_copy(std::uint64_t begin, std::uint64_t end) const;
  bool may_meet_copy(const WarpAccess& access) const;
  bool meets_copy(const WarpAccess& access, unsigned lane);
  bool overwrites(const PendingCopy& copy, const Touch& touch) const;
  const CopyHistory::Wait* wait_for_others(const PendingCopy& copy, unsigned thread) const;
  std::string advice_on_wait(const PendingCopy& copy, unsigned thread, const Finding& report,
                             const ElementName& here) const;

  enum class Did { read, write, write_same_value, issue_copy };
  void report_conflict(const Touch& touch, unsigned thread, const Stamp& before, Did before_did);
  void report_launches(const Touch& touch, unsigned thread, const Stamp& before, Did before_did,
                       const PastLaunch& other);
  void report_out_of_bounds(const WarpAccess& access, unsigned lane);
  void report_uninitialised(const UninitialisedRead& read);
  void report_unordered_begin(const Touch& touch, unsigned thread, const Stamp& first);

  Order& order_;
  SiteTable& sites_;
  FindingLog& log_;
  Shadow global_, shared_;
  LaunchFacts facts_;
  uint3 block_{};
  std::vector<uint3> blocks_;  ///< of the launch, in the order in which they began
  std::vector<UninitialisedRead> uninitialised_;
  std::unordered_multimap<std::uint64_t, std::size_t> uninitialised_at_;  ///< by offset and space
  std::deque<PendingCopy> copies_;          ///< those that were issued first land first
  std::vector<std::uint32_t> copies_near_;  ///< of copies_: how many go to each stretch of shared memory
  std::vector<CopyHistory> history_;        ///< by thread
  std::optional<Stamp> landing_;            ///< of the access in hand, if it is a copy's own
  std::vector<Guess> guesses_;              ///< of the running block
  std::vector<Guess> earlier_guesses_;      ///< of blocks that have ended: one for each pair of sites
  std::set<unsigned> guessing_sites_;       ///< of the launch: reads there are first guesses
  std::set<unsigned> comparing_sites_;      ///< of the launch: there stands a compare-and-swap
  std::unordered_map<unsigned, FenceScope> narrow_sites_;        ///< there stands an atomic of a narrow scope
  std::uintptr_t narrow_code_ = 0;                               ///< in this module
  std::set<std::pair<unsigned, const SharedRange*>> unreached_;  ///< at a site, variables of other kernels
  const GlobalRange* last_range_ = nullptr;
  const SharedRange* last_shared_ = nullptr;
  Step scope_first_ = 0;                        ///< of the access in hand: older stamps mean nothing to it
  std::vector<GlobalRange> known_allocations_;  ///< at the last launch
  std::vector<GlobalRange> known_elsewhere_;    ///< likewise, all other memory
  /// Of places that an atomic access was first to write, by place_of(): since the last barrier, in global
  /// memory since the launch began.
  std::unordered_map<std::uint64_t, Stamp> begun_;
  std::deque<PastLaunch> past_;            ///< the latest
  std::size_t past_blocks_ = 0;            ///< of these
  std::vector<const PastLaunch*> beside_;  ///< those that nothing orders with the one that runs
};

struct Detector::Standing {
  std::vector<std::uint64_t> shared_values;  ///< bytes of shared memory that hold some
  std::deque<PendingCopy> copies;
  std::vector<CopyHistory> history;
};

}  // namespace simt::check
