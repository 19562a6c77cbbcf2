#include "simt/runtime/block.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <utility>

#include "simt/runtime/host_libraries.hpp"

// The built-in variables of simt_kernel.h. Kernels see them as const; here they are written at each turn.
constinit thread_local uint3 threadIdx{};
constinit thread_local uint3 blockIdx{};
constinit thread_local dim3 blockDim{};
constinit thread_local dim3 gridDim{};

namespace simt {
namespace {

/// A thread that spins on atomics gives way after this many.
constexpr unsigned kSpinsBeforeYield = 64;
/// After so many, a lane of its own warp that waits in __activemask() goes on without it.
constexpr unsigned kSpinsBeforeParting = 4096;
constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kLookAhead = 2;

}  // namespace

bool is_builtin_variable(std::uintptr_t address) {
  const auto within = [address](const auto& variable) {
    return address - reinterpret_cast<std::uintptr_t>(&variable) < sizeof variable;
  };
  return within(blockDim) || within(gridDim) || within(threadIdx) || within(blockIdx);
}

uint3 BlockRunner::block_index() const { return blockIdx; }

constinit thread_local BlockRunner* BlockRunner::current_ = nullptr;

void BlockRunner::throw_in_host_code(const char* what) {
  throw std::logic_error(std::string(what) + " was called by host code; it exists only inside kernels");
}

void BlockRunner::prepare(LaunchContext& launch, uint3 block_index, std::uint64_t block_number) {
  const int count = static_cast<int>(launch.block.x * launch.block.y * launch.block.z);
  if (shape_.x != launch.block.x || shape_.y != launch.block.y || shape_.z != launch.block.z) {
    shape_ = launch.block;
    thread_indices_.clear();
    for (unsigned z = 0; z < shape_.z; ++z)
      for (unsigned y = 0; y < shape_.y; ++y)
        for (unsigned x = 0; x < shape_.x; ++x) thread_indices_.push_back(make_uint3(x, y, z));
    threads_.assign(static_cast<std::size_t>(count) + kLookAhead, Thread{});
    warps_.resize(static_cast<std::size_t>((count + kWarpSize - 1) / kWarpSize));
  }
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    const int lanes = std::min(kWarpSize, count - static_cast<int>(w) * kWarpSize);
    warps_[w].start(lanes == kWarpSize ? ~LaneMask{0} : (LaneMask{1} << lanes) - 1);
  }
  launch_ = &launch;
  live_ = count;
  barrier_sum_ = 0;
  for (AsyncCopies& copies : copies_) copies.clear();
  bound_copies_.clear();
  for (Gathering& gathering : gatherings_)
    gathering.arrived = gathering.threads = 0, gathering.votes = {}, gathering.waiting.clear();
  find_static_shared(*launch.module);
  running_ = pending_ = kNone;
  random_state_ = launch.seed + block_number * 0x9e3779b97f4a7c15u;
  rewind();
  fault_ = RawFault{};
  block_index_ = block_index;
  block_number_ = block_number;
  if (observer_ != nullptr) observer_->block_begins(launch, block_index, block_number);
  poison_shared_memory(*launch.module, dynamic_shared_, launch.dynamic_shared_bytes);
}

BlockRunner::Progress BlockRunner::run(LaunchContext& launch, uint3 block_index, std::uint64_t block_number) {
  prepare(launch, block_index, block_number);
  fiber_ = &idle_fiber();
  return work_from(fiber_->context);
}

BlockRunner::Progress BlockRunner::go_on() {
  restore_shared_memory(*launch_->module, shared_values_, dynamic_shared_);
  if (observer_ != nullptr) observer_->block_goes_on(*launch_, block_number_);
  make_running(running_);
  return work_from(goes_on_at_);
}

