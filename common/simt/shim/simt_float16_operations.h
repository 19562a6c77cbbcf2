// Arithmetic, comparisons and functions of one 16-bit floating-point type and its pair. Included once for
// each type, after simt_float16_type.h and with the same macros. There is deliberately no include guard.
//
// Each operation is rounded to the type once. Functions (hexp, hrsqrt, ...) are computed in float and then
// rounded.

// ---- Arithmetic ----

SIMT_SHIM_INLINE SIMT_T __hadd(SIMT_T a, SIMT_T b) noexcept {
  return SIMT_T(static_cast<float>(a) + static_cast<float>(b));
}
SIMT_SHIM_INLINE SIMT_T __hsub(SIMT_T a, SIMT_T b) noexcept {
  return SIMT_T(static_cast<float>(a) - static_cast<float>(b));
}
SIMT_SHIM_INLINE SIMT_T __hmul(SIMT_T a, SIMT_T b) noexcept {
  return SIMT_T(static_cast<float>(a) * static_cast<float>(b));
}
SIMT_SHIM_INLINE SIMT_T __hdiv(SIMT_T a, SIMT_T b) noexcept {
  return SIMT_T(static_cast<float>(a) / static_cast<float>(b));
}
/// a * b + c, rounded once.
SIMT_SHIM_INLINE SIMT_T __hfma(SIMT_T a, SIMT_T b, SIMT_T c) noexcept {
  return SIMT_RAW{simt::shim::rounded_fma<SIMT_FORMAT>(a, b, c)};
}
SIMT_SHIM_INLINE SIMT_T __hneg(SIMT_T a) noexcept {
  return SIMT_RAW{static_cast<unsigned short>(SIMT_RAW(a).x ^ 0x8000u)};
}
SIMT_SHIM_INLINE SIMT_T __habs(SIMT_T a) noexcept {
  return SIMT_RAW{static_cast<unsigned short>(SIMT_RAW(a).x & 0x7fffu)};
}

// ---- Comparisons: false with a NaN; those that end in u are true with a NaN ----

SIMT_SHIM_INLINE bool __hisnan(SIMT_T a) noexcept {
  return (SIMT_RAW(a).x & 0x7fffu) > SIMT_FORMAT::infinity;
}
/// 1 for infinity, -1 for -infinity, else 0.
SIMT_SHIM_INLINE int __hisinf(SIMT_T a) noexcept {
  const unsigned int bits = SIMT_RAW(a).x;
  return (bits & 0x7fffu) != SIMT_FORMAT::infinity ? 0 : bits & 0x8000u ? -1 : 1;
}

