#pragma once
/// @file
/// Arithmetic on integers, float, double and the 16-bit types. Included by bindings.cpp alone.

#include <algorithm>
#include <bit>
#include <cfenv>
#include <cmath>
#include <limits>
#include <type_traits>

#include "simt/ptx/machine.hpp"
#include "simt/shim/cuda_bf16.h"
#include "simt/shim/cuda_fp16.h"

namespace simt::ptx {

// --- Flags of floating-point instructions ---

inline constexpr unsigned kFlush = 1, kSaturate = 2, kNaN = 4, kRelu = 8;
inline constexpr unsigned kRoundShift = 4, kRoundBits = 3u << kRoundShift;

/// How an instruction rounds: 0 to nearest even, 1 to zero, 2 down, 3 up.
inline unsigned rounding(const Match& match) {
  const std::string_view word = match.one_of({"rz", "rm", "rp", "rzi", "rmi", "rpi"});
  return word.empty() ? 0 : word[1] == 'z' ? 1 : word[1] == 'm' ? 2 : 3;
}
inline unsigned float_flags(const Match& match) {
  return (match.has("ftz") ? kFlush : 0) | (match.has("sat") ? kSaturate : 0) |
         (match.has("NaN") ? kNaN : 0) | (match.has("relu") ? kRelu : 0) | rounding(match) << kRoundShift;
}

/// Another rounding as long as one lives. The operation in between has to be opaque to the compiler.
class Rounding {
 public:
  explicit Rounding(unsigned mode) {
    static constexpr int kModes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(kModes[mode]);
  }
  ~Rounding() { std::fesetround(FE_TONEAREST); }
  Rounding(const Rounding&) = delete;
  Rounding& operator=(const Rounding&) = delete;
};

inline float flushed(float x) { return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x; }

/// Clamped to [0, 1], NaN to 0.
template <class T>
T saturated(T x) {
  return x > T(0) ? (x < T(1) ? x : T(1)) : T(0);
}

// --- Operations ---

struct Add {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};
struct Sub {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
    else
      return a - b;
  }
};
struct Mul {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) * static_cast<std::uint64_t>(b));
    else
      return a * b;
  }
};
struct Div {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      if (b == 0) return static_cast<T>(~T(0));
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return Sub::of(T(0), a);
      return static_cast<T>(a / b);
    } else {
      return a / b;
    }
  }
};
struct Rem {
  template <class T>
  static T of(T a, T b) {
    if (b == 0) return a;
    if constexpr (std::is_signed_v<T>)
      if (b == T(-1)) return 0;
    return static_cast<T>(a % b);
  }
};
struct Min {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a < b ? a : b;
    else
      return a != a ? b : b != b ? a : a < b || (a == b && std::signbit(a)) ? a : b;
  }
};
struct Max {
  template <class T>
  static T of(T a, T b) {
    if constexpr (std::is_integral_v<T>)
      return a > b ? a : b;
    else
      return a != a ? b : b != b ? a : a > b || (a == b && !std::signbit(a)) ? a : b;
  }
};
struct Abs {
  template <class T>
  static T of(T a) {
    if constexpr (std::is_integral_v<T>)
      return a < 0 ? Sub::of(T(0), a) : a;
    else
      return std::fabs(a);
  }
};
struct Neg {
  template <class T>
  static T of(T a) {
    if constexpr (std::is_integral_v<T>)
      return Sub::of(T(0), a);
    else
      return -a;
  }
};
struct Rcp {
  template <class T>
  static T of(T a) {
    return T(1) / a;
  }
};
struct Sqrt {
  template <class T>
  static T of(T a) {
    return std::sqrt(a);
  }
};
struct Rsqrt {
  template <class T>
  static T of(T a) {
    return T(1) / std::sqrt(a);
  }
};
struct Sin {
  template <class T>
  static T of(T a) {
    return std::sin(a);
  }
};
struct Cos {
  template <class T>
  static T of(T a) {
    return std::cos(a);
  }
};
struct Lg2 {
  template <class T>
  static T of(T a) {
    return std::log2(a);
  }
};
struct Ex2 {
  template <class T>
  static T of(T a) {
    return std::exp2(a);
  }
};
struct Tanh {
  template <class T>
  static T of(T a) {
    return std::tanh(a);
  }
};

// --- Integers ---

