#include "simt/runtime/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "simt/check/phrases.hpp"
#include "simt/classes.hpp"
#include "simt/runtime/symbolize.hpp"
#include "simt/runtime/warp.hpp"

namespace simt {
namespace {

std::string index_text(const unsigned (&index)[3]) {
  return fmt::format("({},{},{})", index[0], index[1], index[2]);
}

const char* access_text(const RawFault& fault) {
  if (!fault.write_known) return "used";
  return fault.write ? "wrote to" : "read from";
}

/// "lanes 0 to 15", "lane 3", "lanes 0x000f00f0"
std::string lanes_text(std::uint32_t lanes) {
  const int first = std::countr_zero(lanes), count = std::popcount(lanes);
  if (count == 1) return fmt::format("lane {}", first);
  const bool in_a_row = (lanes >> first) == (count == 32 ? ~0u : (1u << count) - 1);
  return in_a_row ? fmt::format("lanes {} to {}", first, first + count - 1)
                  : fmt::format("lanes {:#010x}", lanes);
}

/// "lanes 0 to 15 of warp 2", "warps 0 to 3", "lanes 0 to 15 of warps 0 and 2"
std::string threads_text(const std::vector<LanesOfWarp>& threads) {
  std::string text;
  for (std::size_t begin = 0, end = 0; begin < threads.size(); begin = end) {
    while (end < threads.size() && threads[end].lanes == threads[begin].lanes &&
           threads[end].warp - threads[begin].warp == end - begin)
      ++end;
    const unsigned first = threads[begin].warp, last = threads[end - 1].warp;
    const std::string warps =
        first == last ? fmt::format("warp {}", first)
                      : fmt::format("warps {} {} {}", first, last == first + 1 ? "and" : "to", last);
    if (!text.empty()) text += end == threads.size() ? " and " : ", ";
    text += threads[begin].lanes == ~0u ? warps : lanes_text(threads[begin].lanes) + " of " + warps;
  }
  return text;
}

/// Who waits where, and for whom.
std::string waiting_text(const std::vector<WaitingThreads>& waiting) {
  constexpr std::size_t kMostGroups = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(waiting.size(), kMostGroups); ++i) {
    const WaitingThreads& group = waiting[i];
    if (i > 0) text += "; ";
    text += threads_text(group.threads);
    const LaneMask first = group.threads.front().lanes;
    const bool one = group.threads.size() == 1 && (first == ~LaneMask{0} || std::has_single_bit(first));
    text += one ? " waits" : " wait";
    if (!group.barrier && group.awaited != 0)
      text += fmt::format(" for {}, which never come{},", lanes_text(group.awaited),
                          std::has_single_bit(group.awaited) ? "s" : "");
    text += group.barrier ? " at the barrier" : " in a warp operation";
    if (group.where.line != 0) text += " at " + check::place_text(group.where);
  }
  if (waiting.size() > kMostGroups) text += "; others wait elsewhere";
  return text;
}

std::vector<WaitingThreads> described(const RawFault& raw) {
  std::vector<WaitingThreads> waiting;
  for (const RawWaiting& group : raw.waiting) {
    WaitingThreads& one = waiting.emplace_back();
    one.where.calls = user_calls(group.stack).calls;
    if (!one.where.calls.empty())
      one.where.file = one.where.calls.front().file, one.where.line = one.where.calls.front().line;
    for (std::size_t i = 0; i < 3; ++i)
      one.where.block[i] = raw.block[i], one.where.thread[i] = group.first_thread[i];
    one.barrier = group.barrier;
    one.threads = group.threads;
    one.awaited = group.awaited;
  }
  return waiting;
}

/// What happened, as a clause that begins with a verb: "<the thread> <clause>".
std::string clause(const RawFault& fault, const std::vector<WaitingThreads>& waiting, double launch_seconds) {
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
          "cudaMemcpy, and pass that pointer. If it is one from cudaMalloc, the index is far out of bounds.",
          access_text(fault));
    case FaultKind::freed_memory:
      return fmt::format(
          "{} memory of a kernel's malloc or new that is free again. Free it once, and after a barrier that "
          "comes after its last use.",
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
    case FaultKind::deadlock:
      if (waiting.empty())
        return fmt::format(
            "waits for ever: {}. Let every block of a cooperative launch come to each of them.", fault.text);
      return fmt::format(
          "waits for ever: {}. Every thread of a barrier, and every lane that a mask names, must come to the "
          "same call.",
          waiting_text(waiting));
    case FaultKind::illegal_mask:
      return fmt::format("broke a rule of warp operations: {}.", fault.text);
    case FaultKind::divergent_instruction:
      return fmt::format("broke a rule of the instructions of a warp: {}.", fault.text);
    case FaultKind::misused_shared:
    case FaultKind::wrong_memory:
      return fmt::format("used {}.", fault.text);
    case FaultKind::builtin_variable:
      return "stored to threadIdx, blockIdx, blockDim or gridDim, which are no memory on a GPU. Keep the "
             "number in a variable of your own.";
    case FaultKind::moved_stack:
      return "moved its stack to other memory, which no kernel can on a GPU. Leave the places of local "
             "variables to the compiler.";
    case FaultKind::host_function:
      return fmt::format(
          "called {}, which is code for the host and does not exist on a GPU. Write device code in its "
          "place.",
          fault.text);
    case FaultKind::bad_ptx:
      return fmt::format("cannot run this inline PTX. {}", fault.text);
    case FaultKind::shared_address:
      return "used an address of shared memory at which there is none. The 32-bit address of a shared "
             "variable comes from __cvta_generic_to_shared(&variable).";
    case FaultKind::misaligned:
      return fmt::format("used an address that is no multiple of the access: {}. {} {}", fault.text,
                         check::kMisalignedAddress.rule, check::kMisalignedAddress.fix);
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
    case FaultKind::divergent_instruction:
      return "divergent_instruction";
    case FaultKind::out_of_bounds:
      return "out_of_bounds";
    case FaultKind::host_function:
    case FaultKind::bad_ptx:
      return "illegal_instruction";
    case FaultKind::shared_address:
    case FaultKind::builtin_variable:
    case FaultKind::misused_shared:
    case FaultKind::wrong_memory:
    case FaultKind::moved_stack:
    case FaultKind::freed_memory:
      return "illegal_address";
    case FaultKind::misaligned:
      return "misaligned";
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

Fault describe(const RawFault& raw, const std::string& kernel, double launch_seconds,
               const CallStack& caller) {
  UserCalls way = user_calls(raw.stack);
  if (way.calls.empty()) way = {user_calls(caller).calls, kernel};
  Fault fault;
  fault.kind = kind_name(raw.kind);
  fault.in_kernel = raw.in_kernel;
  FindingSide side;
  if (!way.calls.empty()) side.file = way.calls.front().file, side.line = way.calls.front().line;
  side.calls = std::move(way.calls);
  const std::string prefix = side.line == 0 ? "" : side.own().place() + ": ";
  if (raw.in_kernel) {
    for (std::size_t i = 0; i < 3; ++i) fault.block[i] = raw.block[i], fault.thread[i] = raw.thread[i];
    fault.kernel = way.kernel.empty() ? kernel : way.kernel;
    fault.waiting = described(raw);
    std::string helper = check::helper_text(side);
    if (!helper.empty()) helper = ", " + helper + ",";
    fault.message =
        fmt::format("{}in {}, block {}, thread {}{} {}", prefix, fault.kernel, index_text(raw.block),
                    index_text(raw.thread), helper, clause(raw, fault.waiting, launch_seconds));
  } else {
    fault.message = fmt::format("{}host code {}", prefix, clause(raw, {}, launch_seconds));
  }
  fault.file = std::move(side.file);
  fault.line = side.line;
  fault.calls = std::move(side.calls);
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
    case FaultKind::shared_address:
    case FaultKind::builtin_variable:
    case FaultKind::misused_shared:
    case FaultKind::wrong_memory:
    case FaultKind::freed_memory:
    case FaultKind::told:
      return 700;  // cudaErrorIllegalAddress
    case FaultKind::endless_loop:
    case FaultKind::deadlock:
      return 702;  // cudaErrorLaunchTimeout
    case FaultKind::assertion:
      return 710;  // cudaErrorAssert
    case FaultKind::stack_overflow:
    case FaultKind::moved_stack:
      return 714;  // cudaErrorHardwareStackError
    case FaultKind::misaligned:
    case FaultKind::told_misaligned:
      return 716;  // cudaErrorMisalignedAddress
    case FaultKind::illegal_instruction:
    case FaultKind::host_function:
    case FaultKind::bad_ptx:
      return 715;  // cudaErrorIllegalInstruction
    case FaultKind::division_by_zero:
    case FaultKind::abort_called:
    case FaultKind::trap:
    case FaultKind::exception:
    case FaultKind::illegal_mask:
    case FaultKind::divergent_instruction:
      break;
  }
  return 719;  // cudaErrorLaunchFailure
}

}  // namespace simt
