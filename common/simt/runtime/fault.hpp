#pragma once
/// @file
/// Faults: from a signal or a failed check in the runtime to one plain sentence.

#include <signal.h>

#include <cstdint>
#include <string>
#include <vector>

#include "simt/control.hpp"
#include "simt/runtime/call_stack.hpp"

namespace simt {

enum class FaultKind {
  none,
  null_pointer,     ///< an address in the first page
  illegal_address,  ///< any other address that is not mapped
  host_pointer,     ///< a kernel touched host memory that is protected
  freed_memory,     ///< a kernel used, or freed once more, memory of its malloc that it had freed
  device_pointer,   ///< host code touched device memory
  stack_overflow,
  division_by_zero,
  illegal_instruction,
  abort_called,
  trap,
  assertion,
  exception,
  endless_loop,
  deadlock,
  illegal_mask,
  divergent_instruction,  ///< lanes of a warp at different instructions of the whole warp
  out_of_bounds,          ///< a write into the red zone around an allocation
  builtin_variable,       ///< a store to threadIdx or its like, which is no variable on a GPU
  misused_shared,         ///< what lies among shared variables and is none, or none of a GPU's
  wrong_memory,           ///< an atomic on memory that it does not work on
  host_function,          ///< a function of the host's libraries, which a GPU does not have
  moved_stack,            ///< a stack pointer, or a frame's, that leads out of the thread's stack
  bad_ptx,                ///< inline PTX that cannot be, or that breaks a rule of its own
  shared_address,         ///< a 32-bit address at which no shared memory is
  misaligned,             ///< an access whose address is no multiple of its size
  told,                   ///< an illegal address of which check mode has a finding that says it all
  told_misaligned,
};

/// Threads that wait at one place: see WaitingThreads.
struct RawWaiting {
  CallStack stack;
  bool barrier = false;
  unsigned first_thread[3] = {};
  std::vector<LanesOfWarp> threads;
  std::uint32_t awaited = 0;
};

/// What is known at the moment of the fault, gathered without allocating (a signal handler fills it).
struct RawFault {
  FaultKind kind = FaultKind::none;
  const void* address = nullptr;
  bool write = false, write_known = false;
  CallStack stack;
  std::vector<RawWaiting> waiting;  ///< of a deadlock; else empty, since a signal handler may not allocate
  unsigned block[3] = {}, thread[3] = {};
  bool in_kernel = false;
  char text[400] = {};  ///< of an exception, assertion or failed check

  void set_text(const char* message);
};

/// @brief Puts the whole story into words, with file and line of the innermost frame that is neither the
/// runtime, the shim nor the system; if there is none, of the call that `caller` gives. `kernel` is the
/// launch's name as written.
Fault describe(const RawFault& fault, const std::string& kernel, double launch_seconds,
               const CallStack& caller = {});

/// cudaError_t value that the next synchronising call reports for a fault of that kind.
int cuda_error_of(FaultKind kind);

/// The handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT while a launch runs. What was installed
/// before comes back at the end: test frameworks and programs have handlers of their own.
class FaultHandlers {
 public:
  FaultHandlers();
  ~FaultHandlers();
  FaultHandlers(const FaultHandlers&) = delete;
  FaultHandlers& operator=(const FaultHandlers&) = delete;

 private:
  static constexpr int kSignals = 5;
  struct sigaction before_[kSignals];
};
/// Gives the calling operating-system thread a stack for its signal handlers, once per thread.
void install_signal_stack();
/// The signal that the watchdog sends to a thread whose kernel runs too long.
int watchdog_signal();

}  // namespace simt
