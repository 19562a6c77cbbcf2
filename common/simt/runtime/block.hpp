#pragma once
/// @file
/// Runs the threads of one block on one operating-system thread.
///
/// Every CUDA thread is a fiber that runs until it has to wait. A thread that never waits costs no switch:
/// the fiber that finished one thread starts the next.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "simt/control.hpp"
#include "simt/runtime/async_copy.hpp"
#include "simt/runtime/device_profile.hpp"
#include "simt/runtime/fault.hpp"
#include "simt/runtime/fiber.hpp"
#include "simt/runtime/observer.hpp"
#include "simt/runtime/shared_memory.hpp"
#include "simt/runtime/warp.hpp"
#include "simt/shim/simt_abi.h"
#include "simt/shim/simt_vector_types.h"

namespace simt {

/// A launch by a thread of a kernel. It waits until the grid of that kernel has ended: no thread can wait for
/// it, and nothing else is promised but the order within a stream of a block.
struct NestedLaunch {
  SimtLaunch request{};             ///< without its arguments
  std::shared_ptr<void> arguments;  ///< a copy
  std::uint64_t block = 0;          ///< that it comes from
  unsigned depth = 1;               ///< how many kernels it comes from
  CallStack caller;
};

/// What all blocks of a launch share.
struct LaunchContext {
  dim3 grid, block;
  std::size_t dynamic_shared_bytes = 0;
  const KernelModule* module = nullptr;  ///< holds the kernel's code
  void (*invoke)(void*) = nullptr;
  void* arguments = nullptr;
  Order order = Order::forward;
  std::uint64_t seed = 0;
  bool cooperative = false;
  bool block_left = false;         ///< of a cooperative launch: one has ended, and the others wait for it
  std::atomic<bool> stop = false;  ///< set by the watchdog: threads give up where the runtime sees them
  std::mutex nested_mutex;
  std::vector<NestedLaunch> nested;
};

/// True for an address within threadIdx and its like, as the calling thread sees them.
bool is_builtin_variable(std::uintptr_t address);

/// An instruction that the lanes of a warp execute as one (`.sync.aligned`).
struct AlignedInstruction {
  const char* name;     ///< as messages say it: "ldmatrix"
  std::uint64_t which;  ///< shape, types, modifiers: all lanes must agree in it
  std::uint32_t work;   ///< what it does, for counters: see MatrixWork
  /// Does it for all lanes that are there. operands[lane] is what the lane gave; null if it is not there.
  void (*perform)(std::uint64_t which, void* const (&operands)[32]);
};

class BlockRunner {
 public:
  /// With that buffer for dynamic shared memory, which other runners of the same operating-system thread may
  /// have as well: see go_on().
  explicit BlockRunner(void* dynamic_shared) : dynamic_shared_(dynamic_shared) {}

  /// The runner that executes a kernel on this operating-system thread right now; null in host code.
  static BlockRunner* current() { return current_; }
  /// The same, for what exists only inside kernels. Throws std::logic_error in host code.
  static BlockRunner& in_kernel(const char* what) {
    if (current_ == nullptr) [[unlikely]]
      throw_in_host_code(what);
    return *current_;
  }

  enum class Progress {
    ended,
    faulted,         ///< fault() tells
    waits_for_grid,  ///< in grid.sync(), with all threads
    gave_way,        ///< one of its threads spins, perhaps for another block
  };
  /// Runs one block to its end, or until others must run first.
  Progress run(LaunchContext& launch, uint3 block_index, std::uint64_t block_number);
  /// Others have run, in the same place of shared memory; the block goes on with what it had there.
  Progress go_on();
  /// It will not go on.
  void abandon();
  /// Leaves nothing where host code could read it, on stacks and in shared memory, once a launch has ended.
  void wipe();

  const RawFault& fault() const { return fault_; }

  /// Tells `observer` about the blocks that run from now on; null: nobody. Observed threads run slower.
  void observe(BlockObserver* observer) { observer_ = observer; }
  /// Called by an observer's hooks in a kernel: the running thread waits until the rest of its warp has run
  /// as far as it can and the observer has been told of it.
  void pause();

