#pragma once
/// @file
/// Stacks for CUDA threads, and switching between them.
///
/// The low-level interface of Boost.Context is used because a block that faults must abandon its threads
/// where they stand: `boost::context::fiber` would unwind each of them through frames that a signal
/// interrupted. A stack that was abandoned is simply started afresh.

#include <boost/context/detail/fcontext.hpp>
#include <cstddef>
#include <memory>
#include <vector>

namespace simt {

namespace fcontext = boost::context::detail;

inline constexpr std::size_t kStackBytes = 64 * 1024;  ///< printf of a float takes 10.7 KB of it

/// One stack with a guard page below it. Only the stacks of a grid whose blocks all run at once can be so
/// many that some have none.
class Fiber {
 public:
  explicit Fiber(std::size_t index);
  ~Fiber();
  Fiber(const Fiber&) = delete;
  Fiber& operator=(const Fiber&) = delete;

  /// Where the stack begins (it grows downwards). Fibers begin at different offsets within a page: with
  /// equal ones, the hot ends of a thousand stacks would share a handful of cache sets.
  void* top() const { return top_; }
  bool guard_contains(const void* address) const;
  void forget_frames();  ///< whatever ran here will not go on; context becomes null
  void wipe();           ///< zeroes below the frames that are to go on

  fcontext::fcontext_t context = nullptr;  ///< where to resume; null until started
  bool used = false;                       ///< since it was wiped

 private:
  bool guarded_;
  std::byte* base_ = nullptr;  ///< of the guard page
  std::byte* top_ = nullptr;
};

/// All stacks of one operating-system thread. Grows on demand, never shrinks.
class FiberPool {
 public:
  Fiber& take();  ///< an idle fiber, or a new one with context == nullptr
  void give_back(Fiber& fiber) { idle_.push_back(&fiber); }
  void abandon_all();  ///< every fiber becomes idle and unstarted
  const Fiber* guard_hit(const void* address) const;
  void wipe();  ///< what threads left on idle fibers

 private:
  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::vector<Fiber*> idle_;
};

}  // namespace simt