#define SIMT_COMPARISON(name, op, opposite)                         \
  SIMT_SHIM_INLINE bool __h##name(SIMT_T a, SIMT_T b) noexcept {    \
    return static_cast<float>(a) op static_cast<float>(b);          \
  }                                                                 \
  SIMT_SHIM_INLINE bool __h##name##u(SIMT_T a, SIMT_T b) noexcept { \
    return !(static_cast<float>(a) opposite static_cast<float>(b)); \
  }                                                                 \
  SIMT_SHIM_INLINE bool operator op(const SIMT_T& a, const SIMT_T& b) noexcept { return __h##name(a, b); }
SIMT_COMPARISON(lt, <, >=)
SIMT_COMPARISON(le, <=, >)
SIMT_COMPARISON(gt, >, <=)
SIMT_COMPARISON(ge, >=, <)
#undef SIMT_COMPARISON
SIMT_SHIM_INLINE bool __heq(SIMT_T a, SIMT_T b) noexcept {
  return static_cast<float>(a) == static_cast<float>(b);
}
SIMT_SHIM_INLINE bool __hequ(SIMT_T a, SIMT_T b) noexcept {
  return __hisnan(a) || __hisnan(b) || __heq(a, b);
}
/// Not equal, and neither is NaN; `!=` and __hneu are true with a NaN.
SIMT_SHIM_INLINE bool __hne(SIMT_T a, SIMT_T b) noexcept { return !__hequ(a, b); }
SIMT_SHIM_INLINE bool __hneu(SIMT_T a, SIMT_T b) noexcept { return !__heq(a, b); }
SIMT_SHIM_INLINE bool operator==(const SIMT_T& a, const SIMT_T& b) noexcept { return __heq(a, b); }
SIMT_SHIM_INLINE bool operator!=(const SIMT_T& a, const SIMT_T& b) noexcept { return __hneu(a, b); }

/// The larger; a NaN is ignored if the other is a number, and -0 is below +0. __hmax_nan: a NaN wins.
SIMT_SHIM_INLINE SIMT_T __hmax_nan(SIMT_T a, SIMT_T b) noexcept {
  if (__hisnan(a) || __hisnan(b)) return SIMT_RAW{SIMT_FORMAT::nan};
  return SIMT_RAW{simt::shim::larger_bits(SIMT_RAW(a).x, SIMT_RAW(b).x, a, b)};
}
SIMT_SHIM_INLINE SIMT_T __hmin_nan(SIMT_T a, SIMT_T b) noexcept {
  if (__hisnan(a) || __hisnan(b)) return SIMT_RAW{SIMT_FORMAT::nan};
  return SIMT_RAW{simt::shim::smaller_bits(SIMT_RAW(a).x, SIMT_RAW(b).x, a, b)};
}
SIMT_SHIM_INLINE SIMT_T __hmax(SIMT_T a, SIMT_T b) noexcept {
  return __hmax_nan(__hisnan(a) ? b : a, __hisnan(b) ? a : b);
}
SIMT_SHIM_INLINE SIMT_T __hmin(SIMT_T a, SIMT_T b) noexcept {
  return __hmin_nan(__hisnan(a) ? b : a, __hisnan(b) ? a : b);
}

// ---- Variants: _sat clamps to [0, 1] and turns NaN into 0, _relu clamps at 0, _rn is never fused (nothing
// is) ----

namespace simt::shim {
SIMT_SHIM_INLINE SIMT_T saturate(SIMT_T a) noexcept { return SIMT_T(__saturatef(a)); }
SIMT_SHIM_INLINE SIMT_T rectify(SIMT_T a) noexcept { return __hmax_nan(a, SIMT_RAW{0}); }
}  // namespace simt::shim
SIMT_SHIM_INLINE SIMT_T __hadd_sat(SIMT_T a, SIMT_T b) noexcept { return simt::shim::saturate(__hadd(a, b)); }
SIMT_SHIM_INLINE SIMT_T __hsub_sat(SIMT_T a, SIMT_T b) noexcept { return simt::shim::saturate(__hsub(a, b)); }
SIMT_SHIM_INLINE SIMT_T __hmul_sat(SIMT_T a, SIMT_T b) noexcept { return simt::shim::saturate(__hmul(a, b)); }
SIMT_SHIM_INLINE SIMT_T __hfma_sat(SIMT_T a, SIMT_T b, SIMT_T c) noexcept {
  return simt::shim::saturate(__hfma(a, b, c));
}
SIMT_SHIM_INLINE SIMT_T __hfma_relu(SIMT_T a, SIMT_T b, SIMT_T c) noexcept {
  return simt::shim::rectify(__hfma(a, b, c));
}
SIMT_SHIM_INLINE SIMT_T __hadd_rn(SIMT_T a, SIMT_T b) noexcept { return __hadd(a, b); }
SIMT_SHIM_INLINE SIMT_T __hsub_rn(SIMT_T a, SIMT_T b) noexcept { return __hsub(a, b); }
SIMT_SHIM_INLINE SIMT_T __hmul_rn(SIMT_T a, SIMT_T b) noexcept { return __hmul(a, b); }

// ---- Functions, for one number and for pairs ----

#define SIMT_FUNCTION(name, expression)                \
  SIMT_SHIM_INLINE SIMT_T h##name(SIMT_T a) noexcept { \
    const float x = static_cast<float>(a);             \
    return SIMT_T(expression);                         \
  }                                                    \
  SIMT_SHIM_INLINE SIMT_T2 h2##name(SIMT_T2 a) noexcept { return {h##name(a.x), h##name(a.y)}; }
SIMT_FUNCTION(exp, expf(x))
SIMT_FUNCTION(exp2, exp2f(x))
SIMT_FUNCTION(exp10, __exp10f(x))
SIMT_FUNCTION(log, logf(x))
SIMT_FUNCTION(log2, log2f(x))
SIMT_FUNCTION(log10, log10f(x))
SIMT_FUNCTION(sqrt, sqrtf(x))
SIMT_FUNCTION(rsqrt, rsqrtf(x))
SIMT_FUNCTION(rcp, 1.0f / x)
SIMT_FUNCTION(sin, sinf(x))
SIMT_FUNCTION(cos, cosf(x))
SIMT_FUNCTION(tanh, tanhf(x))
SIMT_FUNCTION(tanh_approx, tanhf(x))
SIMT_FUNCTION(floor, __builtin_floorf(x))
SIMT_FUNCTION(ceil, __builtin_ceilf(x))
SIMT_FUNCTION(rint, __builtin_rintf(x))
SIMT_FUNCTION(trunc, __builtin_truncf(x))
#undef SIMT_FUNCTION

