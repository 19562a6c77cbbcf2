#pragma once
/// @file
/// The trace of every thread of the running block: written by the hooks that the compiler put into the kernel
/// (hooks.cpp), read by the replay.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <vector>

#include "simt/check/event.hpp"
#include "simt/runtime/fiber.hpp"
#include "simt/shim/simt_abi.h"

namespace simt::check {

/// A vector's memory, which it leaves as it is until somebody writes to it: new elements are not set to 0.
template <class T>
struct Untouched : std::allocator<T> {
  template <class Slot>
  void construct(Slot* slot) {
    ::new (slot) Slot;
  }
};

/// The events of one thread that the replay has not seen yet: [head, tail).
struct ThreadTrace {
  static constexpr std::size_t kSlots = 512;    // 4 KB: the traces of a warp stay in the second-level cache
  static constexpr std::size_t kCompared = 16;  // slots that are looked at together, even beyond the tail
  static constexpr std::size_t kSlack = 8 + kCompared;  // so that an append needs no check of its own either
  std::vector<Event, Untouched<Event>> slots;
  Event* head = nullptr;
  Event* tail = nullptr;

  void make_room();  ///< moves what is left to the front
  void lengthen();   ///< by as much as a trace has at first
  void clear() { head = tail = slots.data(); }
  Event* limit() { return slots.data() + slots.size() - kSlack; }
  bool full() { return tail >= limit(); }
};

/// The hooks' view of the running thread. Plain data, for speed: a hook runs for every access of a kernel.
struct Recorder {
  // Of the running thread.
  Event* tail = nullptr;
  Event* limit = nullptr;             ///< where the trace is full
  const std::byte* stored = nullptr;  ///< a write whose value is not in the trace yet
  unsigned stored_bytes = 0;
  Event* value = nullptr;    ///< the place for it
  std::uintptr_t stack = 0;  ///< where its stack begins: its lowest address
  std::uintptr_t range = 0, range_bytes = 0,
                 range_code = 0;  ///< the last that was told in pieces, and by which instruction
  int range_thread = -1;          ///< whose that was

  // Where things are.
  std::uintptr_t code = 0, code_bytes = 0;                 ///< of the kernel's module
  const std::vector<std::uintptr_t>* functions = nullptr;  ///< of that module: where each begins, in order
  std::uintptr_t arena = 0;                       ///< the device arena: the start of the global window
  std::uintptr_t shared = 0, shared_bytes = 0;    ///< static shared memory, with a margin on either side
  std::uintptr_t dynamic = 0, dynamic_bytes = 0;  ///< the dynamic buffer, with a margin on either side

  const std::uint32_t* begun_by = nullptr;  ///< MergedBlocks::table()

  /// By word of static shared memory: a variable is there, of the kernel's or one that may be of another
  /// kind.
  const std::uint8_t* is_shared_word = nullptr;
  static constexpr std::uint8_t kShared = 1, kThreadLocal = 2;

  std::vector<ThreadTrace> threads;
  int thread = -1;          ///< the running one
  bool stack_only = false;  ///< see StackOnly

  static constexpr std::size_t kMargin = 4096;  ///< an index a little before the start is told as one
  static constexpr std::uint64_t kDynamicOffset = 1u << 20;  ///< of the dynamic buffer, in the shared window

  void start_block(int thread_count);
  void switch_to(int next);  ///< notes where the running thread's trace ends; -1: none runs
  /// Puts the value of the last write into the trace, if it is not there yet. The thread has not given way
  /// since then, so memory holds it.
  void settle();

  void append(Event event, std::uintptr_t code_address) {
    event |= at_code(code_address - code);
    if (stored_bytes != 0 || tail >= limit) return append_slowly(event);
    *tail++ = event;
  }
  /// As a thread begins to run, where it cannot pause: into the slack, since every other append asks for
  /// room. A turn in which it has done nothing leaves no mark.
  void append_turn(std::uint64_t turn) {
    const ThreadTrace& trace = threads[static_cast<std::size_t>(thread)];
    if (tail != trace.head && is_turn(tail[-1])) --tail;
    *tail++ = mark_event(Mark::turn) | turn;
  }
  void append(Event event, std::uint64_t second, std::uintptr_t code_address) {
    if (stored_bytes != 0 || tail >= limit) make_ready();
    tail[0] = event | at_code(code_address - code);
    tail[1] = second;
    tail += 2;
  }
  /// Does not settle: of a copy, a compiler may announce the write first, and then the read.
  void append_read(Event event, std::uintptr_t code_address) {
    event |= at_code(code_address - code);
    if (tail >= limit) return append_read_slowly(event);
    *tail++ = event;
  }
  /// A write is followed by the value that it leaves: see settle(). `address` 0: nobody asks for it.
  void append_write(Event event, std::uintptr_t address, unsigned log2_bytes, std::uintptr_t code_address) {
    event |= at_code(code_address - code);
    if (stored_bytes != 0 || tail >= limit) return append_write_slowly(event, address, log2_bytes);
    put_write(event, address, log2_bytes);
  }

