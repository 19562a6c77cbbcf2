// What instrumented kernels call besides the hooks, and what programs ask of check mode.

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "simt/check/checker.hpp"
#include "simt/report/fields.hpp"
#include "simt/runtime/block.hpp"
#include "simt/runtime/context.hpp"
#include "simt/runtime/stored_variables.hpp"
#include "simt/shim/simt_abi.h"

namespace simt {

using check::Checker;

Counters& Counters::operator+=(const Counters& other) {
  report::add(*this, other);
  return *this;
}

bool Counters::empty() const { return *this == Counters{}; }

namespace {

/// Takes the lock and does all work that there is.
std::unique_lock<ApiMutex> after_all_work() {
  Context& context = Context::get();
  std::unique_lock lock(context.mutex);
  context.finish_all();
  return lock;
}

}  // namespace

std::vector<Finding> take_findings() {
  const auto lock = after_all_work();
  return Checker::get().take_findings();
}

std::uint64_t take_unwatched_accesses() {
  const auto lock = after_all_work();
  return Checker::get().take_unwatched_accesses();
}

std::vector<LaunchProfile> take_profiles() {
  const auto lock = after_all_work();
  return Checker::get().take_profiles();
}

std::uint64_t take_stored_variables() {
  const auto lock = after_all_work();
  return Checker::get().take_stored_variables() + stored_variables().take();
}

void start_trace(const TraceRequest& request) {
  const auto lock = after_all_work();
  Checker::get().trace().start(request);
}

Trace take_trace() {
  const auto lock = after_all_work();
  return Checker::get().trace().take();
}

}  // namespace simt

namespace {

using simt::check::active_recorder;
using simt::check::Checker;
using simt::check::FenceScope;
using simt::check::NameOf;

#define SIMT_CALLER() (reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)) - 1)

// What the compiler describes a failed check with (the interface of its undefined-behaviour sanitizer).
struct UbsanPlace {
  const char* file;
  std::uint32_t line, column;
};
struct UbsanType {
  std::uint16_t kind, info;
  char name[1];
};
struct UbsanOutOfBounds {
  UbsanPlace place;
  const UbsanType* array;
  const UbsanType* index;
};
struct UbsanTypeMismatch {
  UbsanPlace place;
  const UbsanType* type;
  std::uint8_t log2_alignment;
  std::uint8_t check;
};

/// An integer as the sanitizer passes it: in the word itself if it fits there.
std::int64_t integer_of(const UbsanType* type, std::uintptr_t value) {
  const unsigned bits = 1u << (type->info >> 1);
  const bool is_signed = (type->info & 1u) != 0;
  if (bits > 64) return static_cast<std::int64_t>(*reinterpret_cast<const std::uint64_t*>(value));
  if (!is_signed || bits == 64) return static_cast<std::int64_t>(value);
  return static_cast<std::int64_t>(value << (64 - bits)) >> (64 - bits);
}

/// Atomics work in host code as well, where nobody is told.
void tell_atomic(const void* address, unsigned bytes, SimtAtomic operation, std::uintptr_t caller,
                 FenceScope scope = FenceScope::device) {
  simt::BlockRunner* const runner = simt::BlockRunner::current();
  if (runner == nullptr) return;
  constexpr unsigned kMostBytes = 16;
  simt::check::need_aligned(*runner, address, std::min(std::bit_ceil(bytes), kMostBytes), caller);
  runner->spin_hint();
  if (active_recorder == nullptr) return;
  // A float4 is one access. What no shim asks for comes in parts. Another thread may run in between.
  for (unsigned at = 0; at < bytes; at += kMostBytes)
    Checker::get().atomic(static_cast<const std::byte*>(address) + at,
                          std::bit_ceil(std::min(bytes - at, kMostBytes)), operation, caller, scope);
}

FenceScope fence_scope(SimtScope scope) {
  return scope == simt_scope_thread  ? FenceScope::thread
         : scope == simt_scope_block ? FenceScope::block
                                     : FenceScope::device;
}

/// visit(word), with a pointer to an integer of so many bytes.
template <class Visit>
std::uint64_t at_word(void* address, unsigned bytes, Visit visit) {
  switch (bytes) {
    case 1:
      return visit(static_cast<std::uint8_t*>(address));
    case 2:
      return visit(static_cast<std::uint16_t*>(address));
    case 4:
      return visit(static_cast<std::uint32_t*>(address));
    default:
      return visit(static_cast<std::uint64_t*>(address));
  }
}

void note_kernel_heap(void* memory, std::size_t bytes) {
  simt::check::memory_map().add_kernel_heap(reinterpret_cast<std::uintptr_t>(memory), bytes);
  Checker::get().note_kernel_heap(bytes);
}

/// A kernel is about to give back memory, which must be its own: the heap keeps its notes in what it gets,
/// where the host could read them.
void forget_kernel_heap(void* memory) {
  if (active_recorder == nullptr || memory == nullptr) return;
  using Owner = simt::check::MemoryMap::Owner;
  const Owner owner = simt::check::memory_map().free_kernel_heap(reinterpret_cast<std::uintptr_t>(memory));
  if (owner != Owner::kernels)
    simt::BlockRunner::current()->raise_access(
        owner == Owner::freed ? simt::FaultKind::freed_memory : simt::FaultKind::host_pointer, memory);
  Checker::get().note_kernel_heap(0);
}

/// Stores what a function of mathematics gives beside its value, as the kernel's own store. The kernel's
/// address is `caller`.
template <class T>
void store_result(T* to, T value, std::uintptr_t caller) {
  *to = value;
  if (active_recorder != nullptr)
    simt::check::note_runtime_access(simt::check::Kind::write, to, sizeof(T), false, caller);
}

}  // namespace

