// What compiled kernels call (simt_abi.h), handed to the block that runs on this operating-system thread.

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "simt/check/recorder.hpp"
#include "simt/runtime/block.hpp"
#include "simt/shim/simt_tile_abi.h"

namespace {

using simt::BlockRunner;

BlockRunner& runner(const char* what) { return BlockRunner::in_kernel(what); }

/// An address inside the call of the function that uses this macro.
#define SIMT_CALLER() (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

}  // namespace

extern "C" {

int simt_syncthreads(SimtBarrier kind, int predicate) {
  return runner("__syncthreads()").barrier(kind, predicate, SIMT_CALLER());
}

void simt_sync_grid() { runner("grid.sync()").sync_grid(SIMT_CALLER()); }
int simt_grid_can_sync() { return runner("a grid group").is_cooperative(); }

void simt_tile_sync(unsigned threads) { runner("a tile's sync()").sync_tile(threads, SIMT_CALLER()); }
void simt_tile_put(std::uint64_t value) { runner("a tile's exchange").put_for_tile(value); }
std::uint64_t simt_tile_get(unsigned rank) {
  return runner("a tile's exchange").value_of_tile(rank, SIMT_CALLER());
}

std::uint64_t simt_shuffle(SimtShuffle kind, unsigned mask, std::uint64_t value, unsigned source_lane) {
  return runner("a shuffle").shuffle(kind, mask, value, source_lane, SIMT_CALLER());
}

unsigned simt_match(SimtWarpOp op, unsigned mask, std::uint64_t value) {
  return runner("a warp match").match(op, mask, value, SIMT_CALLER());
}

unsigned simt_reduce(SimtWarpOp op, int is_signed, unsigned mask, unsigned value) {
  return runner("a warp reduction").reduce(op, is_signed != 0, mask, value, SIMT_CALLER());
}

unsigned simt_ballot(SimtWarpOp op, unsigned mask, int predicate) {
  return runner("a warp vote").ballot(op, mask, predicate != 0, SIMT_CALLER());
}

unsigned simt_active_lanes() { return runner("__activemask()").active_lanes(SIMT_CALLER()); }
unsigned simt_lane() { return runner("a warp operation").lane(); }

void simt_async_copy(void* to, const void* from, std::size_t bytes, std::size_t zero_bytes) {
  BlockRunner& block = runner("an asynchronous copy");
  // A bad address is the fault of this line, not of the wait where the bytes land.
  (void)*static_cast<volatile char*>(to);
  if (zero_bytes < bytes) (void)*static_cast<const volatile char*>(from);
  block.issue_copy({to, from, bytes, zero_bytes}, SIMT_CALLER());
}
int simt_copies_asynchronously(const void* to, const void* from) {
  const BlockRunner& block = runner("an asynchronous copy");
  return static_cast<int>(block.is_shared(to) && !block.is_shared(from) && !block.is_on_stack(from));
}
void simt_async_commit() { runner("an asynchronous copy").commit_copies(SIMT_CALLER()); }
void simt_async_wait(unsigned batches_in_flight) {
  runner("a wait for asynchronous copies").land_copies(batches_in_flight, SIMT_CALLER());
}
void simt_async_bind(const void* barrier) {
  runner("an asynchronous copy").bind_copies(barrier, SIMT_CALLER());
}
void simt_async_land(const void* barrier) { runner("a barrier").land_bound_copies(barrier, SIMT_CALLER()); }

void simt_phase_ends() { runner("a barrier").tell_phase_end(); }

void simt_check(int holds, const char* rule) {
  if (holds == 0) runner("a check of the simulator").raise(simt::FaultKind::assertion, rule);
}

void simt_spin_hint() {  // atomics work in host code as well
  if (BlockRunner* current = BlockRunner::current()) current->give_way();
}

void* simt_dynamic_shared() { return runner("dynamic shared memory").dynamic_shared(); }

long long simt_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void simt_host_function(const char* name) {
  if (BlockRunner* current = BlockRunner::current()) current->raise(simt::FaultKind::host_function, name);
}

void simt_trap() { runner("__trap()").raise(simt::FaultKind::trap, ""); }

// Replaces libc's: a failed assert in a kernel ends the launch and not the program.
void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) noexcept {
  if (BlockRunner* current = BlockRunner::current()) current->raise(simt::FaultKind::assertion, expression);
  std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function, expression);
  std::abort();
}

}  // extern "C"