  /// Of an access of which nothing is told: the block that it begins, if its hook stands for that, too.
  void append_begun_block(std::uintptr_t code_address) {
    if (begun_by == nullptr || code_address - code >= code_bytes) return;
    if (const std::uint32_t block = begun_by[code_address - code]; block != 0)
      append(mark_event(Mark::block), code + block);
  }

  /// The offset of an address that is neither the arena's nor shared memory's nor the running thread's own
  /// stack: of managed memory, of a `__device__` variable. False: nothing that is watched. Does not return if
  /// the kernel must not touch it.
  /// `stray`: beside such memory.
  bool find_elsewhere(std::uintptr_t address, bool writes, std::uint64_t& offset, bool& stray);

  /// Ends the launch if what is there is not watched and yet used as memory: the pointer that
  /// `extern __shared__ T name[]` becomes, which is set once, where it is first used; or a flag of the
  /// compiler's.
  void refuse_misuse(std::uintptr_t address, bool writes) const;

  /// Ends the launch: a write beside the shared variables would damage the simulator itself. The trace holds
  /// it already.
  [[noreturn]] void refuse_write();

 private:
  friend class StackOnly;
  void append_slowly(Event event);
  void append_read_slowly(Event event);
  void append_write_slowly(Event event, std::uintptr_t address, unsigned log2_bytes);
  /// Settles, and pauses the thread if its trace is full.
  void make_ready();
  void put_write(Event event, std::uintptr_t address, unsigned log2_bytes) {
    tail[0] = event;
    tail[1] = 0;
    tail += 2;
    if (address == 0) return;
    stored = reinterpret_cast<const std::byte*>(address);
    stored_bytes = 1u << log2_bytes;
    value = tail - 1;
  }
};

/// Null unless an instrumented kernel runs on this operating-system thread right now.
extern constinit thread_local Recorder* active_recorder;

/// @brief Notes an access that the runtime makes for the kernel, as a hook would have. `bytes`: 1, 2, 4, 8
/// or 16.
void note_runtime_access(Kind kind, const void* address, unsigned bytes, bool is_volatile,
                         std::uintptr_t caller);

/// @brief The same for many bytes at once.
void note_runtime_range(Kind kind, const void* address, std::size_t bytes, std::uintptr_t caller);

/// @brief Notes what the runtime takes from the registers that a kernel names by a pointer, or has put there.
/// On the thread's own stack they are what they are called, and nothing is noted.
inline void note_registers(Kind kind, const void* registers, std::size_t bytes, std::uintptr_t caller) {
  const Recorder* const r = active_recorder;
  if (r != nullptr && reinterpret_cast<std::uintptr_t>(registers) - r->stack >= kStackBytes)
    note_runtime_range(kind, registers, bytes, caller);
}

/// While one lives, hooks note nothing. For work on a kernel's stack that is not the kernel's: functions of
/// libraries may be instrumented as well, where a program has brought its own copy of a template.
class NothingRecorded {
 public:
  NothingRecorded() : before_(active_recorder) { active_recorder = nullptr; }
  ~NothingRecorded() { active_recorder = before_; }
  NothingRecorded(const NothingRecorded&) = delete;
  NothingRecorded& operator=(const NothingRecorded&) = delete;

 private:
  Recorder* before_;
};

/// While one lives, the running thread may touch its own stack alone, and nothing is noted: any other access
/// ends the launch. For functions of the kernel's module that the simulator calls to learn of a class.
class StackOnly {
 public:
  explicit StackOnly(Recorder& recorder);
  ~StackOnly();
  StackOnly(const StackOnly&) = delete;
  StackOnly& operator=(const StackOnly&) = delete;

 private:
  Recorder& recorder_;
  Recorder* before_;
  Event* limit_;
};

}  // namespace simt::check
