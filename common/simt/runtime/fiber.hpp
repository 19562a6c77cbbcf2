#pragma once
/// @file
/// Stacks for CUDA threads, and switching between them.
///
/// Nothing of a stack is unwound: a block that faults abandons its threads where they stand, maybe in frames
/// that a signal interrupted. A stack that was abandoned is simply started afresh.

#include <cstddef>
#include <memory>
#include <vector>

#include "simt/runtime/context_switch.hpp"

namespace simt {

inline constexpr std::size_t kStackBytes = 64 * 1024;  ///< printf of a float takes 10.7 KB of it

/// One stack with a guard page below it. Only the stacks of a grid whose blocks all run at once can be so
/// many that some have none. Most threads need little of theirs: where the system can guard pages cheaply,
/// the rest is guarded, too, until somebody touches it, so that there is less to wipe.
class Fiber {
 public:
  /// `memory` has room for a guard page and a stack.
  Fiber(std::byte* memory, std::size_t index);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Where the stack begins (it grows downwards). Fibers begin at different offsets within a page: with
  /// equal ones, the hot ends of a thousand stacks would share a handful of cache sets.
  void* top() const { return top_; }
  bool guard_contains(const void* address) const;
  /// In the handler of a fault. True: the rest of the stack was guarded, and has been opened.
  bool open_rest(const void* address);
  void forget_frames();  ///< whatever ran here will not go on; context becomes null
  void wipe();           ///< zeroes below the frames that are to go on

  StackPlace context = nullptr;  ///< where to resume; null until started
  bool used = false;             ///< since its pool was wiped
  bool fresh = true;             ///< nothing has run here yet

 private:
  bool guarded_, whole_ = true;  ///< it is all open but the guard page
  std::byte* base_ = nullptr;    ///< of the guard page
  std::byte* top_ = nullptr;
};

/// All stacks of one operating-system thread. Grows on demand, never shrinks.
class FiberPool {
 public:
  FiberPool() = default;
  ~FiberPool();
  FiberPool(const FiberPool&) = delete;
  FiberPool& operator=(const FiberPool&) = delete;
  Fiber& take();  ///< an idle fiber, or a new one with context == nullptr
  void give_back(Fiber& fiber) { idle_.push_back(&fiber); }
  void abandon_all();  ///< every fiber becomes idle and unstarted
  const Fiber* guard_hit(const void* address) const;
  bool contains(const void* address) const;  ///< on one of the stacks, in use or not
  bool open_rest(const void* address);       ///< of the stack on which that is: see Fiber
  void wipe();                               ///< what threads left on idle fibers

 private:
  std::byte* room_for_one();
  std::size_t slab_with(const void* address) const;

  std::vector<std::byte*> slabs_;  ///< each for kFibersOfSlab
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
};

}  // namespace simt
