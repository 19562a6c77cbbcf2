// A GPU as the worker's device.
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "grading/calls/worker/backend.hpp"
#include "grading/calls/worker/ledger.hpp"

namespace course::grading::backend {
namespace {

LedgerFunction ledger = nullptr;
LedgerState ledger_before{};
LedgerCopiesFunction ledger_copies = nullptr;
bool just_loaded = false;  ///< what constructors copied counts for the first call

/// What the library copied since the last look.
Copies take_copies() {
  std::vector<LedgerRange> ranges(kMostLedgerRanges);
  const LedgerCopies taken = ledger_copies(ranges.data(), ranges.size());
  Copies copies;
  copies.to_host = taken.to_host;
  copies.shared = taken.shared;
  ranges.resize(std::min<std::size_t>(ranges.size(), taken.ranges));
  for (std::size_t i = 0; i < ranges.size(); ++i)
    (ranges[i].filled ? copies.written : copies.read).push_back({ranges[i].begin, ranges[i].bytes});
  return copies;
}

/// What a failed kernel means, in words; CUDA's own text is added by the caller.
const char* explain(cudaError_t error) {
  switch (error) {
    case cudaErrorIllegalAddress:
      return "A kernel used memory that it may not touch: an index past the end of an array, or a pointer to "
             "host memory.";
    case cudaErrorMisalignedAddress:
      return "A kernel used an address that is not a multiple of the size of what it reads or writes.";
    case cudaErrorLaunchTimeout:
      return "A kernel ran for too long and was stopped by the driver. Look for a loop whose condition never "
             "becomes false, or a loop that takes far more steps than it needs.";
    case cudaErrorAssert:
      return "An assert in a kernel failed.";
    case cudaErrorLaunchFailure:
      return "A kernel crashed: look for indices past the end of an array in shared memory.";
    default:
      return "A kernel failed while it ran.";
  }
}

}  // namespace

std::string start(FatalHandler) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0)
    return fmt::format("No GPU answers on this machine: {}. Use --backend cpu.", cudaGetErrorString(error));
  if (const cudaError_t ready = cudaFree(nullptr); ready != cudaSuccess)
    return fmt::format("The GPU cannot be used: {}. Use --backend cpu.", cudaGetErrorString(ready));
  return {};
}

Privileges prepare_for_confinement() { return {.start_threads = true, .write_files = true}; }

void library_loaded(void* handle) {
  ledger = reinterpret_cast<LedgerFunction>(dlsym(handle, kLedgerSymbol));
  const auto copies = reinterpret_cast<LedgerCopiesFunction>(dlsym(handle, kLedgerCopiesSymbol));
  just_loaded = copies != std::exchange(ledger_copies, copies);
}

void configure(const CallMessage&) {}

void begin_load(const CallMessage&, AnswerHandler) {}

HostCode::HostCode() {}
HostCode::~HostCode() {}

void begin_call() {
  (void)cudaGetLastError();
  if (ledger) ledger_before = ledger(0, nullptr, 0);
  if (ledger_copies && !just_loaded) (void)take_copies();
}

bool has_work_aside() { return false; }  // a GPU does not tell

DeviceEnd end_call() {
  DeviceEnd end;
  Outcome& outcome = end.outcome;
  outcome.status = Status::returned;
  const cudaError_t error = cudaDeviceSynchronize();
  if (ledger_copies) end.copies = take_copies();  // those of what was queued among them
  if (error != cudaSuccess) {
    end.broken = true;
    outcome.status = Status::fault;
    outcome.message = fmt::format("{} CUDA says: {} ({}). The simulator (--backend cpu) names the line.",
                                  explain(error), cudaGetErrorString(error), cudaGetErrorName(error));
    Finding& fault = outcome.findings.emplace_back();
    fault.kind = cudaGetErrorName(error);
    fault.what = outcome.message;
  }
  std::fflush(stdout);          // what kernels print comes with the synchronisation
  if (ledger && !end.broken) {  // after a fault, cudaFree itself fails
    std::array<LedgerRecord, 8> records;
    const LedgerState state = ledger(ledger_before.next_serial, records.data(), records.size());
    outcome.leak_count = state.live;
    outcome.leak_bytes = state.live_bytes;
    const auto counted = [](std::uint64_t now, std::uint64_t before) {
      return static_cast<std::int64_t>(now - before);
    };
    const LedgerLaunches& before = ledger_before.launches;
    outcome.counters["launches"] = counted(state.launches.count, before.count);
    outcome.counters["blocks"] = counted(state.launches.blocks, before.blocks);
    outcome.counters["threads"] = counted(state.launches.threads, before.threads);
    for (std::uint64_t i = 0; i < state.live && i < records.size(); ++i)
      outcome.leaks.push_back({records[i].bytes, "", 0});
  }
  return end;
}

void finish() { (void)cudaDeviceReset(); }  // after a fault it fails, and there is nothing to give up

// A GPU cannot reach host memory that was not registered with it. On systems where it can (address
// translation services), the simulator is the one to find it.
void protect_host(void*, std::size_t) {}
void unprotect_host(void*) {}

bool can_fence() { return false; }
void fence(void*, std::size_t) {}

}  // namespace course::grading::backend
