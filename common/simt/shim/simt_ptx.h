#pragma once
// Inline PTX. The rewriter turns `asm volatile("..." : "=f"(y) : "f"(x))` into
// `SIMT_PTX("...", ::simt::inline_ptx::out<'f'>(y), ::simt::inline_ptx::in<'f'>(x))`: only the compiler knows
// the template, once macros are expanded and strings joined. The runtime reads it at the statement's first
// use (common/simt/ptx) and keeps what it made of it beside the statement.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt_qualifiers.h"

extern "C" {

/// One asm statement; in a template, one for each instantiation.
struct SimtPtx {
  const char* text;
  const char* file;
  int line;
  void* code;  ///< what the runtime made of it; null before its first use
};

/// @brief Runs a statement for the calling thread.
/// @param operands Values on the way in, results on the way back: 8 bytes each, two of those for a 'q'.
/// @param constraints Of the operands, two characters each: '=', '+' or ' ', then the letter.
void simt_ptx(SimtPtx* statement, std::uint64_t* operands, const char* constraints);

/// The address in the 32-bit window of shared memory that PTX knows; the thread's block must own it.
std::uint32_t simt_to_shared(const void* address);
/// The other way round; ends the launch if no shared memory is there.
void* simt_from_shared(std::uint64_t shared_address);

}  // extern "C"

namespace simt::inline_ptx {

/// nvcc's rule: the operand has the size and the sort of number that its letter says. A pointer is an 'l'.
template <char kLetter, class T>
constexpr bool fits() {
  constexpr bool whole = std::is_integral_v<T> || std::is_enum_v<T>;
  switch (kLetter) {
    case 'h':
      return whole && sizeof(T) == 2;
    case 'r':
      return whole && sizeof(T) == 4;
    case 'l':
      return (whole || std::is_pointer_v<T>)&&sizeof(T) == 8;
    case 'q':
      return sizeof(T) == 16 && !std::is_class_v<T> && !std::is_floating_point_v<T>;
    case 'f':
      return std::is_same_v<T, float>;
    case 'd':
      return std::is_same_v<T, double>;
    case 'n':
      return whole;
    case 'C':
      return std::is_same_v<T, const char*>;
    default:
      return false;
  }
}

template <char kWay, char kLetter, class T>
struct Operand {
  static_assert(kLetter != 'h' || fits<'h', T>(), "asm: an operand of \"h\" is a 16-bit integer");
  static_assert(kLetter != 'r' || fits<'r', T>(), "asm: an operand of \"r\" is a 32-bit integer");
  static_assert(kLetter != 'l' || fits<'l', T>(),
                "asm: an operand of \"l\" is a 64-bit integer or a pointer");
  static_assert(kLetter != 'q' || fits<'q', T>(), "asm: an operand of \"q\" is a 128-bit integer");
  static_assert(kLetter != 'f' || fits<'f', T>(), "asm: an operand of \"f\" is a float");
  static_assert(kLetter != 'd' || fits<'d', T>(), "asm: an operand of \"d\" is a double");
  static_assert(kLetter != 'n' || fits<'n', T>(), "asm: an operand of \"n\" is an integer constant");
  static_assert(kLetter != 'C' || fits<'C', T>(), "asm: an operand of \"C\" is a constant array of char");
  static constexpr char kConstraint[2] = {kWay, kLetter};
  static constexpr unsigned kSlots = kLetter == 'q' ? 2 : 1;
};

template <char kLetter, class T>
struct In : Operand<' ', kLetter, T> {
  T value;
  explicit In(T given) : value(given) {}
  __forceinline__ void put(std::uint64_t* slot) const {
    if constexpr (kLetter == 'n') {
      *slot = static_cast<std::uint64_t>(value);
    } else {
      std::memcpy(slot, &value, sizeof value);
    }
  }
  __forceinline__ void take(const std::uint64_t*) const {}
};

template <char kWay, char kLetter, class T>
struct Out : Operand<kWay, kLetter, T> {
  T& target;
  explicit Out(T& given) : target(given) {}
  __forceinline__ void put(std::uint64_t* slot) const {
    if constexpr (kWay == '+') std::memcpy(slot, &target, sizeof target);
  }
  __forceinline__ void take(const std::uint64_t* slot) const {
    T value;
    std::memcpy(&value, slot, sizeof value);
    target = value;
  }
};

template <char kLetter, class T>
__forceinline__ auto in(const T& value) {
  return In<kLetter, std::decay_t<const T&>>(value);
}
template <char kLetter, class T>
__forceinline__ auto out(T& target) {
  return Out<'=', kLetter, T>(target);
}
template <char kLetter, class T>
__forceinline__ auto inout(T& target) {
  return Out<'+', kLetter, T>(target);
}

template <class>
constexpr bool is_operand = false;
template <char kLetter, class T>
constexpr bool is_operand<In<kLetter, T>> = true;
template <char kWay, char kLetter, class T>
constexpr bool is_operand<Out<kWay, kLetter, T>> = true;

/// What an asm statement says, and where it stands.
struct Written {
  const char* text;
  const char* file;
  int line;
};

/// `Statement`: the type of a lambda that returns what is `Written`. The object that the runtime believes is
/// made here, so that no file can hand over one of its own.
template <class Statement, class... Operands>
__forceinline__ void run(Statement, const Operands&... operands) {
  static_assert((is_operand<Operands> && ...));
  constexpr Written written = Statement{}();
  static constinit SimtPtx statement{written.text, written.file, written.line, nullptr};
  static constexpr auto constraints = [] {
    struct {
      char text[2 * sizeof...(Operands) + 1] = {};
    } all;
    [[maybe_unused]] std::size_t i = 0;
    ((all.text[i++] = Operands::kConstraint[0], all.text[i++] = Operands::kConstraint[1]), ...);
    return all;
  }();
  std::uint64_t slots[(Operands::kSlots + ... + 1)] = {};
  [[maybe_unused]] std::uint64_t* slot = slots;
  ((operands.put(slot), slot += Operands::kSlots), ...);
  simt_ptx(&statement, slots, constraints.text);
  slot = slots;
  ((operands.take(slot), slot += Operands::kSlots), ...);
}

}  // namespace simt::inline_ptx

#define SIMT_PTX(TEMPLATE, ...)                                 \
  ::simt::inline_ptx::run([]() -> ::simt::inline_ptx::Written { \
    return {TEMPLATE, __FILE__, __LINE__};                      \
  } __VA_OPT__(, ) __VA_ARGS__)

// --- Addresses of shared memory, as PTX has them ----------------------------------------------------------

__forceinline__ std::size_t __cvta_generic_to_shared(const void* address) { return simt_to_shared(address); }
__forceinline__ void* __cvta_shared_to_generic(std::size_t address) { return simt_from_shared(address); }
__forceinline__ std::size_t __cvta_generic_to_global(const void* address) {
  return reinterpret_cast<std::size_t>(address);
}
__forceinline__ void* __cvta_global_to_generic(std::size_t address) {
  return reinterpret_cast<void*>(address);
}