// Back when the block has ended, was abandoned, or lets others run.
BlockRunner::Progress BlockRunner::work_from(StackPlace place) {
  current_ = this;
  blockIdx = block_index_;
  blockDim = launch_->block;
  gridDim = launch_->grid;
  progress_ = Progress::ended;
  switch_stack(home_, place);
  while (std::exchange(wipe_pending_, false)) {
    fiber_->wipe();
    switch_stack(home_, fiber_->context);
  }
  current_ = nullptr;
  threadIdx = blockIdx = uint3{};  // a kernel can store to them, by a cast, and host code can read them
  blockDim = gridDim = dim3{};
  if (progress_ != Progress::ended) {
    shared_values_ = shared_memory(*launch_->module, dynamic_shared_, launch_->dynamic_shared_bytes);
    return progress_;
  }
  if (observer_ != nullptr) observer_->block_ends();
  if (fault_.kind == FaultKind::none) return Progress::ended;
  abandon();
  return Progress::faulted;
}

void BlockRunner::let_others_run(Progress why) {
  progress_ = why;
  switch_stack(goes_on_at_, home_);
}

void BlockRunner::abandon() {
  for (Thread& thread : threads_) thread = Thread{};
  fibers_.abandon_all();
}

void BlockRunner::launch_nested(NestedLaunch launch) {
  launch.block = block_number_;
  const std::lock_guard lock(launch_->nested_mutex);
  launch_->nested.push_back(std::move(launch));
}

void BlockRunner::wipe() {
  fibers_.wipe();
  poison_shared_memory(*launch_->module, dynamic_shared_, launch_->dynamic_shared_bytes);
}

void BlockRunner::fiber_main() { current_->run_threads(); }

Fiber& BlockRunner::idle_fiber() {
  Fiber& fiber = fibers_.take();
  if (fiber.context == nullptr) {
    const bool fresh = std::exchange(fiber.fresh, false);
    if (observer_ != nullptr && !fresh) fiber.wipe();  // a thread that called exit may have left it
    fiber.context = new_stack<fiber_main>(fiber.top(), kStackBytes);
  }
  return fiber;
}

// In check mode, the next thread on this stack must not find what this one has kept there, uncounted. Only
// from another stack can it be wiped.
void BlockRunner::wipe_own_stack() {
  wipe_pending_ = true;
  switch_stack(fiber_->context, home_);
}

void BlockRunner::make_running(int thread) {
  running_ = thread;
  threadIdx = thread_indices_[static_cast<std::size_t>(thread)];
  if (observer_ == nullptr) return;
  observer_->thread_runs(thread, fiber_->top());
  clear_registers();  // of what the thread before has left there, no access would be told
}

// Suspends this fiber. Whoever switches to a fiber sets up what it will need, so that it goes on at once,
// with nothing to fetch from a stack that has become cold.
void BlockRunner::switch_to(Fiber& target, StackPlace& suspended) {
  fiber_ = &target;
  switch_stack(suspended, target.context);
}

// Goes on with a thread that waits and whose turn has come. The one two after it is likely to follow soon.
void BlockRunner::resume(int thread, StackPlace& suspended) {
  Thread& waiting = threads_[static_cast<std::size_t>(thread)];
  fiber_ = waiting.fiber;
  make_running(thread);
  const auto* const stack = static_cast<const std::byte*>((&waiting)[kLookAhead].place);
  __builtin_prefetch(stack, 1);
  __builtin_prefetch(stack + kCacheLine, 1);
  switch_stack(suspended, waiting.place);
}

// Suspends the running thread in favour of another; returns when its turn has come again.
void BlockRunner::run_instead(int self, int next) {
  Thread& waiting = threads_[static_cast<std::size_t>(self)];
  if (threads_[static_cast<std::size_t>(next)].fiber != nullptr) {
    resume(next, waiting.place);
  } else {
    pending_ = next;
    switch_to(idle_fiber(), waiting.place);
  }
}

// The thread goes on for as long as it takes to tell where it stands, and never again. Only a thread whose
// fiber waits can be asked.
CallStack BlockRunner::ask_where(int thread) {
  const Thread& asked = threads_[static_cast<std::size_t>(thread)];
  if (asked.fiber == nullptr) return CallStack::at(asked.waits_at);
  CallStack stack;
  roll_call_ = &stack;
  asking_fiber_ = fiber_;
  fiber_ = asked.fiber;
  switch_stack(asking_fiber_->context, asked.place);
  roll_call_ = nullptr;
  return stack;
}

