#pragma once
// Values of up to 8 bytes as the runtime takes them.

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simt_qualifiers.h"

namespace simt {

template <class T>
__forceinline__ std::uint64_t to_bits(T value) {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 8,
                "what lanes hand each other, and atomics, have at most 8 bytes");
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}

template <class T>
__forceinline__ T from_bits(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace simt
