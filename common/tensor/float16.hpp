#pragma once
/// @file
/// The two floating-point types of 16 bits, as contracts, tensors and files have them: free of CUDA.
///
/// They store numbers and convert them; whoever computes converts to float or double first. Kernels see the
/// same memory as __half and __nv_bfloat16: device/float16.hpp.

#include <cstdint>
#include <string_view>

#include "tensor/host_device.hpp"

namespace course {
namespace detail {

/// @brief The bits of a number that has a sign, 15 - kMantissaBits bits of exponent and kMantissaBits of
/// mantissa, from high to low: the one nearest to x, or of two that are equally near the one whose last bit
/// is 0. What lies half a step or more past the largest number becomes infinite. NaN keeps its sign and the
/// upper bits of its payload, and is quiet.
template <int kMantissaBits>
COURSE_HOST_DEVICE constexpr std::uint16_t round_to_16_bits(double x) {
  constexpr int kExponentBits = 15 - kMantissaBits, kDropped = 52 - kMantissaBits;
  constexpr int kLeastExponent = 2 - (1 << (kExponentBits - 1));  // of a number that is not subnormal
  constexpr std::uint64_t kInfinity = ((std::uint64_t{1} << kExponentBits) - 1) << kMantissaBits;

  const auto wide = __builtin_bit_cast(std::uint64_t, x);
  const auto sign = static_cast<std::uint16_t>(wide >> 48 & 0x8000);
  const std::uint64_t magnitude = wide & 0x7fff'ffff'ffff'ffff, mantissa = wide & 0x000f'ffff'ffff'ffff;
  if (magnitude > 0x7ff0'0000'0000'0000) {
    constexpr std::uint64_t kQuiet = std::uint64_t{1} << (kMantissaBits - 1);
    return static_cast<std::uint16_t>(sign | kInfinity | kQuiet | mantissa >> kDropped);
  }
  const int exponent = static_cast<int>(magnitude >> 52) - 1023;
  const int normal = exponent > kLeastExponent ? exponent - kLeastExponent : 0;
  const int dropped = kDropped + (exponent < kLeastExponent ? kLeastExponent - exponent : 0);
  if (dropped > 53) return sign;  // less than half of the smallest number
  const std::uint64_t significand = mantissa | std::uint64_t{1} << 52;
  const std::uint64_t almost_half = (std::uint64_t{1} << (dropped - 1)) - 1, odd = significand >> dropped & 1;
  // The significand's leading 1 counts as one more step of the exponent, and so does a carry.
  const std::uint64_t rounded =
      (static_cast<std::uint64_t>(normal) << kMantissaBits) + ((significand + almost_half + odd) >> dropped);
  return static_cast<std::uint16_t>(sign | (rounded < kInfinity ? rounded : kInfinity));
}

/// @brief The number with these bits, exactly.
template <int kMantissaBits>
COURSE_HOST_DEVICE constexpr double number_of_16_bits(std::uint16_t bits) {
  constexpr int kExponentBits = 15 - kMantissaBits, kBias = (1 << (kExponentBits - 1)) - 1;
  constexpr int kMostExponent = (1 << kExponentBits) - 1;
  constexpr double kSmallest =  // 2^(1 - kBias - kMantissaBits)
      __builtin_bit_cast(double, static_cast<std::uint64_t>(1 - kBias - kMantissaBits + 1023) << 52);

  const std::uint64_t sign = static_cast<std::uint64_t>(bits & 0x8000) << 48;
  const int exponent = bits >> kMantissaBits & kMostExponent;
  const auto mantissa = static_cast<std::uint64_t>(bits & ((1 << kMantissaBits) - 1));
  std::uint64_t magnitude = mantissa << (52 - kMantissaBits);
  if (exponent == 0)
    magnitude = __builtin_bit_cast(std::uint64_t, static_cast<double>(mantissa) * kSmallest);
  else
    magnitude |= static_cast<std::uint64_t>(exponent == kMostExponent ? 0x7ff : exponent - kBias + 1023)
                 << 52;
  return __builtin_bit_cast(double, sign | magnitude);
}

}  // namespace detail

/// @brief IEEE 754's binary16: 11 significant bits, from 2^-24 to 65504. CUDA's __half.
struct float16 {
  static constexpr int kMantissaBits = 10;  ///< without the leading 1, which is not stored
  std::uint16_t bits;

