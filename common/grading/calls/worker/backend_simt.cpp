// The CPU simulator as the worker's device.
#include <cuda_runtime.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "grading/calls/worker/backend.hpp"
#include "grading/calls/worker/student_heaps.hpp"
#include "simt/control.hpp"
#include "simt/findings.hpp"
#include "simt/profile.hpp"
#include "simt/report/ending.hpp"
#include "simt/report/json.hpp"
#include "simt/report/trace_wish.hpp"

namespace course::grading::backend {
namespace {

FatalHandler fatal_handler = nullptr;
std::uint64_t allocated_before = 0;
bool checking = false;

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
  for (const simt::Allocation& allocation : simt::live_allocations(allocated_before)) {
    outcome.leaks.push_back({allocation.bytes, allocation.file, allocation.line});
    outcome.leak_bytes += allocation.bytes;
  }
  outcome.leak_count = outcome.leaks.size();
}

/// Findings, and the profile. Leaks are left out: the arrays of the call are no leak, and run mode counts the
/// others.
void take_diagnosis(Outcome& outcome) {
  for (const simt::Finding& finding : simt::take_findings())
    if (finding.kind != "leak") outcome.findings.push_back(finding);
  outcome.profile = make_profile(simt::take_profiles());
}

/// `course trace` asks for the accesses of one block; the first call that has them is the one.
void write_trace() {
  const auto wish = simt::report::trace_wish();
  if (!wish || std::filesystem::exists(wish->file)) return;
  const simt::Trace trace = simt::take_trace();
  if (trace.steps.empty()) return;
  const std::filesystem::path part = wish->file.string() + ".part";
  std::ofstream stream(part);
  stream << simt::report::trace_json(trace);
  stream.close();
  std::error_code not_there;                                         // a trace that cannot be written is none
  if (stream) std::filesystem::rename(part, wish->file, not_there);  // whoever waits for it finds it whole
}

/// True if a finding tells of that fault already, and in more detail.
bool is_told(const std::vector<Finding>& findings, const simt::Fault& fault) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    return finding.severity == Severity::error &&
           (finding.kind == fault.kind ||
            (finding.here.line == fault.line && finding.here.file == fault.file));
  });
}

}  // namespace

std::string start(FatalHandler handler) {
  fatal_handler = handler;
  simt::set_fatal_handler([](const simt::Fault& fault) {
    const Finding finding = simt::report::finding_of(fault);
    fatal_handler(fault.kind.c_str(), finding.what.c_str(), fault.file.c_str(), fault.line);
  });
  simt::leave_program_out();
  start_student_heaps();
  return {};
}

Privileges prepare_for_confinement() {
  simt::start_threads();
  return {};
}

void library_loaded(void*) {}

void configure(const CallMessage& call) {
  simt::Settings settings;
  settings.order = order_of(call.order);
  settings.seed = call.seed;
  settings.max_grid_x = call.max_grid_x;
  settings.max_memory_bytes = call.max_memory_bytes;
  settings.workers = call.threads;
  settings.launch_seconds = call.launch_seconds;
  settings.check = checking = call.check;
  settings.keeps_apart = !call.host_first;  // where the host goes first, none of its code follows a kernel
  simt::configure(settings);
}

void begin_load(const CallMessage& call, AnswerHandler handler) {
  if (checking) {
    (void)simt::take_findings();
    (void)simt::take_profiles();
  }
  (void)simt::take_stored_variables();
  (void)simt::take_launches();
  (void)simt::take_host_copies();
  if (call.host_first) simt::host_goes_first({8 * kFewBytes, call.answers, handler});
}

void begin_call() {
  if (checking)
    if (const auto wish = simt::report::trace_wish()) simt::start_trace(wish->request);
  simt::forget_faults();
  (void)cudaGetLastError();
  allocated_before = simt::allocations_so_far();
}

bool has_work_aside() { return simt::has_work_aside(); }

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

Copies take_copies() {
  const std::uint64_t variables = simt::take_stored_variables();  // which does what is queued
  const simt::HostCopies taken = simt::take_host_copies();
  Copies copies{{}, {}, taken.to_host, taken.within, taken.shared, taken.asked, variables};
  for (const auto& [begin, bytes] : taken.read) copies.read.push_back({begin, bytes});
  for (const auto& [begin, bytes] : taken.written) copies.written.push_back({begin, bytes});
  return copies;
}

DeviceEnd end_call() {
  DeviceEnd end;
  // Before anything else is taken: this runs what is queued, and a host function may copy and launch.
  std::vector<simt::Fault> faults = [] {
    const HostCode host_code;
    return simt::take_faults();
  }();
  end.copies = take_copies();
  Outcome& outcome = end.outcome;
  outcome.status = Status::returned;
  if (checking) take_diagnosis(outcome);
  if (checking) write_trace();
  for (simt::Fault& fault : faults) {
    if (!fault.in_kernel) {
      end.refusals.push_back(simt::report::finding_of(fault));
      continue;
    }
    end.broken = true;
    if (outcome.message.empty()) {
      outcome.status = fault.kind == "endless_loop" ? Status::timeout : Status::fault;
      outcome.message = fault.message;
    }
    if (!is_told(outcome.findings, fault)) outcome.findings.push_back(simt::report::finding_of(fault));
  }
  // A fault that a finding tells of is no fault of its own, but the device is gone all the same.
  end.broken = end.broken || cudaPeekAtLastError() != cudaSuccess;
  count_launches(outcome);
  if (end.copies.within > 0) outcome.counters[kCopiedWithin] = static_cast<std::int64_t>(end.copies.within);
  if (!end.broken) take_leaks(outcome);  // after a fault, cudaFree itself fails
  return end;
}

void finish() {}

void protect_host(void* begin, std::size_t bytes) { simt::protect_host_range(begin, bytes); }
void unprotect_host(void* begin) { simt::unprotect_host_range(begin); }

bool can_fence() { return true; }
void fence(void* begin, std::size_t bytes) { simt::fence_device_range(begin, bytes); }

}  // namespace course::grading::backend