void BlockRunner::answer_roll_call() {
  *roll_call_ = CallStack::here();
  switch_to(*asking_fiber_, fiber_->context);
  __builtin_unreachable();
}

// The running thread has cleared its ready bit. Returns when something set it again and its turn has come.
void BlockRunner::wait(int self, std::uintptr_t caller) {
  threads_[static_cast<std::size_t>(self)].waits_at = caller;
  if (launch_->stop.load(std::memory_order_relaxed)) raise(FaultKind::endless_loop, "");
  int next = next_ready();
  if (next == kNone && release_any()) next = next_ready();
  if (next == kNone) report_deadlock();
  if (next != self) run_instead(self, next);
  if (roll_call_ != nullptr) [[unlikely]]
    answer_roll_call();
}

void BlockRunner::wait_long(std::uintptr_t caller) { wait(running_, caller); }

// The loop of every fiber: run what is ready. Never returns; a fiber without work is idle in switch_to().
void BlockRunner::run_threads() {
  for (;;) {
    const int thread = pending_ != kNone ? std::exchange(pending_, kNone) : next_ready();
    if (thread == kNone) {
      if (release_any()) continue;
      if (!finished()) report_deadlock();
      fibers_.give_back(*fiber_);
      switch_stack(fiber_->context, home_);  // resumed by the next block's run()
    } else if (threads_[static_cast<std::size_t>(thread)].fiber != nullptr) {
      fibers_.give_back(*fiber_);
      resume(thread, fiber_->context);
    } else {
      start_thread(thread);
      if (observer_ != nullptr) wipe_own_stack();
    }
  }
}

void BlockRunner::start_thread(int thread) {
  threads_[static_cast<std::size_t>(thread)].fiber = fiber_;
  make_running(thread);
  char text[200];
  try {
    launch_->invoke(launch_->arguments);
    finish_thread();
    return;
  } catch (const std::exception& error) {
    std::snprintf(text, sizeof text, "%s", error.what());
  } catch (...) {
    const std::type_info* type = abi::__cxa_current_exception_type();
    int status = 0;
    char* name = type != nullptr ? abi::__cxa_demangle(type->name(), nullptr, nullptr, &status) : nullptr;
    std::snprintf(text, sizeof text, "an exception of type '%s'", name != nullptr ? name : "unknown");
    std::free(name);
  }
  RawFault& fault = begin_fault(FaultKind::exception);
  fault.stack = throw_stack_;
  fault.set_text(text);
  leave_block();
}

void BlockRunner::finish_thread() {
  if (observer_ != nullptr) observer_->thread_ends(running_);
  warp_of(running_).lane_exits(bit_of(running_));
  Thread& thread = threads_[static_cast<std::size_t>(running_)];
  thread.fiber = nullptr;
  thread.spins = 0;
  --live_;
  running_ = kNone;
  if (launch_->stop) {
    begin_fault(FaultKind::endless_loop);
    leave_block();
  }
}

// Nothing on this stack goes on: it will be started afresh. Another one, taken while this is in use, takes
// over.
void BlockRunner::exit_thread() {
  finish_thread();
  Fiber& left = *fiber_;
  fiber_ = &idle_fiber();
  left.forget_frames();
  fibers_.give_back(left);
  StackPlace abandoned = nullptr;
  switch_stack(abandoned, fiber_->context);
  __builtin_unreachable();
}

void BlockRunner::pause() {
  Warp& warp = warp_of(running_);
  if (threads_[static_cast<std::size_t>(running_)].spins != 0) observer_->thread_gives_way();
  warp.ready &= ~bit_of(running_);
  warp.paused |= bit_of(running_);
  if (warp.ready == 0) {
    release_paused_lanes(static_cast<std::size_t>(running_ / kWarpSize));
    if ((warp.ready & bit_of(running_)) != 0) return;  // it goes on at once: as good as any other lane
  }
  wait(running_, threads_[static_cast<std::size_t>(running_)].waits_at);
}

void BlockRunner::release_paused_lanes(std::size_t warp_number) {
  Warp& warp = warps_[warp_number];
  const LaneMask released =
      warp.paused & observer_->warp_pauses(static_cast<int>(warp_number), warp.paused | warp.ready);
  warp.paused &= ~released;
  warp.ready |= released;
}