/// Calls `make` with the C++ type of an integer or untyped register.
template <class Make>
Bound for_integer(Type type, Make make) {
  switch (type) {
    case Type::u8:
    case Type::b8:
      return make(std::uint8_t{});
    case Type::s8:
      return make(std::int8_t{});
    case Type::u16:
    case Type::b16:
      return make(std::uint16_t{});
    case Type::s16:
      return make(std::int16_t{});
    case Type::s32:
      return make(std::int32_t{});
    case Type::u64:
    case Type::b64:
      return make(std::uint64_t{});
    case Type::s64:
      return make(std::int64_t{});
    default:
      return make(std::uint32_t{});
  }
}

template <class Op, class T>
void binary(const Frame& f, const Step& s) {
  f.set<T>(s[0], Op::template of<T>(f.get<T>(s[1]), f.get<T>(s[2])));
}
template <class Op, class T>
void unary(const Frame& f, const Step& s) {
  f.set<T>(s[0], Op::template of<T>(f.get<T>(s[1])));
}

template <class Op>
Bound bind_integer(const Match& m) {
  return for_integer(m.types[0], [](auto t) { return Bound{binary<Op, decltype(t)>}; });
}
template <class Op>
Bound bind_integer_unary(const Match& m) {
  return for_integer(m.types[0], [](auto t) { return Bound{unary<Op, decltype(t)>}; });
}

template <class Op>
void saturating(const Frame& f, const Step& s) {
  const std::int64_t sum =
      Op::template of<std::int64_t>(f.get<std::int32_t>(s[1]), f.get<std::int32_t>(s[2]));
  using Limits = std::numeric_limits<std::int32_t>;
  f.set(s[0], static_cast<std::int32_t>(std::clamp<std::int64_t>(sum, Limits::min(), Limits::max())));
}
inline Bound bind_integer_add(const Match& m) {
  return {m.has("sat") ? saturating<Add> : binary<Add, std::int32_t>};
}
inline Bound bind_integer_sub(const Match& m) {
  return {m.has("sat") ? saturating<Sub> : binary<Sub, std::int32_t>};
}

__extension__ typedef __int128 Int128;
__extension__ typedef unsigned __int128 Uint128;

/// The product in full.
template <class T>
auto product(const Frame& f, const Step& s) {
  using Wide = std::conditional_t<std::is_signed_v<T>, Int128, Uint128>;
  return static_cast<Wide>(f.get<T>(s[1])) * static_cast<Wide>(f.get<T>(s[2]));
}
template <class T, bool kHigh, bool kAdds>
void multiply(const Frame& f, const Step& s) {
  using U = std::make_unsigned_t<T>;
  auto result = static_cast<U>(product<T>(f, s) >> (kHigh ? 8 * sizeof(T) : 0));
  if constexpr (kAdds) result = Add::of<U>(result, f.get<U>(s[3]));
  f.set(s[0], static_cast<T>(result));
}
template <bool kAdds>
Bound bind_multiply(const Match& m) {
  const bool high = m.has("hi");
  return for_integer(m.types[0], [high](auto t) {
    return Bound{high ? multiply<decltype(t), true, kAdds> : multiply<decltype(t), false, kAdds>};
  });
}
inline Bound bind_integer_mul(const Match& m) { return bind_multiply<false>(m); }
inline Bound bind_integer_mad(const Match& m) { return bind_multiply<true>(m); }

template <class T, bool kAdds>
void multiply_wide(const Frame& f, const Step& s) {
  auto result = static_cast<std::uint64_t>(product<T>(f, s));
  if constexpr (kAdds) result += f.bits(s[3]);
  if constexpr (sizeof(T) == 2) result &= 0xffffffffu;
  f.set(s[0], result);
}
template <bool kAdds>
Bound bind_multiply_wide(const Match& m) {
  return for_integer(m.types[0], [](auto t) { return Bound{multiply_wide<decltype(t), kAdds>}; });
}
inline Bound bind_wide_mul(const Match& m) { return bind_multiply_wide<false>(m); }
inline Bound bind_wide_mad(const Match& m) { return bind_multiply_wide<true>(m); }

// --- Float and double ---

