#pragma once
/// @file
/// How much a matrix instruction does, in one word: what the runtime tells check mode of it.

#include <cstdint>

namespace simt {

/// The formats of factors that tensor cores have a rate of their own for.
enum class MatrixKind : unsigned { float16, float8, tf32, f64, integer8 };

struct MatrixWork {
  MatrixKind kind;
  unsigned multiply_adds;  ///< of the whole instruction: m n k

  static constexpr unsigned kKindShift = 20;  // the largest product, m64n256k32, has 2^19 multiply-adds
  constexpr std::uint32_t packed() const { return static_cast<unsigned>(kind) << kKindShift | multiply_adds; }
  static constexpr MatrixWork unpacked(std::uint32_t packed) {
    return {static_cast<MatrixKind>(packed >> kKindShift), packed & ((1u << kKindShift) - 1)};
  }
};

}  // namespace simt
