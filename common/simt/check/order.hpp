#pragma once
/// @file
/// Which accesses of a launch are ordered, by the rules of CUDA's memory model and not by the order in which
/// the simulator happens to run them.
///
/// An access happens before another if both are of one thread; if a __syncthreads() of their block lies
/// between; if a __syncwarp() that names both lanes lies between; or if the first thread released it (a
/// fence, then an atomic on some location) and the second acquired it (an atomic on that location, then a
/// fence or a
/// __syncthreads()). All of these chain.

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "simt/check/event.hpp"
#include "simt/check/shadow.hpp"
#include "simt/runtime/warp.hpp"

namespace simt::check {

/// From narrow to wide. Fences of a thread's scope order nothing, and are not told.
enum class FenceScope : unsigned { thread, block, device };

/// What a thread knows to have happened: of each block, everything up to a step, and of some of its threads
/// more than that.
class Knowledge {
 public:
  bool empty() const { return blocks_.empty(); }
  bool covers(std::uint32_t block, unsigned thread, Step step) const;
  void learn(std::uint32_t block, Step all_threads);
  void learn(std::uint32_t block, unsigned thread, Step step);
  void learn(const Knowledge& other);

 private:
  struct OfBlock {
    Step all_threads = 0;
    std::vector<Step> threads;  ///< by thread, as far as any is known: barriers made of atomics know all
  };
  std::map<std::uint32_t, OfBlock> blocks_;
};

class Order {
 public:
  void begin_launch();  ///< may ask the shadow to forget: see stamps_expired()
  /// True once after steps ran out and began again: stamps of earlier launches mean nothing any more.
  bool stamps_expired();
  void begin_block(int threads);
  void end_epoch();  ///< a __syncthreads() opened

  Step step_of(unsigned warp) const { return warp_steps_[warp]; }
  Step first_of_launch() const { return launch_first_; }
  Step last() const { return last_step_; }
  Step first_of_block() const { return block_first_; }
  Step first_of_epoch() const { return epoch_first_; }
  /// Which block of the launch, in the order in which they began, made that step.
  std::uint32_t block_of(Step step) const { return block_of(step, block_starts_); }
  static std::uint32_t block_of(Step step, const std::vector<Step>& block_starts);
  const std::vector<Step>& block_starts() const { return block_starts_; }
  std::uint32_t block() const { return static_cast<std::uint32_t>(block_starts_.size()) - 1; }

  /// True as long as no fence was met in this launch: then atomics order nothing.
  bool trivial() const { return !any_fence_; }

  void join(unsigned warp, LaneMask lanes);  ///< a __syncwarp() of those lanes
  // bar.sync and bar.arrive with a number: what the threads of a warp know is handed over there, and taken
  // over by those that wait until it opens.
  void hand_over(unsigned barrier, unsigned warp, LaneMask lanes);
  void take_over(unsigned barrier, unsigned warp, LaneMask lanes);
  void end_hand_over(unsigned barrier);
  void fence(unsigned thread, FenceScope scope);
  /// An atomic access, or one to a volatile flag: hands on what the thread released, takes what it finds.
  /// `offset` is within the space; shared memory is another one in each block.
  void meet_at(Space space, std::uint64_t offset, unsigned thread, bool reads, bool writes);

  /// True if the access happened before what `thread` does now. For accesses of another thread in this
  /// launch.
  bool happened_before(const Stamp& access, unsigned thread) const;

 private:
  struct Fences {
    Step own = 0;          ///< of the thread's last fence
    Step epoch_first = 0;  ///< of the epoch of that fence: it covers what lay before for all threads
    unsigned number = 0;   ///< of the thread among those that have fenced
  };
  /// One of the two scopes: fences of the device, and those of the block (which the former are as well).
  struct Scope {
    std::unordered_map<std::uint64_t, Knowledge> locations[2];  ///< by space and offset
    std::vector<Fences> fences;                                 ///< by thread
    std::vector<unsigned> fenced;                               ///< the threads that have an entry there
    /// By number: the last step of each lane of the warp that a __syncwarp() had ordered before the fence.
    std::vector<std::array<Step, 32>> seen_at_fence;
    std::vector<Knowledge> threads;          ///< what a thread has acquired
    std::vector<Knowledge> pending;          ///< what it will have acquired with its next fence
    Knowledge block;                         ///< what all threads know since the last barrier
    std::map<unsigned, Knowledge> barriers;  ///< by number: what was handed over
    bool any_thread_knows = false;
  };
  Step advance() { return ++last_step_; }
  /// The last step of another lane of its warp that is ordered before what the thread does now.
  Step seen(unsigned thread, unsigned lane) const { return seen_[std::size_t{thread} * 32 + lane]; }
  Knowledge released_by(const Scope& scope, unsigned thread) const;

  Step last_step_ = 0, launch_first_ = 1, block_first_ = 1, epoch_first_ = 1;
  bool expired_ = false, any_fence_ = false;
  std::vector<Step> warp_steps_;
  std::vector<Step> seen_;  ///< [warp][lane][other lane]: the last step of the other that is ordered before
  std::vector<Step> block_starts_;
  Scope scopes_[2];
};

}  // namespace simt::check