// A lane that waits for what a paused one of its warp does would wait for ever.
void BlockRunner::release_all_paused(std::size_t warp_number) {
  Warp& warp = warps_[warp_number];
  if (warp.paused == 0) return;
  observer_->lanes_must_go_on(static_cast<int>(warp_number), warp.paused);
  warp.ready |= std::exchange(warp.paused, 0);
}

bool BlockRunner::release_paused() {
  bool any = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    if (warps_[w].paused == 0 || warps_[w].ready != 0) continue;
    release_paused_lanes(w);
    any = true;
  }
  return any;
}

// The lanes that come to the same __activemask() are one group, as if they ran in step: each waits there
// until no other can come. Of several groups in a warp, the one that is first in the code goes first.
SIMT_RETURN_BY_JUMP LaneMask BlockRunner::active_lanes(std::uintptr_t caller) {
  Warp& warp = warp_of(running_);
  const LaneMask self = bit_of(running_);
  Thread& thread = threads_[static_cast<std::size_t>(running_)];
  if (warp.live() == self) {
    thread.converged = self;
    thread.converged_in = warp.meetings_held++;
  } else {
    warp.ready &= ~self;
    warp.converging |= self;
    wait_long(caller);
  }
  // By the branch in which it asks, a lane tells the others a bit: a ballot in all but name.
  if (observer_ != nullptr)
    observer_->lanes_met({simt_op_ballot, thread.converged_in, thread.converged, caller, caller, 0});
  return thread.converged;
}

bool BlockRunner::release_converged(bool though_others_run) {
  bool any = false;
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    Warp& warp = warps_[w];
    if (warp.converging == 0 || (warp.ready != 0 && !though_others_run)) continue;
    Thread* const threads = &threads_[w * kWarpSize];
    std::uintptr_t site = ~std::uintptr_t{0};
    LaneMask group = 0;
    for (LaneMask rest = warp.converging; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (threads[lane].waits_at > site) continue;
      if (threads[lane].waits_at < site) group = 0;
      site = threads[lane].waits_at;
      group |= LaneMask{1} << lane;
    }
    const std::uint64_t meeting = warp.meetings_held++;
    for (LaneMask rest = group; rest != 0; rest &= rest - 1) {
      Thread& thread = threads[std::countr_zero(rest)];
      thread.converged = group;
      thread.converged_in = meeting;
    }
    warp.converging &= ~group;
    warp.ready |= group;
    any = true;
  }
  return any;
}

AsyncCopies& BlockRunner::async_copies() {
  if (copies_.size() < thread_indices_.size()) copies_.resize(thread_indices_.size());
  return copies_[static_cast<std::size_t>(running_)];
}

void BlockRunner::issue_copy(const AsyncCopy& copy, std::uintptr_t caller) {
  if (observer_ != nullptr) observer_->async_copy_issued(copy, caller);
  async_copies().issue(copy);
}

void BlockRunner::commit_copies(std::uintptr_t caller) {
  if (observer_ != nullptr) observer_->async_copies_committed(caller);
  async_copies().commit();
}

void BlockRunner::land_copies(unsigned batches_in_flight, std::uintptr_t caller) {
  if (observer_ != nullptr) observer_->async_copies_awaited(batches_in_flight, caller);
  AsyncCopies& copies = async_copies();
  AsyncCopy copy{};
  while (copies.next(batches_in_flight, copy)) {
    land(copy, running_, caller);
  }
}

void BlockRunner::land(const AsyncCopy& copy, int issuer, std::uintptr_t caller) {
  if (observer_ != nullptr) observer_->async_copy_lands(copy, issuer, caller);
  if (host_libraries().contains(copy.to)) raise(FaultKind::host_pointer, "");
  const std::size_t kept = copy.bytes - copy.zero_bytes;
  std::memcpy(copy.to, copy.from, kept);
  if (copy.zero_bytes != 0) std::memset(static_cast<std::byte*>(copy.to) + kept, 0, copy.zero_bytes);
}

