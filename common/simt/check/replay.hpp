#pragma once
/// @file
/// Puts the traces of a warp's lanes back together into the instructions of the warp.
///
/// As long as all lanes did the same, that is what the warp did. Where they part, the lanes go on in the
/// order of the code: those deepest in calls first, then those at the lowest address. Lanes that wait ahead
/// join the others when these arrive there, which is where a compiler for GPUs makes them converge.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "simt/check/call_paths.hpp"
#include "simt/check/merged_blocks.hpp"
#include "simt/check/recorder.hpp"
#include "simt/runtime/warp.hpp"

namespace simt::check {

/// What some lanes of a warp did together.
struct WarpEvent {
  unsigned warp = 0;
  LaneMask lanes = 0;
  LaneMask live = 0;                           ///< the lanes of the warp that have not ended
  Event event = 0;                             ///< of one of them; the offsets of the others differ
  std::uint64_t differing = kWindowBytes - 1;  ///< bits in which the offsets may differ; 0: they are equal
  const std::uint64_t* offsets = nullptr;      ///< [32]
  const std::uint64_t* seconds = nullptr;      ///< [32], of events with a second slot
  CallPaths::Path path = 0;                    ///< the calls in which the first of the lanes stands
  unsigned apart = 32;             ///< of a warp operation: a lane that stands in others; 32: none
  CallPaths::Path path_apart = 0;  ///< its calls
};

class Replay {
 public:
  class Listener {
   public:
    virtual void warp_did(const WarpEvent& event) = 0;

   protected:
    ~Listener() = default;
  };

  /// The listener is told of a merged block before the access that begins it.
  Replay(Recorder& recorder, CallPaths& paths, const MergedBlocks& merged, Listener& listener)
      : recorder_(recorder), paths_(paths), merged_(merged), listener_(listener) {}

  void begin_block(int threads);
  /// Where the threads of a block stand between two of their events.
  struct Standing;
  Standing standing() const;
  void stand(const Standing& standing);
  void thread_ends(int thread);
  LaneMask live(unsigned warp) const { return live_[warp]; }
  /// The calls in which a thread stands, as far as it has been replayed.
  CallPaths::Path path_of(int thread) const { return lanes_[static_cast<std::size_t>(thread)].path(); }
  /// Consumes what is certain of a warp's traces. Lanes of `unfinished` will do more: what they do next is
  /// not known when their traces end, and the others wait there.
  void drain(unsigned warp, LaneMask unfinished);
  /// Where drain() has stopped since a thread has had its turn after others there: which one. Nothing: not
  /// for that reason.
  std::optional<std::uint64_t> turn(unsigned warp);
  void take_turn(unsigned warp);  ///< what came before has been heard
  LaneMask not_ended(unsigned warp) const;

 private:
  static constexpr unsigned kMostCalls = 64;  // deeper ones count as the deepest
  static constexpr std::uint64_t kNoMeeting = ~std::uint64_t{0};
  struct Lane {
    bool ended = false;
    unsigned depth = 0;
    std::uint64_t met = kNoMeeting;     ///< a warp operation that was executed before its trace had it
    CallPaths::Path paths[kMostCalls];  ///< by depth, from the outermost call on
    CallPaths::Path path() const { return depth == 0 ? 0 : paths[std::min(depth, kMostCalls) - 1]; }
  };

  /// The first of the warp's lanes whose next event is its turn; 32: none.
  unsigned lane_with_turn(unsigned warp);
  ThreadTrace& trace(unsigned warp, unsigned lane) { return recorder_.threads[warp * 32 + lane]; }
  void step_together(unsigned warp, LaneMask lanes);
  void step_apart(unsigned warp, LaneMask lanes);
  LaneMask first_to_go(unsigned warp, LaneMask lanes);
  static bool all_met(LaneMask lanes, std::uint64_t second);
  /// @brief With the other lanes of the operation, which have not run since: all that they did before is
  /// known. Once their traces have it, it is left out.
  LaneMask with_silent_lanes(unsigned warp, LaneMask group);
  void execute(unsigned warp, LaneMask lanes, Event event, std::uint64_t differing);

  Recorder& recorder_;
  CallPaths& paths_;
  const MergedBlocks& merged_;
  Listener& listener_;
  std::vector<Lane> lanes_;
  std::vector<LaneMask> live_;  ///< by warp
  // Of the event in hand.
  std::uint64_t offsets_[32], seconds_[32];
};

struct Replay::Standing {
  std::vector<Lane> lanes;
  std::vector<LaneMask> live;
};
inline Replay::Standing Replay::standing() const { return {lanes_, live_}; }
inline void Replay::stand(const Standing& standing) { lanes_ = standing.lanes, live_ = standing.live; }

}  // namespace simt::check