// ---- Pairs ----

#define SIMT_UNARY2(name2, name) \
  SIMT_SHIM_INLINE SIMT_T2 name2(SIMT_T2 a) noexcept { return {name(a.x), name(a.y)}; }
#define SIMT_BINARY2(name2, name) \
  SIMT_SHIM_INLINE SIMT_T2 name2(SIMT_T2 a, SIMT_T2 b) noexcept { return {name(a.x, b.x), name(a.y, b.y)}; }
#define SIMT_TERNARY2(name2, name)                                           \
  SIMT_SHIM_INLINE SIMT_T2 name2(SIMT_T2 a, SIMT_T2 b, SIMT_T2 c) noexcept { \
    return {name(a.x, b.x, c.x), name(a.y, b.y, c.y)};                       \
  }
SIMT_UNARY2(__hneg2, __hneg)
SIMT_UNARY2(__habs2, __habs)
SIMT_BINARY2(__hadd2, __hadd)
SIMT_BINARY2(__hsub2, __hsub)
SIMT_BINARY2(__hmul2, __hmul)
SIMT_BINARY2(__h2div, __hdiv)
SIMT_BINARY2(__hadd2_rn, __hadd)
SIMT_BINARY2(__hsub2_rn, __hsub)
SIMT_BINARY2(__hmul2_rn, __hmul)
SIMT_BINARY2(__hadd2_sat, __hadd_sat)
SIMT_BINARY2(__hsub2_sat, __hsub_sat)
SIMT_BINARY2(__hmul2_sat, __hmul_sat)
SIMT_BINARY2(__hmax2, __hmax)
SIMT_BINARY2(__hmin2, __hmin)
SIMT_BINARY2(__hmax2_nan, __hmax_nan)
SIMT_BINARY2(__hmin2_nan, __hmin_nan)
SIMT_TERNARY2(__hfma2, __hfma)
SIMT_TERNARY2(__hfma2_sat, __hfma_sat)
SIMT_TERNARY2(__hfma2_relu, __hfma_relu)
#undef SIMT_TERNARY2
#undef SIMT_BINARY2
#undef SIMT_UNARY2

namespace simt::shim {
SIMT_SHIM_INLINE SIMT_T truth(bool value, SIMT_T) noexcept {
  return SIMT_RAW{value ? SIMT_FORMAT::one : static_cast<unsigned short>(0)};
}
}  // namespace simt::shim

// A comparison of pairs answers with 1.0 and 0.0, with "both" (__hb...), or with a mask of 16 bits each.
#define SIMT_COMPARISON2(name)                                                                         \
  SIMT_SHIM_INLINE SIMT_T2 __h##name##2(SIMT_T2 a, SIMT_T2 b) noexcept {                               \
    return {simt::shim::truth(__h##name(a.x, b.x), a.x), simt::shim::truth(__h##name(a.y, b.y), a.y)}; \
  }                                                                                                    \
  SIMT_SHIM_INLINE bool __hb##name##2(SIMT_T2 a, SIMT_T2 b) noexcept {                                 \
    return __h##name(a.x, b.x) && __h##name(a.y, b.y);                                                 \
  }                                                                                                    \
  SIMT_SHIM_INLINE unsigned int __h##name##2_mask(SIMT_T2 a, SIMT_T2 b) noexcept {                     \
    return (__h##name(a.x, b.x) ? 0xffffu : 0u) | (__h##name(a.y, b.y) ? 0xffff0000u : 0u);            \
  }
SIMT_COMPARISON2(eq)
SIMT_COMPARISON2(ne)
SIMT_COMPARISON2(lt)
SIMT_COMPARISON2(le)
SIMT_COMPARISON2(gt)
SIMT_COMPARISON2(ge)
SIMT_COMPARISON2(equ)
SIMT_COMPARISON2(neu)
SIMT_COMPARISON2(ltu)
SIMT_COMPARISON2(leu)
SIMT_COMPARISON2(gtu)
SIMT_COMPARISON2(geu)
#undef SIMT_COMPARISON2
SIMT_SHIM_INLINE SIMT_T2 __hisnan2(SIMT_T2 a) noexcept {
  return {simt::shim::truth(__hisnan(a.x), a.x), simt::shim::truth(__hisnan(a.y), a.y)};
}

