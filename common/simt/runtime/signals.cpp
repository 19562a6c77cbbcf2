// From a signal to a fault: the handler notes what is known, then lets the interrupted thread continue in a
// function that leaves the block. So nothing but the note happens in the handler, and the kernel's launch
// ends like any other.

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>

#include "simt/runtime/block.hpp"
#include "simt/runtime/fault.hpp"
#include "simt/runtime/host_libraries.hpp"
#include "simt/runtime/host_stack.hpp"
#include "simt/runtime/host_touches.hpp"
#include "simt/runtime/memory.hpp"
#include "simt/runtime/stored_variables.hpp"
#include "simt/runtime/symbolize.hpp"

namespace simt {
namespace {

void (*fatal_handler)(const Fault&) = nullptr;

constexpr int kFaultSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

std::uintptr_t program_counter(const ucontext_t& context) {
#if defined(__x86_64__)
  return static_cast<std::uintptr_t>(context.uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return context.uc_mcontext.pc;
#else
#error "the simulator knows the registers of x86-64 and AArch64 only"
#endif
}

/// Lets the interrupted thread continue at `function`, on the stack that begins at `stack`.
void continue_at(ucontext_t& context, void (*function)(), void* stack) {
  const auto aligned = reinterpret_cast<std::uintptr_t>(stack) & ~std::uintptr_t{63};
#if defined(__x86_64__)
  context.uc_mcontext.gregs[REG_RSP] = static_cast<greg_t>(aligned - 8);  // as after a call
  context.uc_mcontext.gregs[REG_RIP] = reinterpret_cast<greg_t>(function);
#elif defined(__aarch64__)
  context.uc_mcontext.sp = aligned;
  context.uc_mcontext.pc = reinterpret_cast<std::uintptr_t>(function);
#endif
}

/// Whether the interrupted instruction is an atomic one: with the prefix `lock`, or `xchg` with memory.
bool is_atomic_instruction([[maybe_unused]] const ucontext_t& context) {
#if defined(__x86_64__)
  constexpr unsigned char kLock = 0xf0,
                          kOtherPrefixes[] = {0x66, 0xf2, 0xf3, 0x2e, 0x36, 0x3e, 0x26, 0x64, 0x65};
  const auto* code = reinterpret_cast<const unsigned char*>(program_counter(context));
  while (std::find(std::begin(kOtherPrefixes), std::end(kOtherPrefixes), *code) != std::end(kOtherPrefixes))
    ++code;
  if (*code == kLock) return true;
  if ((*code & 0xf0) == 0x40) ++code;  // the size of the operands
  return *code == 0x86 || *code == 0x87;
#else
  return false;
#endif
}

void leave_current_block() { BlockRunner::current()->leave_block(); }

void note_access(RawFault& fault, const siginfo_t& info, const ucontext_t& context) {
  fault.address = info.si_addr;
  if (info.si_code == SI_KERNEL) return;
#if defined(__x86_64__)
  fault.write_known = true;
  fault.write = (context.uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
#endif
}

FaultKind classify(int signal, const siginfo_t& info, const BlockRunner* runner) {
  switch (signal) {
    case SIGFPE:
      return FaultKind::division_by_zero;
    case SIGILL:
      return FaultKind::illegal_instruction;
    case SIGABRT:
      return FaultKind::abort_called;
    default:
      break;
  }
  // An address that no x86-64 program can have comes without the address.
  if (signal == SIGSEGV && info.si_code == SI_KERNEL) return FaultKind::illegal_address;
  if (runner != nullptr && runner->stack_guard_hit(info.si_addr)) return FaultKind::stack_overflow;
  if (reinterpret_cast<std::uintptr_t>(info.si_addr) < 4096) return FaultKind::null_pointer;
  if (runner != nullptr) {
    return protected_host_ranges().contains(info.si_addr) || host_stack().contains(info.si_addr) ||
                   host_libraries().contains(info.si_addr)
               ? FaultKind::host_pointer
               : FaultKind::illegal_address;
  }
  return device_memory().contains(info.si_addr) || kernels_own_ranges().contains(info.si_addr)
             ? FaultKind::device_pointer
             : FaultKind::illegal_address;
}

/// The call stack at the interrupted instruction. Unwinding from the handler crosses the signal frame.
void note_stack(RawFault& fault, const ucontext_t& context) {
  const std::uintptr_t pc = program_counter(context);
  fault.stack = CallStack::at(pc);
  if (fault.kind == FaultKind::stack_overflow) return;
  const CallStack all = CallStack::here();
  std::size_t frame = 0;
  while (frame < all.count && all.pcs[frame] != pc) ++frame;
  while (++frame < all.count) fault.stack.pcs[fault.stack.count++] = all.pcs[frame];
}

/// Whether it is a kernel's own code that was interrupted, or that of a library which it has called itself.
bool is_kernels_doing(const BlockRunner* runner, const ucontext_t& context) {
  if (runner == nullptr) return false;
  RawFault access;
  note_stack(access, context);
  for (std::size_t i = 0; i < access.stack.count; ++i) {
    if (runner->in_kernel_module(access.stack.pcs[i])) return true;
    if (in_runtime(access.stack.pcs[i])) return false;
  }
  return false;
}

/// Host code crashed: report, then let the signal take its course.
void end_process(int signal, const siginfo_t& info, const ucontext_t& context) {
  if (fatal_handler != nullptr) {
    RawFault fault;
    fault.kind = classify(signal, info, nullptr);
    note_access(fault, info, context);
    note_stack(fault, context);
    fatal_handler(describe(fault, "", 0.0));
  }
  struct sigaction action {};
  action.sa_handler = SIG_DFL;
  sigaction(signal, &action, nullptr);
}

void on_fault_signal(int signal, siginfo_t* info, void* raw_context) {
  auto& context = *static_cast<ucontext_t*>(raw_context);
  if (signal == SIGSEGV && stored_variables().take_fault(reinterpret_cast<std::uintptr_t>(info->si_addr)))
    return;
  BlockRunner* runner = BlockRunner::current();
  if (signal == SIGSEGV && runner != nullptr && runner->open_rest_of_stack(info->si_addr)) return;
  if (signal == SIGSEGV && host_libraries().contains(info->si_addr) && !is_kernels_doing(runner, context))
    return host_libraries().open_page(info->si_addr);
  if (runner == nullptr) {
    RawFault access;
    note_access(access, *info, context);
    note_stack(access, context);
    if (signal == SIGSEGV &&
        host_touches().take_fault({reinterpret_cast<std::uintptr_t>(access.address), access.write,
                                   is_atomic_instruction(context), 0, access.stack}))
      return;
    return end_process(signal, *info, context);
  }
  RawFault& fault = runner->begin_fault(classify(signal, *info, runner));
  note_access(fault, *info, context);
  note_stack(fault, context);
  continue_at(context, leave_current_block, runner->stack_to_leave_from());
}

void on_watchdog_signal(int, siginfo_t*, void* raw_context) {
  auto& context = *static_cast<ucontext_t*>(raw_context);
  BlockRunner* runner = BlockRunner::current();
  if (runner == nullptr || !runner->stop_requested()) return;
  // In the runtime, the flag is enough; in another library, locks may be held: wait for the next signal.
  if (!runner->in_kernel_module(program_counter(context))) return;
  RawFault& fault = runner->begin_fault(FaultKind::endless_loop);
  note_stack(fault, context);
  continue_at(context, leave_current_block, runner->stack_to_leave_from());
}

}  // namespace

int watchdog_signal() { return SIGRTMIN + 5; }

FaultHandlers::FaultHandlers() {
  (void)in_runtime(0);  // finds its answer now, not in a handler
  (void)device_memory(), (void)protected_host_ranges(), (void)kernels_own_ranges(), (void)stored_variables(),
      (void)host_stack(), (void)host_libraries();
  struct sigaction action {};
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  action.sa_sigaction = on_fault_signal;
  int index = 0;
  for (const int signal : kFaultSignals) sigaction(signal, &action, &before_[index++]);

  // The watchdog's signal keeps its handler: one may still be on its way when a launch has ended.
  action.sa_sigaction = on_watchdog_signal;
  action.sa_flags |= SA_RESTART;
  sigaction(watchdog_signal(), &action, nullptr);
}

FaultHandlers::~FaultHandlers() {
  int index = 0;
  for (const int signal : kFaultSignals) sigaction(signal, &before_[index++], nullptr);
}

void install_signal_stack() {
  constexpr std::size_t kBytes = 256 * 1024;  // unwinding and reading debug information happen on it
  thread_local bool installed = false;
  if (installed) return;
  void* memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return;  // faults then end the process without a sentence
  stack_t stack{};
  stack.ss_sp = memory;
  stack.ss_size = kBytes;
  sigaltstack(&stack, nullptr);
  installed = true;
}

void set_fatal_handler(void (*handler)(const Fault&)) {
  static FaultHandlers* const handlers = new FaultHandlers;  // from now on, for host code
  (void)handlers;
  install_signal_stack();
  fatal_handler = handler;
}

}  // namespace simt
