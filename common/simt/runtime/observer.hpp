#pragma once
/// @file
/// What a block tells about itself while it runs, to whoever wants to judge it (common/simt/check).

#include <cstdint>

#include "simt/runtime/async_copy.hpp"
#include "simt/runtime/warp.hpp"
#include "simt/shim/simt_vector_types.h"

namespace simt {

struct LaunchContext;

/// A warp operation that came about.
struct LanesMet {
  SimtWarpOp op;
  std::uint64_t number;   ///< of the meeting: the lanes of one meeting share it, and no other meeting has it
  LaneMask lanes;         ///< that took part
  std::uintptr_t caller;  ///< inside the call
  std::uintptr_t first_caller;  ///< of an instruction of the whole warp: the call of the lane that came first
  std::uint32_t work;           ///< of such an instruction: see MatrixWork
};

inline constexpr unsigned kMatrixRowBytes = 16;

/// What a lane gives ldmatrix or stmatrix: the row of a matrix of 8 x 8 elements of 16 bits, in shared
/// memory.
struct MatrixRow {
  const void* address;  ///< null if this lane's is not looked at
  unsigned matrices;    ///< 1, 2 or 4
  bool transposed;
  bool writes;
};

/// A shuffle that reads a lane which gives nothing.
struct InactiveLane {
  unsigned source;
  bool exited;  ///< it returned from the kernel; false: it is not among the lanes that take part
  std::uintptr_t caller;
};

/// Threads are numbered within the block as CUDA numbers them: x first, then y, then z.
class BlockObserver {
 public:
  virtual ~BlockObserver() = default;

  virtual void block_begins(const LaunchContext& launch, uint3 index, std::uint64_t number) = 0;
  /// Of a cooperative launch: all threads of the block wait for the grid, while other blocks run; they go on.
  virtual void block_waits_for_grid() {}
  virtual void block_goes_on(const LaunchContext& /*launch*/, std::uint64_t /*number*/) {}
  virtual void block_ends() = 0;  ///< also after a fault, with threads left where they stood
  /// That thread has the operating-system thread from now on; its stack ends below `stack_top`.
  virtual void thread_runs(int thread, const void* stack_top) = 0;
  /// The running thread may wait for what another one does to memory, and lets others run.
  virtual void thread_gives_way() {}
  virtual void thread_ends(int thread) = 0;
  /// All threads that live wait in __syncthreads(), each in the call at waits_at[thread] (0: it has
  /// returned).
  virtual void barrier_opens(const std::uintptr_t* waits_at, int threads) = 0;
  /// What the block's threads have done so far comes before whatever they do from now on.
  virtual void phase_ends() = 0;
  /// All lanes of a warp have come to the barrier of that number, from the call at `caller`; those of them
  /// that wait go on when it opens.
  virtual void named_barrier_reached(unsigned /*number*/, int /*warp*/, std::uintptr_t /*caller*/) {}
  virtual void named_barrier_opens(unsigned /*number*/, const std::vector<std::size_t>& /*waiting_warps*/) {}
  /// The running thread comes back from a warp operation.
  virtual void lanes_met(const LanesMet& met) = 0;
  virtual void inactive_lane(const InactiveLane& lane) = 0;
  /// The running thread gets a value of another one, neither through memory of the kernel's nor by an
  /// operation of the warp that lanes_met() tells of.
  virtual void value_exchanged(std::uintptr_t caller) = 0;
  virtual void matrix_row(const MatrixRow& row, std::uintptr_t caller) = 0;
  virtual void misaligned_row(const MatrixRow& row, std::uintptr_t caller) = 0;
  /// The running thread has computed so many exponentials, reciprocals, roots or their like within the
  /// runtime.
  virtual void special_functions(unsigned count, std::uintptr_t caller) = 0;
  /// Likewise, sums and products of floats, or both in one.
  virtual void float_operations(unsigned count, std::uintptr_t caller) = 0;
  /// The lanes of a warp have run as far as they can; those of `unfinished` only because they were paused.
  /// Returns those that need not go on waiting: at least one of `unfinished`.
  virtual LaneMask warp_pauses(int warp, LaneMask unfinished) = 0;
  /// Those lanes go on, although warp_pauses() would let them wait: another lane waits for what they do.
  virtual void lanes_must_go_on(int warp, LaneMask lanes) = 0;
  virtual void async_copy_issued(const AsyncCopy& copy, std::uintptr_t caller) = 0;
  /// A copy of `issuer` lands, by what the running thread does.
  virtual void async_copy_lands(const AsyncCopy& copy, int issuer, std::uintptr_t caller) = 0;
  /// The running thread's copy is none of a batch any more, and lands when a phase of a cuda::barrier ends.
  virtual void async_copy_bound(const AsyncCopy& copy, std::uintptr_t caller) = 0;
  virtual void async_copies_committed(std::uintptr_t caller) = 0;
  /// Comes before what lands by that wait.
  virtual void async_copies_awaited(unsigned batches_in_flight, std::uintptr_t caller) = 0;
};

}  // namespace simt
