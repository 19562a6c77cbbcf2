#pragma once
/// @file
/// Conversions between numbers. Included by bindings.cpp alone.

#include "simt/ptx/arithmetic.hpp"
#include "simt/ptx/bits.hpp"
#include "simt/shim/simt_float8.h"

namespace simt::ptx {

inline constexpr unsigned kToWhole = 1u << 6;

/// A 16-bit number of that format in a register.
template <class Format>
struct Small {
  using Of = Format;
  std::uint16_t bits;
};
template <class T>
constexpr bool is_small = false;
template <class Format>
constexpr bool is_small<Small<Format>> = true;

inline double to_whole(double x, unsigned mode) {
  return mode == 0 ? std::nearbyint(x) : mode == 1 ? std::trunc(x) : mode == 2 ? std::floor(x) : std::ceil(x);
}

/// Clamped to what the integer holds. What a NaN gives depends on the widths of both.
template <class To, class From>
To to_integer(double x) {
  if constexpr (sizeof(From) == 8)
    return shim::saturating_cast<To>(x);
  else
    return shim::saturating_cast<To>(static_cast<float>(x));
}

template <class Format>
std::uint16_t narrowed(double x, unsigned mode) {
  if (x != x) return kNaN16;
  return mode == 0   ? shim::from_double<Format>(x)
         : mode == 1 ? shim::from_double_to_zero<Format>(x)
         : mode == 2 ? shim::from_double_down<Format>(x)
                     : shim::from_double_up<Format>(x);
}

/// x as a float or double under a rounding, which the processor itself does.
template <class To, class From>
To rounded(From x, unsigned mode) {
  if (mode == 0) return static_cast<To>(x);
  const Rounding as(mode);
  volatile From from = x;
  volatile To to = static_cast<To>(from);
  return to;
}

template <class T>
double real(const Frame& f, const Value& v, unsigned flags) {
  double x;
  if constexpr (is_small<T>)
    x = T::Of::to_float(f.get<std::uint16_t>(v));
  else
    x = f.get<T>(v);
  if constexpr (std::is_same_v<T, float>)
    if ((flags & kFlush) != 0) x = flushed(static_cast<float>(x));
  return x;
}

template <class To, class From>
void convert(const Frame& f, const Step& s) {
  const unsigned mode = (s.flags & kRoundBits) >> kRoundShift;
  if constexpr (std::is_integral_v<From> && std::is_integral_v<To>) {
    const From x = f.get<From>(s[1]);
    if ((s.flags & kSaturate) == 0) return f.set(s[0], static_cast<To>(x));
    using Limits = std::numeric_limits<To>;
    return f.set(s[0], static_cast<To>(std::clamp<Int128>(x, Limits::min(), Limits::max())));
  } else if constexpr (std::is_integral_v<From>) {
    const From x = f.get<From>(s[1]);
    if constexpr (is_small<To>)
      f.set(s[0], narrowed<typename To::Of>(shim::integer_to_odd(x), mode));
    else
      f.set(s[0], rounded<To>(x, mode));
  } else if constexpr (std::is_integral_v<To>) {
    f.set(s[0], to_integer<To, From>(to_whole(real<From>(f, s[1], s.flags), mode)));
  } else {
    double x = real<From>(f, s[1], s.flags);
    if ((s.flags & kToWhole) != 0) x = to_whole(x, mode);
    if ((s.flags & kSaturate) != 0) x = saturated(x);
    if ((s.flags & kRelu) != 0 && x == x) x = x > 0 ? x : 0.0;
    if constexpr (is_small<To>) {
      f.set(s[0], narrowed<typename To::Of>(x, mode));
    } else {
      To result = rounded<To>(x, (s.flags & kToWhole) != 0 ? 0 : mode);
      if constexpr (std::is_same_v<To, float>) {
        if ((s.flags & kFlush) != 0) result = flushed(result);
        if (result != result) result = std::bit_cast<float>(0x7fffffffu);
      }
      f.set(s[0], result);
    }
  }
}

template <class Make>
Bound for_number(Type type, Make make) {
  switch (type) {
    case Type::f16:
      return make(Small<Half>{});
    case Type::bf16:
      return make(Small<Bfloat16>{});
    case Type::f32:
      return make(float{});
    case Type::f64:
      return make(double{});
    default:
      return for_integer(type, make);
  }
}
inline Bound bind_cvt(const Match& m) {
  Bound bound = for_number(m.types[0], [&](auto to) {
    return for_number(m.types[1], [&](auto from) { return Bound{convert<decltype(to), decltype(from)>}; });
  });
  const bool whole = !m.one_of({"rni", "rzi", "rmi", "rpi"}).empty();
  bound.flags = float_flags(m) | (whole ? kToWhole : 0);
  return bound;
}

template <class Format>
void convert_pair(const Frame& f, const Step& s) {
  const unsigned mode = (s.flags & kRoundBits) >> kRoundShift;
  const auto part = [&](const Value& v) -> std::uint32_t {
    double x = f.get<float>(v);
    if ((s.flags & kRelu) != 0 && x == x) x = x > 0 ? x : 0.0;
    return narrowed<Format>(x, mode);
  };
  f.set(s[0], part(s[1]) << 16 | part(s[2]));
}
inline Bound bind_cvt_pair(const Match& m) {
  return {m.types[0] == Type::f16x2 ? convert_pair<Half> : convert_pair<Bfloat16>, float_flags(m)};
}

/// 13 bits fewer than a float has. Flags: how to round, and kRelu.
inline void convert_tf32(const Frame& f, const Step& s) {
  auto bits = f.get<std::uint32_t>(s[1]);
  const bool negative = bits >> 31 != 0, nan = (bits & 0x7fffffffu) > 0x7f800000u;
  if (nan) return f.set(s[0], 0x7fffffffu);
  if (negative && (s.flags & kRelu) != 0) return f.set(s[0], 0u);
  const unsigned mode = (s.flags & kRoundBits) >> kRoundShift;
  if ((bits & 0x7f800000u) != 0x7f800000u) {
    if (mode == 3) bits += 0x1000u;                     // .rna: halves away from zero
    if (mode == 0) bits += 0xfffu + (bits >> 13 & 1u);  // .rn: halves to even
    const bool overflow = (bits & 0x7f800000u) == 0x7f800000u;
    if (overflow && (s.flags & kSaturate) != 0) bits = (bits & 0x80000000u) | 0x7f7fe000u;
  }
  f.set(s[0], bits & 0xffffe000u);
}
inline Bound bind_cvt_tf32(const Match& m) {
  const unsigned mode = m.has("rna") ? 3 : m.has("rz") ? 1 : 0;
  return {convert_tf32,
          mode << kRoundShift | (m.has("relu") ? kRelu : 0) | (m.has("satfinite") ? kSaturate : 0)};
}

// --- Numbers of 8 bits, in pairs ---

inline double rectified(double x, unsigned flags) {
  return (flags & kRelu) != 0 && x == x && !(x > 0) ? 0.0 : x;
}

template <class Format, bool kOfHalves>
void convert_to_bytes(const Frame& f, const Step& s) {
  const auto half = [&](unsigned at) {
    return Half::to_float(static_cast<std::uint16_t>(f.bits(s[1]) >> at));
  };
  const double upper = kOfHalves ? half(16) : f.get<float>(s[1]),
               lower = kOfHalves ? half(0) : f.get<float>(s[2]);
  const auto byte = [&](double x) -> unsigned {
    return shim::to_float8<Format>(rectified(x, s.flags), true);
  };
  f.set(s[0], byte(upper) << 8 | byte(lower));
}
inline Bound bind_cvt_to_bytes(const Match& m) {
  const bool halves = m.types[1] == Type::f16x2;
  if (m.types[0] == Type::e4m3x2)
    return {halves ? convert_to_bytes<shim::E4m3, true> : convert_to_bytes<shim::E4m3, false>,
            float_flags(m)};
  return {halves ? convert_to_bytes<shim::E5m2, true> : convert_to_bytes<shim::E5m2, false>, float_flags(m)};
}
template <class Format>
void convert_from_bytes(const Frame& f, const Step& s) {
  const auto half = [&](unsigned at) -> std::uint32_t {
    return narrowed<Half>(rectified(Format::to_float(static_cast<std::uint8_t>(f.bits(s[1]) >> at)), s.flags),
                          0);
  };
  f.set(s[0], half(8) << 16 | half(0));
}
inline Bound bind_cvt_from_bytes(const Match& m) {
  return {m.types[1] == Type::e4m3x2 ? convert_from_bytes<shim::E4m3> : convert_from_bytes<shim::E5m2>,
          float_flags(m)};
}

}  // namespace simt::ptx
