// The two 16-bit floating-point formats as bit patterns: exact conversions, and arithmetic rounded once.
//
// A float holds every 16-bit value, so an operation is done in float and rounded. That rounds twice, which
// goes wrong only if the first rounding makes a tie: a float half way between two 16-bit values. Sums,
// products, quotients and roots of 16-bit values are ties or keep clear of them by more than a float's
// rounding error (a float has more than twice as many bits); a fused multiply-add may come arbitrarily close
// to one and is then decided exactly.
#pragma once

#include "simt_atomics.h"
#include "simt_math.h"

// Joins three parts to one name, after their own macros have been expanded.
#define SIMT_PASTE_NOW(a, b, c) a##b##c
#define SIMT_PASTE(a, b, c) SIMT_PASTE_NOW(a, b, c)

namespace simt::shim {

/// x rounded to float so that a later rounding to fewer bits comes out as if x had been rounded only once:
/// what is inexact gets an odd last bit, which no 16-bit value and no tie between two of them has.
SIMT_SHIM_INLINE float round_to_odd(double x) noexcept {
  const float nearest = static_cast<float>(x);
  if (nearest == x || x != x) return nearest;
  const unsigned int bits = __float_as_uint(nearest);
  if (bits & 1u) return nearest;
  return __uint_as_float(fabs(double{nearest}) > fabs(x) ? bits - 1 : bits + 1);
}

/// a * b + c for floats that come from 16-bit values, as a double rounded to odd.
inline double fma_to_odd(float a, float b, float c) noexcept {
  const double product = uncontracted(double{a} * b);  // at most 22 significant bits: exact
  const double sum = product + c, error = sum_error(product, c);
  const auto bits = __builtin_bit_cast(unsigned long long, sum);
  // error == 0 also keeps infinities; a NaN error comes with an infinite or NaN sum, which is final.
  if (!(error < 0 || error > 0) || (bits & 1u)) return sum;
  return __builtin_bit_cast(double, (error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/// The magnitude of an integer as a double whose last bit stands for all bits that do not fit.
SIMT_SHIM_INLINE double magnitude_to_odd(unsigned long long magnitude) noexcept {
  if (magnitude >> 53) magnitude = (magnitude >> 11 | ((magnitude & 0x7ffu) != 0)) << 11;
  return static_cast<double>(magnitude);
}
template <class Integer>
SIMT_SHIM_INLINE double integer_to_odd(Integer i) noexcept {
  const auto wide = static_cast<unsigned long long>(i);
  return i < Integer(0) ? -magnitude_to_odd(0 - wide) : magnitude_to_odd(wide);
}

/// IEEE binary16: 5 exponent bits, 10 mantissa bits.
struct Half {
  static constexpr unsigned short infinity = 0x7c00;
  static constexpr unsigned short one = 0x3c00;
  static constexpr unsigned short nan = 0x7fff;

  SIMT_SHIM_INLINE static float to_float(unsigned short bits) noexcept {
#if defined(__F16C__)
    typedef short Shorts __attribute__((vector_size(16)));
    return __builtin_ia32_vcvtph2ps(Shorts{static_cast<short>(bits)})[0];
#else
    // The mantissa is moved into place; the multiplication repairs the exponent's bias and normalises
    // subnormals.
    const unsigned int sign = (bits & 0x8000u) << 16, magnitude = (bits & 0x7fffu) << 13;
    const unsigned int scaled = __float_as_uint(__uint_as_float(magnitude) * 0x1p112f);
    return __uint_as_float(sign | ((bits & infinity) == infinity ? magnitude | 0x7f800000u : scaled));
#endif
  }

  SIMT_SHIM_INLINE static unsigned short from_float(float x) noexcept {
    if (x != x) return nan;
#if defined(__F16C__)
    typedef float Floats __attribute__((vector_size(16)));
    return static_cast<unsigned short>(__builtin_ia32_vcvtps2ph(Floats{x}, 0)[0]);
#else
    const unsigned int bits = __float_as_uint(x), magnitude = bits & 0x7fffffffu;
    unsigned int rounded;
    if (magnitude >= 0x477ff000u) {  // 65520, half way from the largest finite value to the next, and beyond
      rounded = infinity;
    } else if (magnitude < 0x38800000u) {  // below 2^-14: adding 1/2 rounds to a multiple of 2^-24
      rounded = __float_as_uint(__uint_as_float(magnitude) + 0.5f) - 0x3f000000u;
    } else {
      rounded = (magnitude - 0x38000000u + 0xfffu + (magnitude >> 13 & 1u)) >> 13;
    }
    return static_cast<unsigned short>(bits >> 16 & 0x8000u) | static_cast<unsigned short>(rounded);
#endif
  }

  /// True if x may lie half way between two values of the format. Ties of subnormals are not told apart.
  SIMT_SHIM_INLINE static bool may_be_tie(float x) noexcept {
    const unsigned int bits = __float_as_uint(x);
    return (bits & 0x1fffu) == 0x1000u || ((bits & 0x7fffffffu) - 1u) < 0x38800000u - 1u;
  }
};

/// bfloat16: the upper half of a float.
struct Bfloat16 {
  static constexpr unsigned short infinity = 0x7f80;
  static constexpr unsigned short one = 0x3f80;
  static constexpr unsigned short nan = 0x7fff;

  SIMT_SHIM_INLINE static float to_float(unsigned short bits) noexcept {
    return __uint_as_float(static_cast<unsigned int>(bits) << 16);
  }
  SIMT_SHIM_INLINE static unsigned short from_float(float x) noexcept {
    const unsigned int bits = __float_as_uint(x);
    if (x != x) return nan;
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
  SIMT_SHIM_INLINE static bool may_be_tie(float x) noexcept {
    return (__float_as_uint(x) & 0xffffu) == 0x8000u;
  }
};

/// Rounds an exact or rounded-to-odd double, once.
template <class Format>
SIMT_SHIM_INLINE unsigned short from_double(double x) noexcept {
  return Format::from_float(round_to_odd(x));
}

/// a * b + c, rounded once.
template <class Format>
SIMT_SHIM_INLINE unsigned short rounded_fma(float a, float b, float c) noexcept {
  const float nearest = static_cast<float>(double{a} * b + c);
  return Format::may_be_tie(nearest) ? from_double<Format>(fma_to_odd(a, b, c)) : Format::from_float(nearest);
}

/// The next value above or below, on the number line that runs from -infinity through -0 and +0 to infinity.
SIMT_SHIM_INLINE unsigned short bits_up(unsigned short bits) noexcept {
  return static_cast<unsigned short>(bits == 0x8000u ? 1u : bits & 0x8000u ? bits - 1u : bits + 1u);
}
SIMT_SHIM_INLINE unsigned short bits_down(unsigned short bits) noexcept {
  return static_cast<unsigned short>(bits == 0u ? 0x8001u : bits & 0x8000u ? bits + 1u : bits - 1u);
}
template <class Format>
SIMT_SHIM_INLINE unsigned short from_double_up(double x) noexcept {
  const unsigned short nearest = from_double<Format>(x);
  return double{Format::to_float(nearest)} < x ? bits_up(nearest) : nearest;
}
template <class Format>
SIMT_SHIM_INLINE unsigned short from_double_down(double x) noexcept {
  const unsigned short nearest = from_double<Format>(x);
  return double{Format::to_float(nearest)} > x ? bits_down(nearest) : nearest;
}
template <class Format>
SIMT_SHIM_INLINE unsigned short from_double_to_zero(double x) noexcept {
  // Towards zero never crosses it, so a tiny negative x gives -0 as the hardware does.
  const unsigned short nearest = from_double<Format>(x);
  return fabs(double{Format::to_float(nearest)}) > fabs(x) ? static_cast<unsigned short>(nearest - 1u)
                                                           : nearest;
}

/// The larger of two values, +0 above -0.
SIMT_SHIM_INLINE unsigned short larger_bits(unsigned short a, unsigned short b, float fa, float fb) noexcept {
  return fa > fb ? a : fa < fb ? b : static_cast<unsigned short>(a & b);
}
SIMT_SHIM_INLINE unsigned short smaller_bits(unsigned short a, unsigned short b, float fa,
                                             float fb) noexcept {
  return fa < fb ? a : fa > fb ? b : static_cast<unsigned short>(a | b);
}

}  // namespace simt::shim