/// Runs `operation` with the rounding, flushing and clamping that the flags say.
template <class Op, class... Operands>
float rounded_float(unsigned flags, Operands... operands) {
  const auto act = [&](volatile Operands... in) -> float {
    volatile float result = Op::template of<float>(in...);
    return result;
  };
  float result;
  if ((flags & kFlush) != 0) {
    result = (flags & kRoundBits) == 0
                 ? Op::template of<float>(flushed(operands)...)
                 : (Rounding((flags & kRoundBits) >> kRoundShift), act(flushed(operands)...));
    result = flushed(result);
  } else if ((flags & kRoundBits) != 0) {
    const Rounding mode((flags & kRoundBits) >> kRoundShift);
    result = act(operands...);
  } else {
    result = Op::template of<float>(operands...);
  }
  return (flags & kSaturate) != 0 ? saturated(result) : result;
}
struct Fma {
  template <class T>
  static T of(T a, T b, T c) {
    return std::fma(a, b, c);
  }
};

template <class Op>
void float_unary(const Frame& f, const Step& s) {
  f.set(s[0], rounded_float<Op>(s.flags, f.get<float>(s[1])));
}
template <class Op>
void float_binary(const Frame& f, const Step& s) {
  f.set(s[0], rounded_float<Op>(s.flags, f.get<float>(s[1]), f.get<float>(s[2])));
}
inline void float_fma(const Frame& f, const Step& s) {
  f.set(s[0], rounded_float<Fma>(s.flags, f.get<float>(s[1]), f.get<float>(s[2]), f.get<float>(s[3])));
}
template <class Op>
Bound bind_float_unary(const Match& m) {
  return {float_unary<Op>, float_flags(m)};
}
template <class Op>
Bound bind_float(const Match& m) {
  return {float_binary<Op>, float_flags(m)};
}
inline Bound bind_float_fma(const Match& m) { return {float_fma, float_flags(m)}; }

template <class Op>
void float_extreme(const Frame& f, const Step& s) {
  const float a = f.get<float>(s[1]), b = f.get<float>(s[2]);
  const bool poisoned = (a != a && b != b) || ((s.flags & kNaN) != 0 && (a != a || b != b));
  f.set(s[0], poisoned ? std::bit_cast<float>(0x7fffffffu) : rounded_float<Op>(s.flags, a, b));
}
template <class Op>
Bound bind_float_extreme(const Match& m) {
  return {float_extreme<Op>, float_flags(m)};
}

template <class Op, class... Operands>
double rounded_double(unsigned flags, Operands... operands) {
  if (flags == 0) return Op::template of<double>(operands...);
  const Rounding mode((flags & kRoundBits) >> kRoundShift);
  const auto act = [&](volatile Operands... in) -> double {
    volatile double result = Op::template of<double>(in...);
    return result;
  };
  return act(operands...);
}
template <class Op>
void double_unary(const Frame& f, const Step& s) {
  f.set(s[0], rounded_double<Op>(s.flags, f.get<double>(s[1])));
}
template <class Op>
void double_binary(const Frame& f, const Step& s) {
  f.set(s[0], rounded_double<Op>(s.flags, f.get<double>(s[1]), f.get<double>(s[2])));
}
inline void double_fma(const Frame& f, const Step& s) {
  f.set(s[0], rounded_double<Fma>(s.flags, f.get<double>(s[1]), f.get<double>(s[2]), f.get<double>(s[3])));
}
template <class Op>
Bound bind_double_unary(const Match& m) {
  return {double_unary<Op>, float_flags(m)};
}
template <class Op>
Bound bind_double(const Match& m) {
  return {double_binary<Op>, float_flags(m)};
}
inline Bound bind_double_fma(const Match& m) { return {double_fma, float_flags(m)}; }

template <class T>
void copy_sign(const Frame& f, const Step& s) {
  f.set(s[0], std::copysign(f.get<T>(s[2]), f.get<T>(s[1])));
}
inline Bound bind_copysign(const Match& m) {
  return {m.types[0] == Type::f64 ? copy_sign<double> : copy_sign<float>};
}

// --- 16-bit numbers ---

using shim::Bfloat16;
using shim::Half;

inline constexpr std::uint16_t kNaN16 = 0x7fff;

/// What f16 has below its smallest normal number, as a signed zero.
template <class Format>
float flushed16(float x) {
  constexpr float kSmallest = std::is_same_v<Format, Half> ? 0x1p-14f : 0x1p-126f;
  return std::fabs(x) < kSmallest ? std::copysign(0.0f, x) : x;
}