extern "C" {

int simt_wants_names() { return active_recorder != nullptr && Checker::get().wants_names(); }

void simt_name_shared(const void* address, const char* name, const SimtArray* array) {
  if (active_recorder != nullptr) Checker::get().name_shared(address, name, *array, NameOf::variable);
}

void simt_name_view(const void* address, const char* name, const SimtArray* array) {
  if (active_recorder != nullptr) Checker::get().name_shared(address, name, *array, NameOf::view);
}

void simt_name_pointer(const void* address, const char* name, std::size_t element_bytes,
                       SimtMarkValues mark_values, int rank, const long long* shape_and_strides) {
  simt::check::Recorder* const recorder = active_recorder;
  if (recorder == nullptr) return;
  const simt::check::NothingRecorded guard;
  simt::check::memory_map().name_global(reinterpret_cast<std::uintptr_t>(address), name, element_bytes,
                                        {{shape_and_strides, shape_and_strides + rank},
                                         {shape_and_strides + rank, shape_and_strides + 2 * rank}},
                                        simt::check::values_of(element_bytes, mark_values, *recorder));
}

void simt_fence(SimtFence scope) {
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
  if (active_recorder != nullptr)
    Checker::get().fence(scope == simt_fence_block ? FenceScope::block : FenceScope::device, SIMT_CALLER());
}

std::uint64_t simt_word_load(const void* address, unsigned bytes, SimtScope scope) {
  tell_atomic(address, bytes, simt_atomic_load, SIMT_CALLER(), fence_scope(scope));
  return at_word(const_cast<void*>(address), bytes,
                 [](auto* word) { return __atomic_load_n(word, __ATOMIC_SEQ_CST); });
}

std::uint64_t simt_word_exchange(void* address, unsigned bytes, SimtScope scope, std::uint64_t value) {
  tell_atomic(address, bytes, simt_atomic_exchange, SIMT_CALLER(), fence_scope(scope));
  return at_word(address, bytes, [&](auto* word) {
    return __atomic_exchange_n(word, static_cast<std::remove_pointer_t<decltype(word)>>(value),
                               __ATOMIC_SEQ_CST);
  });
}

std::uint64_t simt_word_compare(void* address, unsigned bytes, SimtScope scope, std::uint64_t expected,
                                std::uint64_t desired) {
  tell_atomic(address, bytes, simt_atomic_compare, SIMT_CALLER(), fence_scope(scope));
  return at_word(address, bytes, [&](auto* word) {
    using Word = std::remove_pointer_t<decltype(word)>;
    auto found = static_cast<Word>(expected);
    __atomic_compare_exchange_n(word, &found, static_cast<Word>(desired), false, __ATOMIC_SEQ_CST,
                                __ATOMIC_SEQ_CST);
    return found;
  });
}

std::uint64_t simt_word_update(void* address, unsigned bytes, SimtScope scope,
                               std::uint64_t (*change)(std::uint64_t old, std::uint64_t value),
                               std::uint64_t value) {
  tell_atomic(address, bytes, simt_atomic_update, SIMT_CALLER(), fence_scope(scope));
  return at_word(address, bytes, [&](auto* word) {
    auto before = __atomic_load_n(word, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(word, &before, static_cast<decltype(before)>(change(before, value)),
                                        false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    return before;
  });
}

void simt_atomic_add_floats(float* address, const float* values, unsigned count, float* before) {
  using simt::check::Kind, simt::check::note_registers;
  if (simt::BlockRunner* const runner = simt::BlockRunner::current();
      runner != nullptr && runner->is_shared(address)) {
    char text[200];
    std::snprintf(text, sizeof text,
                  "atomicAdd of a float%u on shared memory, which works on global memory alone. Add each "
                  "float by itself",
                  count);
    runner->raise(simt::FaultKind::wrong_memory, text);
  }
  note_registers(Kind::read, values, count * sizeof(float), SIMT_CALLER());
  tell_atomic(address, count * sizeof(float), simt_atomic_update, SIMT_CALLER());
  for (unsigned i = 0; i < count; ++i) before[i] = std::atomic_ref(address[i]).fetch_add(values[i]);
  note_registers(Kind::write, before, count * sizeof(float), SIMT_CALLER());
}

void __ubsan_handle_out_of_bounds(const UbsanOutOfBounds* data, std::uintptr_t index) {
  if (active_recorder == nullptr) return;
  std::string type = data->array->name;  // "float [5]" as g++ has it; clang leaves the space out
  if (const std::size_t bracket = type.find('['); bracket != std::string::npos && type[bracket - 1] != ' ')
    type.insert(bracket, 1, ' ');
  Checker::get().array_bound_broken(SIMT_CALLER(), type.c_str(), integer_of(data->index, index));
}
void __ubsan_handle_type_mismatch_v1(const UbsanTypeMismatch* data, std::uintptr_t address) {
  if (active_recorder == nullptr) return;
  // A local array lies in registers on a GPU, where no element has an address; up to 8 bytes, the host's
  // processor takes them from anywhere.
  const bool is_local = address - active_recorder->stack < simt::kStackBytes;
  if (is_local && data->log2_alignment <= 3) return;
  Checker::get().misaligned(SIMT_CALLER(), address, std::uint64_t{1} << data->log2_alignment);
  simt::BlockRunner::current()->raise(simt::FaultKind::told_misaligned, "");
}
void __ubsan_handle_pointer_overflow(const void*, std::uintptr_t, std::uintptr_t) {}
void __ubsan_handle_shift_out_of_bounds(const void*, std::uintptr_t, std::uintptr_t) {
  if (active_recorder != nullptr) Checker::get().shift_out_of_range(SIMT_CALLER());
}
// A wrong promise of the source (__builtin_assume_aligned) is clang's alone to check.
void __ubsan_handle_alignment_assumption(const void*, std::uintptr_t, std::uintptr_t, std::uintptr_t) {}

// The names by which kernels compiled by clang call these; see simt_failed_checks.h.
void simt_bound_broken(const UbsanOutOfBounds* data, std::uintptr_t index)
    __attribute__((alias("__ubsan_handle_out_of_bounds")));
void simt_misaligned(const UbsanTypeMismatch* data, std::uintptr_t address)
    __attribute__((alias("__ubsan_handle_type_mismatch_v1")));
void simt_shift_out_of_range(const void*, std::uintptr_t, std::uintptr_t)
    __attribute__((alias("__ubsan_handle_shift_out_of_bounds")));

// The kernel's own malloc and new: the linker turns its calls into these. What a kernel gets there is its
// own.
void* __wrap_malloc(std::size_t bytes) {
  void* memory = std::malloc(bytes);
  if (active_recorder != nullptr && memory != nullptr) note_kernel_heap(memory, bytes);
  return memory;
}
void __wrap_free(void* memory) {
  forget_kernel_heap(memory);
  std::free(memory);
}
void* __wrap__Znwm(std::size_t bytes) {
  void* memory = ::operator new(bytes);
  if (active_recorder != nullptr) note_kernel_heap(memory, bytes);
  return memory;
}
void* __wrap__Znam(std::size_t bytes) { return __wrap__Znwm(bytes); }
void __wrap__ZdlPv(void* memory) {
  forget_kernel_heap(memory);
  ::operator delete(memory);
}
void __wrap__ZdlPvm(void* memory, std::size_t) { __wrap__ZdlPv(memory); }
void __wrap__ZdaPv(void* memory) { __wrap__ZdlPv(memory); }
void __wrap__ZdaPvm(void* memory, std::size_t) { __wrap__ZdlPv(memory); }

// The linker turns a kernel's calls of these into calls of ours as well: they store to where they are told.
#define SIMT_STORING_FUNCTIONS(TYPE, SUFFIX)                     \
  TYPE __wrap_modf##SUFFIX(TYPE x, TYPE* whole) {                \
    TYPE result = 0;                                             \
    const TYPE part = std::modf(x, &result);                     \
    store_result(whole, result, SIMT_CALLER());                  \
    return part;                                                 \
  }                                                              \
  TYPE __wrap_frexp##SUFFIX(TYPE x, int* exponent) {             \
    int result = 0;                                              \
    const TYPE part = std::frexp(x, &result);                    \
    store_result(exponent, result, SIMT_CALLER());               \
    return part;                                                 \
  }                                                              \
  TYPE __wrap_remquo##SUFFIX(TYPE x, TYPE y, int* quotient) {    \
    int result = 0;                                              \
    const TYPE rest = std::remquo(x, y, &result);                \
    store_result(quotient, result, SIMT_CALLER());               \
    return rest;                                                 \
  }                                                              \
  void __wrap_sincos##SUFFIX(TYPE x, TYPE* sine, TYPE* cosine) { \
    TYPE result_of_sine = 0, result_of_cosine = 0;               \
    sincos##SUFFIX(x, &result_of_sine, &result_of_cosine);       \
    store_result(sine, result_of_sine, SIMT_CALLER());           \
    store_result(cosine, result_of_cosine, SIMT_CALLER());       \
  }
SIMT_STORING_FUNCTIONS(float, f)
SIMT_STORING_FUNCTIONS(double, )

}  // extern "C"
