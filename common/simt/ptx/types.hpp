#pragma once
/// @file
/// The fundamental types of PTX, and which registers an instruction of a type takes.

#include <cstdint>
#include <optional>
#include <string_view>

namespace simt::ptx {

enum class Type : std::uint8_t {
  none,
  pred,
  b8,
  b16,
  b32,
  b64,
  b128,
  u8,
  u16,
  u32,
  u64,
  s8,
  s16,
  s32,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  tf32,
  f32,
  f64,
  e4m3x2,
  e5m2x2,
};

/// @brief The type of that name, without its dot: "u32".
std::optional<Type> type_named(std::string_view name);
std::string_view name_of(Type type);
/// 0 of a predicate.
unsigned bits_of(Type type);

/// `b`: bits of which nothing else is known. `i`: an integer, whose sign does not matter.
enum class Sort : std::uint8_t { predicate, bits, integer, real };
Sort sort_of(Type type);

/// @brief True if a register of type `of_register` can be an operand of type `wanted`: it has as many bits,
/// and one of the two is nothing but bits, or both are integers or real numbers.
/// @param wider Whether it may have more bits, as in loads, stores and conversions.
bool takes(Type wanted, Type of_register, bool wider);

}  // namespace simt::ptx