void BlockRunner::bind_copies(const void* barrier, std::uintptr_t caller) {
  for (const AsyncCopy& copy : async_copies().take_uncommitted()) {
    if (observer_ != nullptr) observer_->async_copy_bound(copy, caller);
    bound_copies_.push_back({copy, running_, barrier});
  }
}

void BlockRunner::land_bound_copies(const void* barrier, std::uintptr_t caller) {
  for (const BoundCopy& bound : bound_copies_) {
    if (bound.barrier == barrier) land(bound.copy, bound.thread, caller);
  }
  std::erase_if(bound_copies_, [barrier](const BoundCopy& bound) { return bound.barrier == barrier; });
}

SIMT_RETURN_BY_JUMP int BlockRunner::barrier(SimtBarrier kind, int predicate, std::uintptr_t caller) {
  if (observer_ != nullptr) return observed_barrier(kind, predicate, caller);
  return meet_at_barrier(kind, predicate, caller);
}

int BlockRunner::observed_barrier(SimtBarrier kind, int predicate, std::uintptr_t caller) {
  return meet_at_barrier(kind, predicate, caller);
}

int BlockRunner::meet_at_barrier(SimtBarrier kind, int predicate, std::uintptr_t caller) {
  const int self = running_;
  Warp& warp = warp_of(self);
  warp.ready &= ~bit_of(self);
  warp.at_barrier |= bit_of(self);
  if (predicate != 0) ++barrier_sum_;
  if (barrier_kind_ != kind) barrier_kind_ = kind;
  wait(self, caller);
  return barrier_result_;  // the next barrier cannot open, and change it, before this thread arrives there
}

// One thread waits for the other blocks, while those of its own block wait for it.
void BlockRunner::sync_grid(std::uintptr_t caller) {
  if (!is_cooperative())
    raise(FaultKind::assertion,
          "grid.sync() is called in a kernel that cudaLaunchCooperativeKernel() launched");
  grid_opened_ = false;
  barrier(simt_barrier_plain, 0, caller);
  if (!std::exchange(grid_opened_, true)) {
    if (observer_ != nullptr) observer_->block_waits_for_grid();
    let_others_run(Progress::waits_for_grid);
    if (launch_->stop) raise(FaultKind::endless_loop, "");
    if (launch_->block_left)
      raise(FaultKind::deadlock, "a block has ended without coming to this grid.sync()");
  }
  barrier(simt_barrier_plain, 0, caller);
}

Rendezvous& BlockRunner::meet(SimtWarpOp op, LaneMask mask) {
  const LaneMask self = bit_of(running_);
  if ((mask & self) == 0) {
    char text[160];
    std::snprintf(
        text, sizeof text,
        "lane %u called a warp operation whose mask 0x%08x does not name it; each caller must be in the mask",
        lane(), mask);
    raise(FaultKind::illegal_mask, text);
  }
  return warp_of(running_).meeting_for(op, mask & warp_of(running_).lanes, self);
}

// Brings this lane to the meeting; returns, when it is complete, the lanes that took part.
LaneMask BlockRunner::arrive(Rendezvous& meeting, std::uintptr_t caller) {
  const int self = running_;
  Warp& warp = warp_of(self);
  meeting.arrived |= bit_of(self);
  if (!warp.try_complete(meeting)) {
    warp.ready &= ~bit_of(self);
    wait(self, caller);
  }
  if (observer_ != nullptr)
    observer_->lanes_met({meeting.op, meeting.number, meeting.arrived, caller, meeting.caller, meeting.work});
  return meeting.arrived;
}

void BlockRunner::raise_other_shuffle(SimtShuffle mine, SimtShuffle of_others) {
  constexpr const char* kNames[] = {"__shfl_up_sync()", "__shfl_down_sync()", "__shfl_xor_sync()",
                                    "__shfl_sync()"};
  const auto size = [](SimtShuffle kind) {
    return (kind & simt_shuffle_wide) != 0 ? "more than 4 bytes" : "at most 4 bytes";
  };
  char text[250];
  std::snprintf(
      text, sizeof text,
      "lane %u comes to %s of %s while others of its mask wait in %s of %s: all lanes of a mask must "
      "call the same shuffle, for a value of the same type",
      lane(), kNames[mine % simt_shuffle_wide], size(mine), kNames[of_others % simt_shuffle_wide],
      size(of_others));
  raise(FaultKind::divergent_instruction, text);
}

