#include "simt/runtime/fault.hpp"

#include <fmt/format.h>

#include <cstring>

#include "simt/check/advice.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt {
namespace {

std::string index_text(const unsigned (&index)[3]) {
  return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

const char* access_text(const RawFault& fault) {
  if (!fault.write_known) return "used";
  return fault.write ? "wrote to" : "read from";
}

/// What happened, as a clause that begins with a verb: "<the thread> <clause>".
std::string clause(const RawFault& fault, double launch_seconds) {
  const std::string address = fault.address != nullptr ? fmt::format("address {}", fmt::ptr(fault.address))
                                                       : "an address out of all range";
  switch (fault.kind) {
    case FaultKind::null_pointer:
      return fmt::format("{} a null pointer (address {}). {}", access_text(fault), fmt::ptr(fault.address),
                         check::kNullPointer.fix);
    case FaultKind::illegal_address:
      return fmt::format("{} {}, which is no memory of the device. {}", access_text(fault), address,
                         check::kAddressOfNothing.fix);
    case FaultKind::host_pointer:
      return fmt::format(
          "{} host memory. A kernel sees device memory only: allocate it with cudaMalloc, copy with "
          "cudaMemcpy, and pass that pointer.",
          access_text(fault));
    case FaultKind::device_pointer:
      return fmt::format(
          "{} device memory. Host code must not use a pointer that came from cudaMalloc: copy the "
          "data with cudaMemcpy first.",
          access_text(fault));
    case FaultKind::stack_overflow:
      return fmt::format("ran out of stack (64 KB). {}", check::kStackUsedUp.fix);
    case FaultKind::division_by_zero:
      return "divided an integer by zero.";
    case FaultKind::illegal_instruction:
      return "ran into an instruction that must never be reached, such as the end of a function without a "
             "return.";
    case FaultKind::abort_called:
      return "called abort().";
    case FaultKind::trap:
      return "executed __trap().";
    case FaultKind::assertion:
      return fmt::format("failed the assertion '{}'.", fault.text);
    case FaultKind::exception:
      return fmt::format("let an exception escape: {}. Device code cannot throw.", fault.text);
    case FaultKind::endless_loop:
      return fmt::format(
          "was still running after {:g} s, so the launch was stopped. Look for a loop whose condition never "
          "becomes false or that takes far more steps than it needs, and for a wait that cannot end.",
          launch_seconds);
    case FaultKind::deadlock: {
      const std::string other =
          fault.other_pc != 0 ? to_string(user_line(CallStack::at(fault.other_pc))) : std::string();
      return fmt::format(
          "waits for ever: {}{}. Every thread of a barrier, and every lane that a mask names, must "
          "come to the same call.",
          fault.text, other.empty() ? "" : " (the barrier is at " + other + ")");
    }
    case FaultKind::illegal_mask:
      return fmt::format("broke a rule of warp operations: {}.", fault.text);
    case FaultKind::out_of_bounds:
    case FaultKind::told:
    case FaultKind::told_misaligned:
    case FaultKind::none:
      break;
  }
  return fault.text;
}

const char* kind_name(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
      return "none";
    case FaultKind::null_pointer:
      return "null_pointer";
    case FaultKind::illegal_address:
      return "illegal_address";
    case FaultKind::host_pointer:
      return "host_pointer_in_kernel";
    case FaultKind::device_pointer:
      return "device_pointer_on_host";
    case FaultKind::stack_overflow:
      return "stack_overflow";
    case FaultKind::division_by_zero:
      return "division_by_zero";
    case FaultKind::illegal_instruction:
      return "illegal_instruction";
    case FaultKind::abort_called:
      return "abort";
    case FaultKind::trap:
      return "trap";
    case FaultKind::assertion:
      return "assertion";
    case FaultKind::exception:
      return "exception";
    case FaultKind::endless_loop:
      return "endless_loop";
    case FaultKind::deadlock:
      return "deadlock";
    case FaultKind::illegal_mask:
      return "illegal_mask";
    case FaultKind::out_of_bounds:
      return "out_of_bounds";
    case FaultKind::told:
    case FaultKind::told_misaligned:
      return "told";
  }
  return "unknown";
}

}  // namespace

void RawFault::set_text(const char* message) {
  std::strncpy(text, message, sizeof text - 1);
  text[sizeof text - 1] = '\0';
}

Fault describe(const RawFault& raw, const std::string& kernel, double launch_seconds) {
  const SourceLine line = user_line(raw.stack);
  Fault fault;
  fault.kind = kind_name(raw.kind);
  fault.file = line.file;
  fault.line = line.line;
  fault.in_kernel = raw.in_kernel;
  const std::string where = to_string(line);
  const std::string prefix = where.empty() ? "" : where + ": ";
  const std::string call = to_string(calling_line(raw.stack));
  const std::string called = call.empty() ? "" : ", called from " + call + ",";
  if (raw.in_kernel) {
    for (std::size_t i = 0; i < 3; ++i) fault.block[i] = raw.block[i], fault.thread[i] = raw.thread[i];
    fault.message = fmt::format("{}in {}, block {}, thread {}{} {}", prefix, kernel, index_text(raw.block),
                                index_text(raw.thread), called, clause(raw, launch_seconds));
  } else {
    fault.message = fmt::format("{}host code {}", prefix, clause(raw, launch_seconds));
  }
  return fault;
}

int cuda_error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::none:
    case FaultKind::out_of_bounds:
      return 0;
    case FaultKind::null_pointer:
    case FaultKind::illegal_address:
    case FaultKind::host_pointer:
    case FaultKind::device_pointer:
    case FaultKind::told:
      return 700;  // cudaErrorIllegalAddress
    case FaultKind::endless_loop:
    case FaultKind::deadlock:
      return 702;  // cudaErrorLaunchTimeout
    case FaultKind::assertion:
      return 710;  // cudaErrorAssert
    case FaultKind::stack_overflow:
      return 714;  // cudaErrorHardwareStackError
    case FaultKind::told_misaligned:
      return 716;  // cudaErrorMisalignedAddress
    case FaultKind::illegal_instruction:
      return 715;  // cudaErrorIllegalInstruction
    case FaultKind::division_by_zero:
    case FaultKind::abort_called:
    case FaultKind::trap:
    case FaultKind::exception:
    case FaultKind::illegal_mask:
      break;
  }
  return 719;  // cudaErrorLaunchFailure
}

}  // namespace simt