  // What kernel code calls, through the functions of simt_abi.h.
  // `caller` is the address inside the call, for messages.
  int barrier(SimtBarrier kind, int predicate, std::uintptr_t caller);
  void sync_grid(std::uintptr_t caller);
  bool is_cooperative() const { return launch_->cooperative; }
  std::uint64_t shuffle(SimtShuffle kind, LaneMask mask, std::uint64_t value, unsigned source,
                        std::uintptr_t caller);
  /// What the lanes of a mask have brought, where it lies, until the thread gives way. On its stack, where a
  /// kernel reads without a hook, nothing of it may be left.
  struct Brought {
    LaneMask lanes;
    const std::uint64_t* values;  ///< by lane
  };
  Brought gather(SimtWarpOp op, LaneMask mask, std::uint64_t value, std::uintptr_t caller);
  /// simt_op_match_any: the lanes that have brought the same value. simt_op_match_all: all, or none unless
  /// all have.
  LaneMask match(SimtWarpOp op, LaneMask mask, std::uint64_t value, std::uintptr_t caller);
  /// One number of all that the lanes have brought, by one of simt_op_reduce_add to simt_op_reduce_xor.
  std::uint32_t reduce(SimtWarpOp op, bool is_signed, LaneMask mask, std::uint32_t value,
                       std::uintptr_t caller);
  LaneMask ballot(SimtWarpOp op, LaneMask mask, bool predicate, std::uintptr_t caller);
  /// Waits for the whole warp; then the first lane that goes on does it for all.
  void together(const AlignedInstruction& instruction, void* operands, std::uintptr_t caller);
  /// Before an instruction of the warp that moves matrices: what this lane's address is used for.
  void use_matrix_row(const MatrixRow& row, std::uintptr_t caller);
  /// Counts special functions that the runtime computes; those of compiled code are counted where they are.
  void special_functions(unsigned count, std::uintptr_t caller) {
    if (observer_ != nullptr) observer_->special_functions(count, caller);
  }
  /// Likewise, sums and products of floats.
  void float_operations(unsigned count, std::uintptr_t caller) {
    if (observer_ != nullptr) observer_->float_operations(count, caller);
  }
  /// bar.sync and bar.arrive: the lanes of a warp come to it as one.
  struct NamedBarrier {
    unsigned number;   ///< 0 to 15; beyond, one of a tile of several warps
    unsigned threads;  ///< that it waits for; 0: for all of the block
    bool waits;
    bool vote = false;  ///< what this thread brings to bar.red
  };
  /// Returns what the threads that waited with this one brought.
  Votes named_barrier(NamedBarrier to, std::uintptr_t caller);
  // Of tiles of several warps: see simt_tile_abi.h.
  void sync_tile(unsigned threads, std::uintptr_t caller);
  void put_for_tile(std::uint64_t value) {
    tile_values_.resize(thread_indices_.size());
    tile_values_[static_cast<std::size_t>(running_)] = value;
  }
  std::uint64_t value_of_tile(unsigned rank, std::uintptr_t caller) {
    tell_exchange(caller);
    return tile_values_.at(rank);
  }
  void tell_exchange(std::uintptr_t caller) {
    if (observer_ != nullptr) observer_->value_exchanged(caller);
  }
  void spin_hint();  ///< a thread may be spinning here, and gives way to others now and then
  void give_way();   ///< it spins, and others have their turn before it goes on
  void tell_phase_end() {
    if (observer_ != nullptr) observer_->phase_ends();
  }
  unsigned lane() const { return static_cast<unsigned>(running_) % kWarpSize; }
  unsigned warp() const { return static_cast<unsigned>(running_) / kWarpSize; }
  LaneMask active_lanes(std::uintptr_t caller);
  void issue_copy(const AsyncCopy& copy, std::uintptr_t caller);
  void commit_copies(std::uintptr_t caller);
  void land_copies(unsigned batches_in_flight, std::uintptr_t caller);
  /// What the thread has issued since its last commit lands when a phase of that barrier ends.
  void bind_copies(const void* barrier, std::uintptr_t caller);
  void land_bound_copies(const void* barrier, std::uintptr_t caller);
  void* dynamic_shared() { return dynamic_shared_; }
  std::size_t dynamic_shared_bytes() const { return launch_->dynamic_shared_bytes; }
  const LaunchContext& launch() const { return *launch_; }
  /// The launch gets the number of the running block.
  void launch_nested(NestedLaunch launch);
  uint3 thread_index() const { return thread_indices_[static_cast<std::size_t>(running_)]; }
  uint3 block_index() const;
  // The 32-bit window through which PTX sees shared memory.
  std::uint32_t to_shared(const void* address);
  void* from_shared(std::uint64_t shared_address);  ///< does not return if nothing is there
  bool is_shared(const void* address) const;
  bool is_on_stack(const void* address) const;
  /// Ends the running thread from within the functions that it has called.
  [[noreturn]] void exit_thread();
  void note_throw() { throw_stack_ = CallStack::here(); }
  [[noreturn]] void raise(FaultKind kind, const char* text);
  /// A fault at an address, noticed before the access.
  [[noreturn]] void raise_access(FaultKind kind, const void* address);