  float16() = default;
  /// Rounds to the nearest, half way to even; past 65504 from 65520 on to infinity. NaN stays NaN.
  COURSE_HOST_DEVICE explicit constexpr float16(double x)
      : bits(detail::round_to_16_bits<kMantissaBits>(x)) {}
  COURSE_HOST_DEVICE explicit constexpr float16(float x) : float16(static_cast<double>(x)) {}
  COURSE_HOST_DEVICE static constexpr float16 from_bits(std::uint16_t bits) {
    float16 x{};
    x.bits = bits;
    return x;
  }
  /// Exact.
  COURSE_HOST_DEVICE explicit constexpr operator double() const {
    return detail::number_of_16_bits<kMantissaBits>(bits);
  }
  COURSE_HOST_DEVICE explicit constexpr operator float() const {
    return static_cast<float>(static_cast<double>(*this));
  }
};

/// @brief The upper half of a float: 8 significant bits, float's range. CUDA's __nv_bfloat16.
struct bfloat16 {
  static constexpr int kMantissaBits = 7;  ///< without the leading 1, which is not stored
  std::uint16_t bits;

  bfloat16() = default;
  /// Rounds to the nearest, half way to even. NaN stays NaN.
  COURSE_HOST_DEVICE explicit constexpr bfloat16(double x)
      : bits(detail::round_to_16_bits<kMantissaBits>(x)) {}
  COURSE_HOST_DEVICE explicit constexpr bfloat16(float x) : bfloat16(static_cast<double>(x)) {}
  COURSE_HOST_DEVICE static constexpr bfloat16 from_bits(std::uint16_t bits) {
    bfloat16 x{};
    x.bits = bits;
    return x;
  }
  /// Exact.
  COURSE_HOST_DEVICE explicit constexpr operator double() const {
    return detail::number_of_16_bits<kMantissaBits>(bits);
  }
  COURSE_HOST_DEVICE explicit constexpr operator float() const {
    return static_cast<float>(static_cast<double>(*this));
  }
};

/// Equal as numbers: 0 equals -0, and NaN equals nothing.
COURSE_HOST_DEVICE constexpr bool operator==(float16 a, float16 b) {
  return static_cast<double>(a) == static_cast<double>(b);
}
COURSE_HOST_DEVICE constexpr bool operator==(bfloat16 a, bfloat16 b) {
  return static_cast<double>(a) == static_cast<double>(b);
}

/// Which of the two, for code that is told when it runs.
enum class Format16 { bfloat16, float16 };

template <class T>
inline constexpr bool is_16_bit = false;
template <>
inline constexpr bool is_16_bit<bfloat16> = true;
template <>
inline constexpr bool is_16_bit<float16> = true;

template <class T>
requires is_16_bit<T>
inline constexpr Format16 format_of = Format16::bfloat16;
template <>
inline constexpr Format16 format_of<float16> = Format16::float16;

/// "bfloat16" or "float16".
std::string_view name_of(Format16 format);

/// @brief x rounded to the format, as the types' constructors do.
double rounded(double x, Format16 format);

/// @brief The most by which rounding changes a number of x's magnitude: half of the distance between
/// neighbours. 0 for what is not finite.
double half_step(double x, Format16 format);

/// @brief The number with the fewest digits that rounds to x. Printed in full, it is x with as many digits as
/// x has: 0.1 for the bfloat16 0.10009765625. Whole numbers up to 2^16, and what is not finite, stay as they
/// are.
double fewest_digits(double x, Format16 format);

}  // namespace course
