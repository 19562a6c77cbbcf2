// The CPU simulator as the worker's device.
#include <cuda_runtime.h>

#include <set>
#include <utility>

#include "grading/worker/backend.hpp"
#include "simt/control.hpp"

namespace course::grading::backend {
namespace {

FatalHandler fatal_handler = nullptr;
std::set<const void*> allocated_before;

simt::Order order_of(Order order) {
  switch (order) {
    case Order::reverse:
      return simt::Order::reverse;
    case Order::random:
      return simt::Order::random;
    case Order::forward:
      break;
  }
  return simt::Order::forward;
}

void take_leaks(Outcome& outcome) {
  for (const simt::Allocation& allocation : simt::live_allocations()) {
    if (allocated_before.contains(allocation.pointer)) continue;
    outcome.leaks.push_back({allocation.bytes, allocation.file, allocation.line});
    outcome.leak_bytes += allocation.bytes;
  }
  outcome.leak_count = outcome.leaks.size();
}

}  // namespace

std::string start(FatalHandler handler) {
  fatal_handler = handler;
  simt::set_fatal_handler([](const simt::Fault& fault) {
    fatal_handler(fault.kind.c_str(), fault.message.c_str(), fault.file.c_str(), fault.line);
  });
  return {};
}

void library_loaded(void*) {}

void begin_call(const CallMessage& call) {
  simt::Settings settings;
  settings.order = order_of(call.order);
  settings.seed = call.seed;
  settings.max_grid_x = call.max_grid_x;
  settings.launch_seconds = call.launch_seconds;
  simt::configure(settings);
  (void)simt::take_faults();
  (void)simt::take_launches();
  (void)cudaGetLastError();
  allocated_before.clear();
  for (const simt::Allocation& allocation : simt::live_allocations())
    allocated_before.insert(allocation.pointer);
}

void count_launches(Outcome& outcome) {
  auto &launches = outcome.counters["launches"], &blocks = outcome.counters["blocks"],
       &threads = outcome.counters["threads"];
  for (const simt::LaunchRecord& launch : simt::take_launches()) {
    const auto product = [](const std::array<unsigned, 3>& dim) {
      return std::int64_t{dim[0]} * dim[1] * dim[2];
    };
    ++launches;
    blocks += product(launch.grid);
    threads += product(launch.grid) * product(launch.block);
  }
}

DeviceEnd end_call() {
  DeviceEnd end;
  Outcome& outcome = end.outcome;
  outcome.status = Status::returned;
  for (simt::Fault& fault : simt::take_faults()) {
    if (!fault.in_kernel) {
      end.refusals.push_back({fault.kind, fault.file, fault.line, fault.message});
      continue;
    }
    end.broken = true;
    if (outcome.message.empty()) {
      outcome.status = fault.kind == "endless_loop" ? Status::timeout : Status::fault;
      outcome.message = fault.message;
    }
    outcome.diagnostics.push_back(
        {std::move(fault.kind), std::move(fault.file), fault.line, std::move(fault.message)});
  }
  count_launches(outcome);
  if (!end.broken) take_leaks(outcome);  // after a fault, cudaFree itself fails
  return end;
}

void protect_host(void* begin, std::size_t bytes) { simt::protect_host_range(begin, bytes); }
void unprotect_host(void* begin) { simt::unprotect_host_range(begin); }

}  // namespace course::grading::backend
