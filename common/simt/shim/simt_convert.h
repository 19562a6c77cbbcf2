// Bit casts and conversions between numbers, with the rounding that the name says: _rn nearest even, _rz
// towards zero, _ru up, _rd down.
#pragma once

#include <math.h>

#include "simt_integer.h"
#include "simt_vector_types.h"

// ---- Same bits, other type ----

constexpr SIMT_SHIM_INLINE int __float_as_int(float x) noexcept { return __builtin_bit_cast(int, x); }
constexpr SIMT_SHIM_INLINE unsigned int __float_as_uint(float x) noexcept {
  return __builtin_bit_cast(unsigned int, x);
}
constexpr SIMT_SHIM_INLINE float __int_as_float(int x) noexcept { return __builtin_bit_cast(float, x); }
constexpr SIMT_SHIM_INLINE float __uint_as_float(unsigned int x) noexcept {
  return __builtin_bit_cast(float, x);
}
constexpr SIMT_SHIM_INLINE long long __double_as_longlong(double x) noexcept {
  return __builtin_bit_cast(long long, x);
}
constexpr SIMT_SHIM_INLINE double __longlong_as_double(long long x) noexcept {
  return __builtin_bit_cast(double, x);
}
constexpr SIMT_SHIM_INLINE int __double2loint(double x) noexcept {
  return static_cast<int>(__builtin_bit_cast(unsigned long long, x) & 0xffffffffu);
}
constexpr SIMT_SHIM_INLINE int __double2hiint(double x) noexcept {
  return static_cast<int>(__builtin_bit_cast(unsigned long long, x) >> 32);
}
constexpr SIMT_SHIM_INLINE double __hiloint2double(int high, int low) noexcept {
  const unsigned long long upper = static_cast<unsigned int>(high);
  return __builtin_bit_cast(double, upper << 32 | static_cast<unsigned int>(low));
}

// ---- Floating point to integer ----

namespace simt::shim {

/// An integral-valued (or non-finite) x as Integer, saturated. NaN becomes 0, except that the hardware gives
/// the top bit alone when either side has 64 bits.
template <class Integer, class Float>
constexpr SIMT_SHIM_INLINE Integer saturating_cast(Float x) noexcept {
  constexpr int bits = 8 * sizeof(Integer);
  constexpr bool is_signed = Integer(-1) < Integer(0);
  constexpr Integer top_bit = static_cast<Integer>(1ull << (bits - 1));
  constexpr Integer lowest = is_signed ? top_bit : Integer(0);
  constexpr Integer highest = static_cast<Integer>(~lowest);
  // 2^(bits-1) or 2^bits: exact in both types, unlike `highest`, and the first value that is too large.
  constexpr Float limit = static_cast<Float>(1ull << (bits - 1)) * (is_signed ? 1 : 2);
  if (x != x) return bits == 64 || sizeof(Float) == 8 ? top_bit : Integer(0);
  if (x >= limit) return highest;
  if (x < (is_signed ? -limit : Float(0))) return lowest;
  return static_cast<Integer>(x);
}

/// True if a conversion from integer i to Float gave a value above (+1) or below (-1) i, 0 if exact.
template <class Float, class Integer>
SIMT_SHIM_INLINE int conversion_error(Float converted, Integer i) noexcept {
  const Int128 back = static_cast<Int128>(converted);
  return back > i ? 1 : back < i ? -1 : 0;
}

SIMT_SHIM_INLINE float next_up(float x) noexcept { return __builtin_nextafterf(x, __builtin_inff()); }
SIMT_SHIM_INLINE float next_down(float x) noexcept { return __builtin_nextafterf(x, -__builtin_inff()); }
SIMT_SHIM_INLINE double next_up(double x) noexcept { return __builtin_nextafter(x, __builtin_inf()); }
SIMT_SHIM_INLINE double next_down(double x) noexcept { return __builtin_nextafter(x, -__builtin_inf()); }

/// A result that was rounded to nearest, moved to the neighbour that rounding up, down or towards zero would
/// give. error > 0: the result lies above the exact value; error < 0: below.
template <class Float>
SIMT_SHIM_INLINE Float round_up(Float nearest, int error) noexcept {
  return error < 0 ? next_up(nearest) : nearest;
}
template <class Float>
SIMT_SHIM_INLINE Float round_down(Float nearest, int error) noexcept {
  return error > 0 ? next_down(nearest) : nearest;
}
template <class Float>
SIMT_SHIM_INLINE Float round_to_zero(Float nearest, int error) noexcept {
  return nearest > 0 ? round_down(nearest, error) : nearest < 0 ? round_up(nearest, error) : nearest;
}

}  // namespace simt::shim