  // What the signal handler calls: notes the fault, and names the stack on which leave_block() may run.
  RawFault& begin_fault(FaultKind kind);
  void* stack_to_leave_from() const { return fiber_->top(); }
  bool stack_guard_hit(const void* address) const { return fibers_.guard_hit(address) != nullptr; }
  bool open_rest_of_stack(const void* address) { return fibers_.open_rest(address); }
  bool is_on_a_stack(const void* address) const { return fibers_.contains(address); }
  bool stop_requested() const { return launch_->stop; }
  bool in_kernel_module(std::uintptr_t pc) const { return launch_->module->contains(pc); }
  /// Abandons the block: run() or go_on() returns. Never returns to its caller.
  [[noreturn]] void leave_block();

 private:
  struct Thread {
    Fiber* fiber = nullptr;       ///< on which it runs, once it has started
    StackPlace place = nullptr;   ///< where it goes on then
    std::uintptr_t waits_at = 0;  ///< the call in which it waits
    unsigned spins = 0;
    LaneMask converged = 0;          ///< the answer of its last __activemask()
    std::uint64_t converged_in = 0;  ///< the number of that meeting, for the observer
  };
  static constexpr int kNone = -1;

  [[noreturn]] static void throw_in_host_code(const char* what);
  AsyncCopies& async_copies();  ///< of the running thread
  void land(const AsyncCopy& copy, int issuer, std::uintptr_t caller);

  // What lies on the way from the kernel's code to the switch is inlined (SIMT_INLINE): after a switch, the
  // processor may mispredict every return up to there. See SIMT_RETURN_BY_JUMP.
#define SIMT_INLINE __attribute__((always_inline)) inline
  static void fiber_main();
  Progress work_from(StackPlace place);
  void let_others_run(Progress why);
  void run_threads();
  void start_thread(int thread);
  void finish_thread();
  SIMT_INLINE void wait(int self, std::uintptr_t caller);
  SIMT_INLINE void run_instead(int self, int next);
  SIMT_INLINE int meet_at_barrier(SimtBarrier kind, int predicate, std::uintptr_t caller);
  /// Returns as usual: with all that an observer has threads do between two barriers, jumps are predicted
  /// worse.
  int observed_barrier(SimtBarrier kind, int predicate, std::uintptr_t caller);
  Fiber& idle_fiber();
  void wipe_own_stack();
  void rewind();
  SIMT_INLINE void switch_to(Fiber& target, StackPlace& suspended);
  SIMT_INLINE void resume(int thread, StackPlace& suspended);
  SIMT_INLINE void make_running(int thread);
  /// Whose turn it is; kNone if nobody is ready. As a rule, it is the next lane.
  SIMT_INLINE int next_ready() {
    const int lane = lane_cursor_ + 1;  // 33 at most
    if (launch_->order != Order::forward || (std::uint64_t{warps_[warp_cursor_].ready} >> lane & 1u) == 0)
        [[unlikely]]
      return find_ready();
    lane_cursor_ = lane;
    return static_cast<int>(warp_cursor_) * kWarpSize + lane;
  }
  int find_ready();
  bool last_of_its_turn(int thread) const;
  void turn_to_next_warp();
  int pick_in_warp(std::size_t warp_number);
  bool release_barrier();
  bool release_converged(bool though_others_run = false);
  bool release_paused();
  bool release_named();  ///< those that wait for all threads of the block, of which some have left
  Votes come_to_barrier(NamedBarrier to, std::uintptr_t caller);
  void come_to_named(Rendezvous& meeting, NamedBarrier to, std::uintptr_t caller);
  void open_named(unsigned number);
  bool release_any() {
    return release_paused() || release_converged() || release_barrier() || release_named();
  }
  void release_paused_lanes(std::size_t warp_number);
  void release_all_paused(std::size_t warp_number);
  void tell_barrier();
  void find_static_shared(const KernelModule& module);
  bool finished() const { return live_ == 0; }
  [[noreturn]] void raise_other_shuffle(SimtShuffle mine, SimtShuffle of_others);
  [[noreturn]] void report_deadlock();
  std::vector<RawWaiting> call_the_roll();
  CallStack ask_where(int thread);
  [[noreturn]] void answer_roll_call();
  void prepare(LaunchContext& launch, uint3 block_index, std::uint64_t block_number);
  SIMT_INLINE Rendezvous& meet(SimtWarpOp op, LaneMask mask);
  SIMT_INLINE LaneMask arrive(Rendezvous& meeting, std::uintptr_t caller);
  SIMT_INLINE void take_result(Rendezvous& meeting) {
    meeting.unread &= ~bit_of(running_);
    if (meeting.unread == 0) meeting.mask = 0;
  }
  void wait_long(std::uintptr_t caller);  ///< wait(), for those in no hurry