// ---- Operators ----

#define SIMT_OPERATORS(Type, add, sub, mul, div, neg, unit)                                    \
  SIMT_SHIM_INLINE Type operator+(const Type& a, const Type& b) noexcept { return add(a, b); } \
  SIMT_SHIM_INLINE Type operator-(const Type& a, const Type& b) noexcept { return sub(a, b); } \
  SIMT_SHIM_INLINE Type operator*(const Type& a, const Type& b) noexcept { return mul(a, b); } \
  SIMT_SHIM_INLINE Type operator/(const Type& a, const Type& b) noexcept { return div(a, b); } \
  SIMT_SHIM_INLINE Type& operator+=(Type& a, const Type& b) noexcept { return a = add(a, b); } \
  SIMT_SHIM_INLINE Type& operator-=(Type& a, const Type& b) noexcept { return a = sub(a, b); } \
  SIMT_SHIM_INLINE Type& operator*=(Type& a, const Type& b) noexcept { return a = mul(a, b); } \
  SIMT_SHIM_INLINE Type& operator/=(Type& a, const Type& b) noexcept { return a = div(a, b); } \
  SIMT_SHIM_INLINE Type operator+(const Type& a) noexcept { return a; }                        \
  SIMT_SHIM_INLINE Type operator-(const Type& a) noexcept { return neg(a); }                   \
  SIMT_SHIM_INLINE Type& operator++(Type& a) noexcept { return a = add(a, unit); }             \
  SIMT_SHIM_INLINE Type& operator--(Type& a) noexcept { return a = sub(a, unit); }             \
  SIMT_SHIM_INLINE Type operator++(Type& a, int) noexcept {                                    \
    const Type before = a;                                                                     \
    ++a;                                                                                       \
    return before;                                                                             \
  }                                                                                            \
  SIMT_SHIM_INLINE Type operator--(Type& a, int) noexcept {                                    \
    const Type before = a;                                                                     \
    --a;                                                                                       \
    return before;                                                                             \
  }
SIMT_OPERATORS(SIMT_T, __hadd, __hsub, __hmul, __hdiv, __hneg, SIMT_T(SIMT_RAW{SIMT_FORMAT::one}))
SIMT_OPERATORS(SIMT_T2, __hadd2, __hsub2, __hmul2, __h2div, __hneg2,
               (SIMT_T2{SIMT_RAW{SIMT_FORMAT::one}, SIMT_RAW{SIMT_FORMAT::one}}))
#undef SIMT_OPERATORS
SIMT_SHIM_INLINE bool operator==(const SIMT_T2& a, const SIMT_T2& b) noexcept { return __hbeq2(a, b); }
SIMT_SHIM_INLINE bool operator!=(const SIMT_T2& a, const SIMT_T2& b) noexcept { return __hbneu2(a, b); }
SIMT_SHIM_INLINE bool operator<(const SIMT_T2& a, const SIMT_T2& b) noexcept { return __hblt2(a, b); }
SIMT_SHIM_INLINE bool operator<=(const SIMT_T2& a, const SIMT_T2& b) noexcept { return __hble2(a, b); }
SIMT_SHIM_INLINE bool operator>(const SIMT_T2& a, const SIMT_T2& b) noexcept { return __hbgt2(a, b); }
SIMT_SHIM_INLINE bool operator>=(const SIMT_T2& a, const SIMT_T2& b) noexcept { return __hbge2(a, b); }

// ---- Atomics; a pair is two independent additions on the GPU, and one 4-byte update here ----

SIMT_SHIM_INLINE SIMT_T atomicAdd(SIMT_T* address, SIMT_T operand) {
  return SIMT_ATOMIC_UPDATE(SIMT_T, simt_scope_device, __hadd(old, value));
}
SIMT_SHIM_INLINE SIMT_T2 atomicAdd(SIMT_T2* address, SIMT_T2 operand) {
  return SIMT_ATOMIC_UPDATE(SIMT_T2, simt_scope_device, __hadd2(old, value));
}