SIMT_RETURN_BY_JUMP std::uint64_t BlockRunner::shuffle(SimtShuffle kind, LaneMask mask, std::uint64_t value,
                                                       unsigned source, std::uintptr_t caller) {
  Rendezvous& meeting = meet(simt_op_shuffle, mask);
  if (meeting.arrived == 0)
    meeting.instruction = kind;
  else if (meeting.instruction != kind)
    raise_other_shuffle(kind, static_cast<SimtShuffle>(meeting.instruction));
  meeting.values[lane()] = value;
  const LaneMask present = arrive(meeting, caller);
  // What a lane that takes no part would give is undefined on a GPU; here it is a NaN.
  const bool gives = (present >> (source & 31u) & 1u) != 0;
  const std::uint64_t result = gives ? meeting.values[source & 31u] : ~std::uint64_t{0};
  if (observer_ != nullptr && !gives)
    observer_->inactive_lane({source & 31u, (warp_of(running_).exited >> (source & 31u) & 1u) != 0, caller});
  take_result(meeting);
  return result;
}

SIMT_RETURN_BY_JUMP BlockRunner::Brought BlockRunner::gather(SimtWarpOp op, LaneMask mask,
                                                             std::uint64_t value, std::uintptr_t caller) {
  Rendezvous& meeting = meet(op, mask);
  meeting.values[lane()] = value;
  const LaneMask present = arrive(meeting, caller);
  take_result(meeting);  // whoever meets next begins with other values, but not before this thread gives way
  return {present, meeting.values};
}

LaneMask BlockRunner::match(SimtWarpOp op, LaneMask mask, std::uint64_t value, std::uintptr_t caller) {
  const auto [lanes, values] = gather(op, mask, value, caller);
  LaneMask same = 0;
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1)
    if (values[std::countr_zero(rest)] == value) same |= rest & -rest;
  return op == simt_op_match_any || same == lanes ? same : 0;
}

std::uint32_t BlockRunner::reduce(SimtWarpOp op, bool is_signed, LaneMask mask, std::uint32_t value,
                                  std::uintptr_t caller) {
  const std::uint32_t sign = is_signed ? std::uint32_t{1} << 31 : 0;  // without it, negative ones come first
  const auto combined = [&](std::uint32_t a, std::uint32_t b) {
    switch (op) {
      case simt_op_reduce_add:
        return a + b;
      case simt_op_reduce_min:
        return (a ^ sign) < (b ^ sign) ? a : b;
      case simt_op_reduce_max:
        return (a ^ sign) < (b ^ sign) ? b : a;
      case simt_op_reduce_and:
        return a & b;
      case simt_op_reduce_or:
        return a | b;
      default:
        return a ^ b;
    }
  };
  const auto [lanes, values] = gather(op, mask, value, caller);
  auto result = static_cast<std::uint32_t>(values[std::countr_zero(lanes)]);
  for (LaneMask rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1)
    result = combined(result, static_cast<std::uint32_t>(values[std::countr_zero(rest)]));
  return result;
}

SIMT_RETURN_BY_JUMP LaneMask BlockRunner::ballot(SimtWarpOp op, LaneMask mask, bool predicate,
                                                 std::uintptr_t caller) {
  Rendezvous& meeting = meet(op, mask);
  if (predicate) meeting.bits |= bit_of(running_);
  arrive(meeting, caller);
  const LaneMask bits = meeting.bits;
  take_result(meeting);
  return bits;
}

