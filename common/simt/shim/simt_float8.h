#pragma once
// The two 8-bit floating-point formats as bit patterns: exact conversion to float, and from double rounded
// once.

#include "simt_qualifiers.h"

namespace simt::shim {

/// 1 sign bit, kExponentBits and kMantissaBits. The bias makes 1 the exponent's middle, as in IEEE 754.
template <int kExponentBits, int kMantissaBits>
struct Float8 {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr int kMantissas = 1 << kMantissaBits;

  /// 2 to that power, which a double holds as a normal number.
  static constexpr double power_of_two(int exponent) noexcept {
    return __builtin_bit_cast(double, static_cast<unsigned long long>(1023 + exponent) << 52);
  }

  /// The value of a magnitude that is neither infinite nor NaN.
  static constexpr double magnitude(unsigned bits) noexcept {
    const int exponent = static_cast<int>(bits >> kMantissaBits);
    const int mantissa = static_cast<int>(bits) & (kMantissas - 1);
    const int scale = (exponent == 0 ? 1 : exponent) - kBias - kMantissaBits;
    return (exponent == 0 ? mantissa : mantissa + kMantissas) * power_of_two(scale);
  }

  /// The bits of a finite x >= 0, rounded to the nearest, ties to the even pattern. A pattern beyond those of
  /// the format stands for an x that is too large.
  static constexpr unsigned nearest(double x) noexcept {
    constexpr double kSmallestNormal = power_of_two(1 - kBias);
    if (x >= power_of_two(kBias + 3)) return ~0u;
    int exponent = 1;
    if (x >= kSmallestNormal)
      exponent = static_cast<int>(__builtin_bit_cast(unsigned long long, x) >> 52) - 1023 + kBias;
    const double in_steps = x * power_of_two(kMantissaBits + kBias - exponent);  // exact
    auto steps = static_cast<unsigned>(in_steps);
    const double rest = in_steps - steps;
    if (rest > 0.5 || (rest == 0.5 && (steps & 1u) != 0)) ++steps;
    // A sum carries from the mantissa into the exponent, as rounding should.
    return (static_cast<unsigned>(exponent - 1) << kMantissaBits) + steps;
  }
};

/// 4 exponent bits, 3 mantissa bits; no infinity, and one NaN: all ones.
struct E4m3 : Float8<4, 3> {
  static constexpr unsigned largest = 0x7e, nan = 0x7f, overflow = nan;

  static constexpr float to_float(unsigned char bits) noexcept {
    if ((bits & 0x7fu) == nan) return __builtin_nanf("");
    const auto value = static_cast<float>(magnitude(bits & 0x7fu));
    return (bits & 0x80u) != 0 ? -value : value;
  }
};

/// 5 exponent bits, 2 mantissa bits; infinities and NaN as in IEEE 754.
struct E5m2 : Float8<5, 2> {
  static constexpr unsigned largest = 0x7b, nan = 0x7f, overflow = 0x7c;

  static constexpr float to_float(unsigned char bits) noexcept {
    const unsigned positive = bits & 0x7fu;
    if (positive > overflow) return __builtin_nanf("");
    const float value = positive == overflow ? __builtin_inff() : static_cast<float>(magnitude(positive));
    return (bits & 0x80u) != 0 ? -value : value;
  }
};

/// x as 8 bits. What is too large, infinity too, becomes the largest number if it saturates, and otherwise
/// infinity, or NaN where there is none.
template <class Format>
constexpr unsigned char to_float8(double x, bool saturates) noexcept {
  if (x != x) return Format::nan;
  const unsigned sign = __builtin_bit_cast(unsigned long long, x) >> 63 != 0 ? 0x80u : 0u;
  const unsigned bits = Format::nearest(sign != 0 ? -x : x);
  if (bits <= Format::largest) return static_cast<unsigned char>(sign | bits);
  return static_cast<unsigned char>(sign | (saturates ? Format::largest : Format::overflow));
}

}  // namespace simt::shim