#define SIMT_FLOAT_TO_INTEGER(from, Float, to, Integer, rint, trunc, ceil, floor) \
  SIMT_SHIM_INLINE Integer __##from##2##to##_rn(Float x) noexcept {               \
    return simt::shim::saturating_cast<Integer>(rint(x));                         \
  }                                                                               \
  SIMT_SHIM_INLINE Integer __##from##2##to##_rz(Float x) noexcept {               \
    return simt::shim::saturating_cast<Integer>(trunc(x));                        \
  }                                                                               \
  SIMT_SHIM_INLINE Integer __##from##2##to##_ru(Float x) noexcept {               \
    return simt::shim::saturating_cast<Integer>(ceil(x));                         \
  }                                                                               \
  SIMT_SHIM_INLINE Integer __##from##2##to##_rd(Float x) noexcept {               \
    return simt::shim::saturating_cast<Integer>(floor(x));                        \
  }
#define SIMT_FLOAT_TO(to, Integer)                                                                     \
  SIMT_FLOAT_TO_INTEGER(float, float, to, Integer, __builtin_rintf, __builtin_truncf, __builtin_ceilf, \
                        __builtin_floorf)                                                              \
  SIMT_FLOAT_TO_INTEGER(double, double, to, Integer, __builtin_rint, __builtin_trunc, __builtin_ceil,  \
                        __builtin_floor)
SIMT_FLOAT_TO(int, int)
SIMT_FLOAT_TO(uint, unsigned int)
SIMT_FLOAT_TO(ll, long long)
SIMT_FLOAT_TO(ull, unsigned long long)
#undef SIMT_FLOAT_TO
#undef SIMT_FLOAT_TO_INTEGER

// ---- Integer to floating point ----

#define SIMT_INTEGER_TO_FLOAT(from, Integer, to, Float)                                             \
  SIMT_SHIM_INLINE Float __##from##2##to##_rn(Integer i) noexcept { return static_cast<Float>(i); } \
  SIMT_SHIM_INLINE Float __##from##2##to##_rz(Integer i) noexcept {                                 \
    const Float nearest = static_cast<Float>(i);                                                    \
    return simt::shim::round_to_zero(nearest, simt::shim::conversion_error(nearest, i));            \
  }                                                                                                 \
  SIMT_SHIM_INLINE Float __##from##2##to##_ru(Integer i) noexcept {                                 \
    const Float nearest = static_cast<Float>(i);                                                    \
    return simt::shim::round_up(nearest, simt::shim::conversion_error(nearest, i));                 \
  }                                                                                                 \
  SIMT_SHIM_INLINE Float __##from##2##to##_rd(Integer i) noexcept {                                 \
    const Float nearest = static_cast<Float>(i);                                                    \
    return simt::shim::round_down(nearest, simt::shim::conversion_error(nearest, i));               \
  }
SIMT_INTEGER_TO_FLOAT(int, int, float, float)
SIMT_INTEGER_TO_FLOAT(uint, unsigned int, float, float)
SIMT_INTEGER_TO_FLOAT(ll, long long, float, float)
SIMT_INTEGER_TO_FLOAT(ull, unsigned long long, float, float)
SIMT_INTEGER_TO_FLOAT(ll, long long, double, double)
SIMT_INTEGER_TO_FLOAT(ull, unsigned long long, double, double)
#undef SIMT_INTEGER_TO_FLOAT
SIMT_SHIM_INLINE double __int2double_rn(int i) noexcept { return i; }
SIMT_SHIM_INLINE double __uint2double_rn(unsigned int i) noexcept { return i; }

// ---- double to float ----

SIMT_SHIM_INLINE float __double2float_rn(double x) noexcept { return static_cast<float>(x); }
SIMT_SHIM_INLINE float __double2float_rz(double x) noexcept {
  const float nearest = static_cast<float>(x);
  return simt::shim::round_to_zero(nearest, (nearest > x) - (nearest < x));
}
SIMT_SHIM_INLINE float __double2float_ru(double x) noexcept {
  const float nearest = static_cast<float>(x);
  return simt::shim::round_up(nearest, (nearest > x) - (nearest < x));
}
SIMT_SHIM_INLINE float __double2float_rd(double x) noexcept {
  const float nearest = static_cast<float>(x);
  return simt::shim::round_down(nearest, (nearest > x) - (nearest < x));
}