  Warp& warp_of(int thread) { return warps_[static_cast<unsigned>(thread) / kWarpSize]; }
  const Warp& warp_of(int thread) const { return warps_[static_cast<unsigned>(thread) / kWarpSize]; }
  static LaneMask bit_of(int thread) { return LaneMask{1} << (thread % kWarpSize); }
  std::uint64_t random();

  static constinit thread_local BlockRunner* current_;
  LaunchContext* launch_ = nullptr;
  BlockObserver* observer_ = nullptr;
  FiberPool fibers_;
  Fiber* fiber_ = nullptr;             ///< the one that runs
  StackPlace home_ = nullptr;          ///< run(), on the operating-system thread's own stack
  bool wipe_pending_ = false;          ///< run() is to wipe the stack that switched to it, and to go on there
  std::vector<Thread> threads_;        ///< and two that are none: see resume()
  std::vector<uint3> thread_indices_;  ///< threadIdx of each thread, for the current block shape
  dim3 shape_{0, 0, 0};
  std::vector<Warp> warps_;
  std::vector<std::uintptr_t> barrier_callers_;  ///< for the observer
  std::vector<AsyncCopies> copies_;              ///< one for each thread; empty until a thread uses them
  struct BoundCopy {
    AsyncCopy copy;
    int thread;
    const void* barrier;
  };
  std::vector<BoundCopy> bound_copies_;  ///< that have not landed
  /// What bar.sync and bar.arrive of one number wait for.
  struct Gathering {
    unsigned threads = 0, arrived = 0;  ///< of whole warps: 32 each
    Votes votes;
    std::vector<std::size_t> waiting;  ///< the warps that wait
  };
  /// The numbers after those of bar.sync are those of tiles: 16 of 64 threads, 8 of 128, 4 of 256, 2 of 512.
  static constexpr unsigned kNamedBarriers = 16, kMostTiles = 30;
  std::array<Gathering, kNamedBarriers + kMostTiles> gatherings_;
  std::vector<std::uint64_t> tile_values_;  ///< by thread
  std::byte* static_shared_ =
      nullptr;  ///< where the window's static part lies, at a multiple of its alignment
  std::size_t warp_cursor_ = 0;
  int lane_cursor_ = 0;
  int running_ = kNone;
  int pending_ = kNone;  ///< chosen for a fiber that is about to be resumed
  int live_ = 0;
  SimtBarrier barrier_kind_ = simt_barrier_plain;
  int barrier_sum_ = 0, barrier_result_ = 0;
  std::uint64_t block_number_ = 0;
  uint3 block_index_{};
  // Of a block that lets others run.
  Progress progress_ = Progress::ended;
  StackPlace goes_on_at_ = nullptr;
  std::vector<std::byte> shared_values_;
  bool grid_opened_ = false;  ///< a thread of the block has waited for the other blocks
  std::uint64_t random_state_ = 0;
  RawFault fault_;
  CallStack* roll_call_ = nullptr;  ///< where a waiting thread that is resumed says where it stands
  Fiber* asking_fiber_ = nullptr;
  CallStack throw_stack_;  ///< where the last exception was thrown
  void* dynamic_shared_ = nullptr;
};

}  // namespace simt