/// One operation on numbers of 16 bits, exact in double and then rounded once.
template <class Format, class Op, class... Bits>
std::uint16_t on_halves(unsigned flags, Bits... bits) {
  const bool flush = (flags & kFlush) != 0;
  const auto wide = [&](std::uint16_t x) -> double {
    const float value = Format::to_float(x);
    return flush ? flushed16<Format>(value) : value;
  };
  double result = Op::template of<double>(wide(bits)...);
  if ((flags & kSaturate) != 0) result = saturated(result);
  if ((flags & kRelu) != 0 && result == result) result = result > 0 ? result : 0.0;
  if (result != result) return kNaN16;
  const std::uint16_t rounded = shim::from_double<Format>(result);
  return flush ? Format::from_float(flushed16<Format>(Format::to_float(rounded))) : rounded;
}

/// The operation on the one or two numbers of a register.
template <class Format, bool kPair, class Operation>
void each_half(const Frame& f, const Step& s, Operation operation) {
  const auto part = [&](std::size_t i, unsigned shift) {
    return static_cast<std::uint16_t>(f.bits(s[i]) >> shift);
  };
  std::uint32_t result = operation(part, 0u);
  if constexpr (kPair) result |= static_cast<std::uint32_t>(operation(part, 16u)) << 16;
  f.set(s[0], result);
}
template <class Format, bool kPair, class Op>
void half_unary(const Frame& f, const Step& s) {
  each_half<Format, kPair>(
      f, s, [&](auto part, unsigned at) { return on_halves<Format, Op>(s.flags, part(1, at)); });
}
template <class Format, bool kPair, class Op>
void half_binary(const Frame& f, const Step& s) {
  each_half<Format, kPair>(
      f, s, [&](auto part, unsigned at) { return on_halves<Format, Op>(s.flags, part(1, at), part(2, at)); });
}
template <class Format, bool kPair, class Op>
void half_ternary(const Frame& f, const Step& s) {
  each_half<Format, kPair>(f, s, [&](auto part, unsigned at) {
    return on_halves<Format, Op>(s.flags, part(1, at), part(2, at), part(3, at));
  });
}
template <class Format, bool kPair, class Op>
void half_extreme(const Frame& f, const Step& s) {
  each_half<Format, kPair>(f, s, [&](auto part, unsigned at) -> std::uint16_t {
    const bool any = (part(1, at) & 0x7fffu) > Format::from_float(INFINITY) ||
                     (part(2, at) & 0x7fffu) > Format::from_float(INFINITY);
    if ((s.flags & kNaN) != 0 && any) return kNaN16;
    return on_halves<Format, Op>(s.flags, part(1, at), part(2, at));
  });
}
/// Only the sign changes, of a NaN, too.
template <bool kPair, bool kNegates>
void half_sign(const Frame& f, const Step& s) {
  const std::uint32_t signs = kPair ? 0x80008000u : 0x8000u, bits = f.get<std::uint32_t>(s[1]);
  f.set(s[0], kNegates ? bits ^ signs : bits & ~signs);
}

#define SIMT_BY_FORMAT(ACTION, ...)                                  \
  switch (m.types[0]) {                                              \
    case Type::f16:                                                  \
      return {ACTION<Half, false, __VA_ARGS__>, float_flags(m)};     \
    case Type::f16x2:                                                \
      return {ACTION<Half, true, __VA_ARGS__>, float_flags(m)};      \
    case Type::bf16:                                                 \
      return {ACTION<Bfloat16, false, __VA_ARGS__>, float_flags(m)}; \
    default:                                                         \
      return {ACTION<Bfloat16, true, __VA_ARGS__>, float_flags(m)};  \
  }
template <class Op>
Bound bind_half(const Match& m) {
  SIMT_BY_FORMAT(half_binary, Op)
}
template <class Op>
Bound bind_half_extreme(const Match& m) {
  SIMT_BY_FORMAT(half_extreme, Op)
}
inline Bound bind_half_fma(const Match& m) { SIMT_BY_FORMAT(half_ternary, Fma) }
template <class Op>
Bound bind_half_unary(const Match& m) {
  const bool pair = m.types[0] == Type::f16x2 || m.types[0] == Type::bf16x2;
  if constexpr (std::is_same_v<Op, Neg>) return {pair ? half_sign<true, true> : half_sign<false, true>};
  if constexpr (std::is_same_v<Op, Abs>) return {pair ? half_sign<true, false> : half_sign<false, false>};
  SIMT_BY_FORMAT(half_unary, Op)
}
#undef SIMT_BY_FORMAT

}  // namespace simt::ptx
