#pragma once
// What happens behind a failed bounds, alignment or shift check of a kernel that clang compiles for check
// mode.
//
// clang takes its handlers of failed checks for functions that may write anything, so `x[i] * x[i]`, with a
// check before either access, would read memory twice; g++ and nvcc read once. These definitions take the
// handlers' place. They are inlined, and call functions of the simulator that touch no memory which clang
// knows of: `noalias` says so of a function without pointers.

#if defined(SIMT_CHECK) && defined(__clang__)

#include <cstdint>

extern "C" {

__declspec(noalias) void simt_bound_broken(std::uintptr_t check, std::uintptr_t index) noexcept;
__declspec(noalias) void simt_misaligned(std::uintptr_t check, std::uintptr_t address) noexcept;
__declspec(noalias) void simt_shift_out_of_range(std::uintptr_t check, std::uintptr_t value,
                                                 std::uintptr_t by) noexcept;

#define SIMT_HANDLER __attribute__((always_inline, no_sanitize("coverage", "thread", "undefined"))) inline
SIMT_HANDLER void __ubsan_handle_out_of_bounds(void* check, std::uintptr_t index) {
  simt_bound_broken(reinterpret_cast<std::uintptr_t>(check), index);
}
SIMT_HANDLER void __ubsan_handle_type_mismatch_v1(void* check, std::uintptr_t address) {
  simt_misaligned(reinterpret_cast<std::uintptr_t>(check), address);
}
SIMT_HANDLER void __ubsan_handle_shift_out_of_bounds(void* check, std::uintptr_t value, std::uintptr_t by) {
  simt_shift_out_of_range(reinterpret_cast<std::uintptr_t>(check), value, by);
}
#undef SIMT_HANDLER

}  // extern "C"

#endif
