#pragma once
/// @file
/// The number formats of matrix instructions, unpacked to those that the processor computes with.

#include <cstddef>

#include "simt/shim/simt_matrix_abi.h"

namespace simt::matrix {

/// Bytes of one element.
constexpr int bytes_of(SimtNumber number) {
  switch (number) {
    case simt_e4m3:
    case simt_e5m2:
    case simt_s8:
    case simt_u8:
      return 1;
    case simt_f16:
    case simt_bf16:
      return 2;
    case simt_tf32:
    case simt_f32:
    case simt_s32:
      return 4;
    case simt_f64:
      return 8;
  }
  return 0;
}

constexpr bool is_integer(SimtNumber number) {
  return number == simt_s8 || number == simt_u8 || number == simt_s32;
}

/// The values of `count` packed elements. Exact, but for tf32, whose lower 13 bits are left out, as tensor
/// cores do. Integers go to int, f64 to double, all others to float.
void unpack(SimtNumber number, const std::byte* packed, int count, float* values);
void unpack(SimtNumber number, const std::byte* packed, int count, int* values);
void unpack(SimtNumber number, const std::byte* packed, int count, double* values);

/// The way back: f16 rounds to the nearest.
void pack(SimtNumber number, const float* values, int count, std::byte* packed);

}  // namespace simt::matrix
