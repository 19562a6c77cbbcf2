// What instrumented kernels call beside the hooks of common_hooks.cpp: for accesses that are volatile or
// atomic, that clang takes for unaligned, and for those of whole ranges.

#include <link.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "simt/check/checker.hpp"
#include "simt/check/common_hooks.hpp"
#include "simt/check/memory_map.hpp"
#include "simt/check/recorder.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/fiber.hpp"

namespace simt::check {
namespace {

/// Pieces as wide as hardware would move them: 16 bytes where that fits, else words, else bytes.
template <Kind kKind>
void note_range(std::uintptr_t address, std::size_t bytes, std::uintptr_t caller) {
  if (Recorder* const r = active_recorder) {
    r->range = address;
    r->range_bytes = bytes;
    r->range_code = caller - r->code;
    r->range_thread = r->thread;
  }
  const std::uintptr_t bits = address | bytes;
  if (bits % 16 == 0) {
    for (std::size_t at = 0; at < bytes; at += 16) note_access<kKind, 4, false, true>(address + at, caller);
  } else if (bits % 4 == 0) {
    for (std::size_t at = 0; at < bytes; at += 4) note_access<kKind, 2, false, true>(address + at, caller);
  } else {
    for (std::size_t at = 0; at < bytes; ++at) note_access<kKind, 0, false, true>(address + at, caller);
  }
}

template <Kind kKind, bool kVolatile>
void note_access_of(std::uintptr_t address, unsigned bytes, std::uintptr_t caller) {
  switch (bytes) {
    case 1:
      return note_access<kKind, 0, kVolatile>(address, caller);
    case 2:
      return note_access<kKind, 1, kVolatile>(address, caller);
    case 4:
      return note_access<kKind, 2, kVolatile>(address, caller);
    case 8:
      return note_access<kKind, 3, kVolatile>(address, caller);
    default:
      return note_access<kKind, 4, kVolatile>(address, caller);
  }
}

/// Where the running kernel may read by a pointer. Nothing: the thread's own stack, or memory of the host.
std::optional<Event> place_of(const Recorder& r, std::uintptr_t address) {
  std::uint64_t offset = address - r.arena;
  if (offset < kArenaBytes) return at_offset(Space::global, offset);
  if (address - r.stack < kStackBytes || is_builtin_variable(address)) return std::nullopt;
  if (offset = address - r.shared; offset < r.shared_bytes && r.is_shared_word[offset / 4] != 0)
    return at_offset(Space::shared, offset);
  if (offset = address - r.dynamic; offset < r.dynamic_bytes)
    return at_offset(Space::shared, Recorder::kDynamicOffset + offset);
  if (memory_map().find_elsewhere(address, offset) == MemoryMap::Owner::kernels)
    return at_offset(Space::global, offset);
  return std::nullopt;
}

bool holds(Event event, Event place, std::size_t bytes) {
  return space_of(event) == space_of(place) && offset_of(place) >= offset_of(event) &&
         offset_of(place) + bytes <= offset_of(event) + bytes_of(event);
}

/// Whether the last that the running thread told of is a read of these bytes, and of more perhaps.
bool was_just_read(const Recorder& r, Event place, std::uintptr_t address, std::size_t bytes) {
  if (r.tail == r.threads[static_cast<std::size_t>(r.thread)].slots.data()) return false;
  const Event last = r.tail[-1];
  if (kind_of(last) != Kind::read || code_of(last) == 0) return false;  // the value of a write has no code
  if (code_of(last) == r.range_code)  // in pieces, of which the last alone is in `last`
    return r.range_thread == r.thread && address >= r.range && address + bytes <= r.range + r.range_bytes;
  return holds(last, place, bytes);
}

/// Whether what the running thread told of last is a write of these bytes, or a copy to them.
bool was_just_written(const Recorder& r, Event place, std::size_t bytes) {
  const Event* const begin = r.threads[static_cast<std::size_t>(r.thread)].slots.data();
  const Event* end = r.tail;
  const auto is_read = [](Event event) { return kind_of(event) == Kind::read && code_of(event) != 0; };
  if (end != begin && is_read(end[-1]))  // of a copy: behind its writes
    for (const std::uint64_t code = code_of(end[-1]);
         end != begin && is_read(end[-1]) && code_of(end[-1]) == code;)
      --end;
  if (end - begin < 2) return false;
  for (const std::uint64_t code = code_of(end[-2]);
       end - begin >= 2 && kind_of(end[-2]) == Kind::write && code_of(end[-2]) == code; end -= 2)
    if (holds(end[-2], place, bytes)) return true;
  return false;
}

/// Whether that is the stack of another thread, which an index past a local variable may come to.
bool is_on_other_stack(const Recorder& r, std::uintptr_t address) {
  return address - r.stack >= kStackBytes &&
         BlockRunner::current()->is_on_a_stack(reinterpret_cast<const void*>(address));
}

/// Notes what a call's operand in memory is read or written by: see grading/build/operand_hooks.hpp. The
/// instruction may also belong to a statement that has a hook of its own, just before it.
template <Kind kKind>
void note_operand(std::uintptr_t address, std::size_t bytes, std::uintptr_t caller) {
  Recorder* const r = active_recorder;
  if (r == nullptr) return;
  const std::optional<Event> place = place_of(*r, address);
  if (!place && !is_on_other_stack(*r, address)) return;
  if (place &&
      (kKind == Kind::read ? was_just_read(*r, *place, address, bytes) : was_just_written(*r, *place, bytes)))
    return;
  if (std::has_single_bit(bytes) && bytes <= 16)
    note_access_of<kKind, false>(address, static_cast<unsigned>(bytes), caller);
  else
    note_range<kKind>(address, bytes, caller);
}

/// Whether a kernel may call what lies there by its address: a function of its own module, from its beginning
/// on, and functions of mathematics. Between the module's functions lie jumps into libraries.
bool may_be_called(const Recorder& r, std::uintptr_t function) {
  if (function - r.code < r.code_bytes) return std::ranges::binary_search(*r.functions, function);
  const auto is_mathematics = [](dl_phdr_info* library, std::size_t, void* address) {
    if (std::strstr(library->dlpi_name, "/libm.so") == nullptr) return 0;
    for (int i = 0; i < library->dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = library->dlpi_phdr[i];
      const std::uintptr_t begin = library->dlpi_addr + segment.p_vaddr;
      if (segment.p_type == PT_LOAD && *static_cast<std::uintptr_t*>(address) - begin < segment.p_memsz)
        return 1;
    }
    return 0;
  };
  return dl_iterate_phdr(is_mathematics, &function) != 0;
}

enum class AtomicKind { load, store, update, compare };

/// Exchanges if the value is the expected one, and leaves in `expected` what it has found. That is mostly a
/// variable on the thread's stack, but it may be any memory.
template <class T>
int compare_exchange(volatile T* p, T* expected, T desired, std::uintptr_t caller) {
  note_registers(Kind::read, expected, sizeof(T), caller);
  T found = *expected;
  if (__atomic_compare_exchange_n(p, &found, desired, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return 1;
  note_registers(Kind::write, expected, sizeof(T), caller);
  *expected = found;
  return 0;
}

/// An atomic builtin of the compiler: CUDA's atomics are the runtime's own, see simt_word_load().
template <AtomicKind kKind, unsigned kBytes>
void note_atomic(const volatile void* pointer, std::uintptr_t caller) {
  if (active_recorder == nullptr) return;
  constexpr auto kLog2Bytes = static_cast<unsigned>(std::countr_zero(kBytes));
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if constexpr (kKind == AtomicKind::load)
    note_access<Kind::read, kLog2Bytes, true>(address, caller);
  else if constexpr (kKind == AtomicKind::store)
    note_access<Kind::write, kLog2Bytes, true>(address, caller);
  else
    Checker::get().atomic(const_cast<const void*>(pointer), kBytes, simt_atomic_compare, caller);
}

}  // namespace

void note_rare_access(Recorder& r, Event event, std::uintptr_t address, std::uintptr_t value,
                      std::uintptr_t caller) {
  const bool writes = kind_of(event) == Kind::write;
  if (is_builtin_variable(address)) {
    if (writes) BlockRunner::current()->raise(FaultKind::builtin_variable, "");
    return r.append_begun_block(caller);
  }
  // The heap may have put memory with an owner of its own beside the shared variables.
  std::uint64_t offset = 0;
  const MemoryMap::Owner owner = memory_map().find_elsewhere(address, offset);
  bool stray = false;
  Space space = Space::global;
  if (address - r.shared < r.shared_bytes && r.is_shared_word[(address - r.shared) / 4] != 0) {
    r.refuse_misuse(address, writes);
    offset = address - r.shared;
    space = Space::shared;
  } else if (address - r.shared < r.shared_bytes &&
             (owner == MemoryMap::Owner::beside || owner == MemoryMap::Owner::host)) {
    offset = address - r.shared;
    stray = writes;
    space = Space::shared;
  } else if (!r.find_elsewhere(address, writes, offset, stray)) {
    return r.append_begun_block(caller);
  }
  event |= at_offset(space, offset);
  if (writes) {
    r.append_write(event, value, size_of(event), caller);
    if (stray) r.refuse_write();
  } else {
    r.append_read(event, caller);
  }
}

void note_runtime_access(Kind kind, const void* address, unsigned bytes, bool is_volatile,
                         std::uintptr_t caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  if (kind == Kind::write)
    is_volatile ? note_access_of<Kind::write, true>(at, bytes, caller)
                : note_access_of<Kind::write, false>(at, bytes, caller);
  else
    is_volatile ? note_access_of<Kind::read, true>(at, bytes, caller)
                : note_access_of<Kind::read, false>(at, bytes, caller);
}

void note_runtime_range(Kind kind, const void* address, std::size_t bytes, std::uintptr_t caller) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  kind == Kind::write ? note_range<Kind::write>(at, bytes, caller)
                      : note_range<Kind::read>(at, bytes, caller);
}

}  // namespace simt::check

#define SIMT_ACCESS_HOOKS(BYTES, LOG2_BYTES)                                      \
  SIMT_ACCESS_HOOK(__tsan_volatile_read##BYTES, read, LOG2_BYTES, true)           \
  SIMT_ACCESS_HOOK(__tsan_volatile_write##BYTES, write, LOG2_BYTES, true)         \
  SIMT_ACCESS_HOOK(__tsan_unaligned_read##BYTES, read, LOG2_BYTES, false)         \
  SIMT_ACCESS_HOOK(__tsan_unaligned_write##BYTES, write, LOG2_BYTES, false)       \
  SIMT_ACCESS_HOOK(__tsan_unaligned_volatile_read##BYTES, read, LOG2_BYTES, true) \
  SIMT_ACCESS_HOOK(__tsan_unaligned_volatile_write##BYTES, write, LOG2_BYTES, true)

#define SIMT_RANGE_HOOK(NAME, KIND)                                                                    \
  void NAME(void* address, std::size_t bytes) {                                                        \
    simt::check::note_range<simt::check::Kind::KIND>(reinterpret_cast<std::uintptr_t>(address), bytes, \
                                                     SIMT_HERE);                                       \
  }

#define SIMT_NOTE_ATOMIC(KIND, BITS) \
  simt::check::note_atomic<simt::check::AtomicKind::KIND, (BITS) / 8>(p, SIMT_HERE)
#define SIMT_ATOMIC_HOOKS(BITS, TYPE)                                                                     \
  TYPE __tsan_atomic##BITS##_load(const volatile TYPE* p, int) {                                          \
    SIMT_NOTE_ATOMIC(load, BITS);                                                                         \
    return __atomic_load_n(p, __ATOMIC_SEQ_CST);                                                          \
  }                                                                                                       \
  void __tsan_atomic##BITS##_store(volatile TYPE* p, TYPE v, int) {                                       \
    SIMT_NOTE_ATOMIC(store, BITS);                                                                        \
    __atomic_store_n(p, v, __ATOMIC_SEQ_CST);                                                             \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_exchange(volatile TYPE* p, TYPE v, int) {                                    \
    SIMT_NOTE_ATOMIC(update, BITS);                                                                       \
    return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);                                                   \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_fetch_add(volatile TYPE* p, TYPE v, int) {                                   \
    SIMT_NOTE_ATOMIC(update, BITS);                                                                       \
    return __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_fetch_sub(volatile TYPE* p, TYPE v, int) {                                   \
    SIMT_NOTE_ATOMIC(update, BITS);                                                                       \
    return __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_fetch_and(volatile TYPE* p, TYPE v, int) {                                   \
    SIMT_NOTE_ATOMIC(update, BITS);                                                                       \
    return __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_fetch_or(volatile TYPE* p, TYPE v, int) {                                    \
    SIMT_NOTE_ATOMIC(update, BITS);                                                                       \
    return __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST);                                                     \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_fetch_xor(volatile TYPE* p, TYPE v, int) {                                   \
    SIMT_NOTE_ATOMIC(update, BITS);                                                                       \
    return __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST);                                                    \
  }                                                                                                       \
  int __tsan_atomic##BITS##_compare_exchange_strong(volatile TYPE* p, TYPE* expected, TYPE v, int, int) { \
    SIMT_NOTE_ATOMIC(compare, BITS);                                                                      \
    return simt::check::compare_exchange(p, expected, v, SIMT_HERE);                                      \
  }                                                                                                       \
  int __tsan_atomic##BITS##_compare_exchange_weak(volatile TYPE* p, TYPE* expected, TYPE v, int, int) {   \
    SIMT_NOTE_ATOMIC(compare, BITS);                                                                      \
    return simt::check::compare_exchange(p, expected, v, SIMT_HERE);                                      \
  }                                                                                                       \
  TYPE __tsan_atomic##BITS##_compare_exchange_val(volatile TYPE* p, TYPE expected, TYPE v, int, int) {    \
    SIMT_NOTE_ATOMIC(compare, BITS);                                                                      \
    simt::check::compare_exchange(p, &expected, v, SIMT_HERE);                                            \
    return expected;                                                                                      \
  }

extern "C" {

void __tsan_init() {}

SIMT_ACCESS_HOOKS(1, 0)
SIMT_ACCESS_HOOKS(2, 1)
SIMT_ACCESS_HOOKS(4, 2)
SIMT_ACCESS_HOOKS(8, 3)
SIMT_ACCESS_HOOKS(16, 4)
SIMT_RANGE_HOOK(__tsan_read_range, read)
SIMT_RANGE_HOOK(__tsan_write_range, write)

SIMT_ATOMIC_HOOKS(8, unsigned char)
SIMT_ATOMIC_HOOKS(16, unsigned short)
SIMT_ATOMIC_HOOKS(32, unsigned)
SIMT_ATOMIC_HOOKS(64, unsigned long)
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }
void __tsan_atomic_signal_fence(int) {}

// An object's pointer to the table of its virtual functions.
SIMT_ACCESS_HOOK(__tsan_vptr_read, read, 3, false)
void __tsan_vptr_update(void* address, void*) {
  simt::check::note_access<simt::check::Kind::write, 3, false>(reinterpret_cast<std::uintptr_t>(address),
                                                               SIMT_HERE);
}

// Clang calls these for copies. g++ calls the C library, which the linker turns into calls of the __wrap_
// names.
void* __tsan_memcpy(void* to, const void* from, std::size_t bytes) {
  using namespace simt::check;
  note_range<Kind::read>(reinterpret_cast<std::uintptr_t>(from), bytes, SIMT_HERE);
  note_range<Kind::write>(reinterpret_cast<std::uintptr_t>(to), bytes, SIMT_HERE);
  return std::memcpy(to, from, bytes);
}
void* __tsan_memmove(void* to, const void* from, std::size_t bytes) {
  using namespace simt::check;
  note_range<Kind::read>(reinterpret_cast<std::uintptr_t>(from), bytes, SIMT_HERE);
  note_range<Kind::write>(reinterpret_cast<std::uintptr_t>(to), bytes, SIMT_HERE);
  return std::memmove(to, from, bytes);
}
void* __tsan_memset(void* to, int value, std::size_t bytes) {
  using namespace simt::check;
  note_range<Kind::write>(reinterpret_cast<std::uintptr_t>(to), bytes, SIMT_HERE);
  return std::memset(to, value, bytes);
}

void* __wrap_memcpy(void* to, const void* from, std::size_t bytes) __attribute__((alias("__tsan_memcpy")));
void* __wrap_memmove(void* to, const void* from, std::size_t bytes) __attribute__((alias("__tsan_memmove")));
void* __wrap_memset(void* to, int value, std::size_t bytes) __attribute__((alias("__tsan_memset")));

__attribute__((target("general-regs-only"))) int simt_operand_is_own(const void* address) {
  const simt::check::Recorder* const r = simt::check::active_recorder;
  return r == nullptr || reinterpret_cast<std::uintptr_t>(address) - r->stack < simt::kStackBytes;
}
void simt_operand_read(void* address, std::size_t bytes, void* instruction) {
  simt::check::note_operand<simt::check::Kind::read>(reinterpret_cast<std::uintptr_t>(address), bytes,
                                                     simt::check::inside_call(instruction));
}
void simt_operand_write(void* address, std::size_t bytes, void* instruction) {
  simt::check::note_operand<simt::check::Kind::write>(reinterpret_cast<std::uintptr_t>(address), bytes,
                                                      simt::check::inside_call(instruction));
}
/// A kernel is about to call what a pointer leads to. In a library, nothing would be seen of what that does.
void simt_operand_call(void* function, std::size_t, void*) {
  const simt::check::Recorder* const r = simt::check::active_recorder;
  if (r != nullptr && !simt::check::may_be_called(*r, reinterpret_cast<std::uintptr_t>(function)))
    simt_host_function("a function of a library by its address");
}
/// A kernel has moved its stack, or the place by which a function finds its variables. What it stores there
/// has no hooks.
void simt_operand_stack(void* place, std::size_t, void*) {
  const simt::check::Recorder* const r = simt::check::active_recorder;
  if (r != nullptr && reinterpret_cast<std::uintptr_t>(place) - r->stack >= simt::kStackBytes)
    simt::BlockRunner::current()->raise(simt::FaultKind::moved_stack, "");
}

}  // extern "C"