void BlockRunner::together(const AlignedInstruction& instruction, void* operands, std::uintptr_t caller) {
  Rendezvous& meeting = meet(simt_op_aligned, ~LaneMask{0});
  if (meeting.arrived == 0) {
    meeting.instruction = instruction.which;
    meeting.name = instruction.name;
    meeting.work = instruction.work;
    meeting.caller = caller;
  } else if (meeting.instruction != instruction.which ||
             (meeting.name != instruction.name && std::strcmp(meeting.name, instruction.name) != 0)) {
    char text[200];
    std::snprintf(
        text, sizeof text,
        "lane %u comes to %s while others of its warp are at %s: all 32 lanes must execute the same "
        "instruction, of one shape and with the same types and modifiers",
        lane(), instruction.name, meeting.name);
    raise(FaultKind::divergent_instruction, text);
  }
  meeting.values[lane()] = reinterpret_cast<std::uintptr_t>(operands);
  const LaneMask present = arrive(meeting, caller);
  if (!meeting.performed) {
    meeting.performed = true;
    void* of_lane[32];
    for (unsigned i = 0; i < 32; ++i)
      of_lane[i] = (present >> i & 1u) != 0 ? reinterpret_cast<void*>(meeting.values[i]) : nullptr;
    instruction.perform(instruction.which, of_lane);
  }
  take_result(meeting);
}

void BlockRunner::use_matrix_row(const MatrixRow& row, std::uintptr_t caller) {
  if (row.address != nullptr && reinterpret_cast<std::uintptr_t>(row.address) % kMatrixRowBytes != 0) {
    if (observer_ != nullptr) observer_->misaligned_row(row, caller);
    raise(observer_ != nullptr ? FaultKind::told_misaligned : FaultKind::misaligned,
          "a row of ldmatrix or stmatrix is 16 bytes, and begins at a multiple of 16");
  }
  if (observer_ != nullptr) observer_->matrix_row(row, caller);
}

// Without this, a thread that waits for another of its block by an atomic would never let it run.
void BlockRunner::spin_hint() {
  if (launch_->stop) raise(FaultKind::endless_loop, "");
  unsigned& spins = threads_[static_cast<std::size_t>(running_)].spins;
  if ((spins + 1) % kSpinsBeforeYield == 0)
    give_way();
  else
    ++spins;
}

void BlockRunner::give_way() {
  if (launch_->stop) raise(FaultKind::endless_loop, "");
  unsigned& spins = threads_[static_cast<std::size_t>(running_)].spins;
  spins = (spins / kSpinsBeforeYield + 1) * kSpinsBeforeYield;
  const bool parts = spins % kSpinsBeforeParting == 0;  // this thread may wait for one of those
  release_converged(parts);
  if (parts) release_all_paused(static_cast<std::size_t>(running_ / kWarpSize));
  release_paused();
  // Not ready while the next one is chosen, so that all others have their turn before it spins again.
  const int self = running_;
  Warp& warp = warp_of(self);
  warp.ready &= ~bit_of(self);
  if (last_of_its_turn(self)) turn_to_next_warp();
  const int next = next_ready();
  warp.ready |= bit_of(self);
  // In check mode, a block can let others run only where all that its threads have done has been heard.
  if (is_cooperative() && observer_ == nullptr && (parts || next == kNone))
    let_others_run(Progress::gave_way);
  if (next == kNone) return;
  if (observer_ != nullptr) observer_->thread_gives_way();
  run_instead(self, next);
}

RawFault& BlockRunner::begin_fault(FaultKind kind) {
  fault_ = RawFault{};
  fault_.kind = kind;
  fault_.in_kernel = true;
  fault_.block[0] = blockIdx.x, fault_.block[1] = blockIdx.y, fault_.block[2] = blockIdx.z;
  if (running_ != kNone) {
    const uint3 index = thread_indices_[static_cast<std::size_t>(running_)];
    fault_.thread[0] = index.x, fault_.thread[1] = index.y, fault_.thread[2] = index.z;
  }
  return fault_;
}

void BlockRunner::raise(FaultKind kind, const char* text) {
  RawFault& fault = begin_fault(kind);
  fault.stack = CallStack::here();
  fault.set_text(text);
  leave_block();
}

void BlockRunner::raise_access(FaultKind kind, const void* address) {
  RawFault& fault = begin_fault(kind);
  fault.address = address;
  fault.stack = CallStack::here();
  leave_block();
}

void BlockRunner::leave_block() {
  StackPlace abandoned = nullptr;
  switch_stack(abandoned, home_);
  __builtin_unreachable();
}

}  // namespace simt
