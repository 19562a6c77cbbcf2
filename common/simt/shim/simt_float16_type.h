// One 16-bit floating-point type and its pair: the classes, conversions and operators that __half and
// __nv_bfloat16 share. Included once for each type, with these macros defined:
//   SIMT_T, SIMT_T2            the type and the pair, as in __half, __half2
//   SIMT_RAW, SIMT_RAW2        their bit patterns, as in __half_raw, __half2_raw
//   SIMT_OTHER                 the other of the two types
//   SIMT_FORMAT                simt::shim::Half or simt::shim::Bfloat16
//   SIMT_NAME(pre, post)       pre, the type's name within CUDA's function names (half, bfloat16), post
//   SIMT_NAME2(pre, post)      the same for the pair (half2, bfloat162)
// There is deliberately no include guard.

struct SIMT_OTHER;

struct alignas(2) SIMT_RAW {
  unsigned short x;
};
struct alignas(4) SIMT_RAW2 {
  unsigned short x, y;
};

/// A 16-bit floating-point number. Conversions are implicit in both directions, as in CUDA; those from wider
/// types round to nearest even, those to integers truncate and saturate.
struct alignas(2) SIMT_T {
  unsigned short __x;

  SIMT_T() = default;
  constexpr SIMT_SHIM_INLINE SIMT_T(const SIMT_RAW& raw) noexcept : __x(raw.x) {}
  SIMT_SHIM_INLINE SIMT_T(float x) noexcept : __x(SIMT_FORMAT::from_float(x)) {}
  SIMT_SHIM_INLINE SIMT_T(double x) noexcept : __x(simt::shim::from_double<SIMT_FORMAT>(x)) {}
  /// A cast from the other 16-bit type, which goes through float.
  template <class Other, std::enable_if_t<std::is_same_v<Other, SIMT_OTHER>, int> = 0>
  explicit SIMT_SHIM_INLINE SIMT_T(const Other& other) noexcept : SIMT_T(static_cast<float>(other)) {}
  constexpr SIMT_SHIM_INLINE operator SIMT_RAW() const noexcept { return {__x}; }
  SIMT_SHIM_INLINE operator float() const noexcept { return SIMT_FORMAT::to_float(__x); }
  constexpr SIMT_SHIM_INLINE operator bool() const noexcept { return (__x & 0x7fffu) != 0; }

#define SIMT_FROM_INTEGER(Integer)            \
  SIMT_SHIM_INLINE SIMT_T(Integer i) noexcept \
      : __x(simt::shim::from_double<SIMT_FORMAT>(simt::shim::integer_to_odd(i))) {}
#define SIMT_TO_INTEGER(Integer)                                                               \
  SIMT_SHIM_INLINE operator Integer() const noexcept {                                         \
    return simt::shim::saturating_cast<Integer>(__builtin_truncf(SIMT_FORMAT::to_float(__x))); \
  }
#define SIMT_INTEGER(Integer) SIMT_FROM_INTEGER(Integer) SIMT_TO_INTEGER(Integer)
  SIMT_TO_INTEGER(char)
  SIMT_TO_INTEGER(signed char)
  SIMT_TO_INTEGER(unsigned char)
  SIMT_INTEGER(short)
  SIMT_INTEGER(unsigned short)
  SIMT_INTEGER(int)
  SIMT_INTEGER(unsigned int)
  SIMT_INTEGER(long)
  SIMT_INTEGER(unsigned long)
  SIMT_INTEGER(long long)
  SIMT_INTEGER(unsigned long long)
#undef SIMT_INTEGER
#undef SIMT_TO_INTEGER
#undef SIMT_FROM_INTEGER
};

// ---- Bit patterns and conversions ----

constexpr SIMT_SHIM_INLINE unsigned short SIMT_NAME(__, _as_ushort)(SIMT_T a) noexcept {
  return SIMT_RAW(a).x;
}
constexpr SIMT_SHIM_INLINE short SIMT_NAME(__, _as_short)(SIMT_T a) noexcept {
  return static_cast<short>(SIMT_RAW(a).x);
}
constexpr SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__ushort_as_, )(unsigned short bits) noexcept {
  return SIMT_RAW{bits};
}
constexpr SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__short_as_, )(short bits) noexcept {
  return SIMT_RAW{static_cast<unsigned short>(bits)};
}

SIMT_SHIM_INLINE float SIMT_NAME(__, 2float)(SIMT_T a) noexcept { return static_cast<float>(a); }
SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__float2, )(float x) noexcept { return SIMT_T(x); }
SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__double2, )(double x) noexcept { return SIMT_T(x); }

#define SIMT_DIRECTED(from, Number, to_double)                                                 \
  SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__##from##2, _rn)(Number x) noexcept { return SIMT_T(x); } \
  inline SIMT_T SIMT_NAME(__##from##2, _rz)(Number x) noexcept {                               \
    return SIMT_RAW{simt::shim::from_double_to_zero<SIMT_FORMAT>(to_double(x))};               \
  }                                                                                            \
  inline SIMT_T SIMT_NAME(__##from##2, _ru)(Number x) noexcept {                               \
    return SIMT_RAW{simt::shim::from_double_up<SIMT_FORMAT>(to_double(x))};                    \
  }                                                                                            \
  inline SIMT_T SIMT_NAME(__##from##2, _rd)(Number x) noexcept {                               \
    return SIMT_RAW{simt::shim::from_double_down<SIMT_FORMAT>(to_double(x))};                  \
  }
SIMT_DIRECTED(float, float, double)
SIMT_DIRECTED(short, short, simt::shim::integer_to_odd)
SIMT_DIRECTED(ushort, unsigned short, simt::shim::integer_to_odd)
SIMT_DIRECTED(int, int, simt::shim::integer_to_odd)
SIMT_DIRECTED(uint, unsigned int, simt::shim::integer_to_odd)
SIMT_DIRECTED(ll, long long, simt::shim::integer_to_odd)
SIMT_DIRECTED(ull, unsigned long long, simt::shim::integer_to_odd)
#undef SIMT_DIRECTED

#define SIMT_TO_INTEGER(to, Integer)                                                      \
  SIMT_SHIM_INLINE Integer SIMT_NAME(__, 2##to##_rn)(SIMT_T a) noexcept {                 \
    return simt::shim::saturating_cast<Integer>(__builtin_rintf(static_cast<float>(a)));  \
  }                                                                                       \
  SIMT_SHIM_INLINE Integer SIMT_NAME(__, 2##to##_rz)(SIMT_T a) noexcept {                 \
    return simt::shim::saturating_cast<Integer>(__builtin_truncf(static_cast<float>(a))); \
  }                                                                                       \
  SIMT_SHIM_INLINE Integer SIMT_NAME(__, 2##to##_ru)(SIMT_T a) noexcept {                 \
    return simt::shim::saturating_cast<Integer>(__builtin_ceilf(static_cast<float>(a)));  \
  }                                                                                       \
  SIMT_SHIM_INLINE Integer SIMT_NAME(__, 2##to##_rd)(SIMT_T a) noexcept {                 \
    return simt::shim::saturating_cast<Integer>(__builtin_floorf(static_cast<float>(a))); \
  }
SIMT_TO_INTEGER(short, short)
SIMT_TO_INTEGER(ushort, unsigned short)
SIMT_TO_INTEGER(int, int)
SIMT_TO_INTEGER(uint, unsigned int)
SIMT_TO_INTEGER(ll, long long)
SIMT_TO_INTEGER(ull, unsigned long long)
#undef SIMT_TO_INTEGER

// ---- The pair ----

/// Two numbers that travel as one 4-byte word; see simt_vector_types.h for the assignment from a temporary.
struct alignas(4) SIMT_T2 {
  SIMT_T x, y;

  SIMT_T2() = default;
  constexpr SIMT_SHIM_INLINE SIMT_T2(const SIMT_T& first, const SIMT_T& second) noexcept
      : x(first), y(second) {}
  constexpr SIMT_SHIM_INLINE SIMT_T2(const SIMT_RAW2& raw) noexcept
      : x(SIMT_RAW{raw.x}), y(SIMT_RAW{raw.y}) {}
  constexpr SIMT_T2(const SIMT_T2&) = default;
  constexpr SIMT_T2& operator=(const SIMT_T2&) = default;
  template <class = void>
  SIMT_SHIM_INLINE SIMT_T2& operator=(SIMT_T2&& v) noexcept {
    typedef unsigned int Whole __attribute__((may_alias));
    *reinterpret_cast<Whole*>(this) = SIMT_RAW(v.x).x | static_cast<unsigned int>(SIMT_RAW(v.y).x) << 16;
    return *this;
  }
  constexpr SIMT_SHIM_INLINE operator SIMT_RAW2() const noexcept { return {SIMT_RAW(x).x, SIMT_RAW(y).x}; }
};

SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(make_, )(SIMT_T x, SIMT_T y) noexcept { return {x, y}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__halves2, )(SIMT_T x, SIMT_T y) noexcept { return {x, y}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(SIMT_NAME(__, 2), )(SIMT_T a) noexcept { return {a, a}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__float2, _rn)(float x) noexcept { return {SIMT_T(x), SIMT_T(x)}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__floats2, _rn)(float x, float y) noexcept {
  return {SIMT_T(x), SIMT_T(y)};
}
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__float22, _rn)(float2 v) noexcept { return {SIMT_T(v.x), SIMT_T(v.y)}; }
SIMT_SHIM_INLINE float2 SIMT_NAME2(__, 2float2)(SIMT_T2 v) noexcept {
  return {static_cast<float>(v.x), static_cast<float>(v.y)};
}
SIMT_SHIM_INLINE float __low2float(SIMT_T2 v) noexcept { return static_cast<float>(v.x); }
SIMT_SHIM_INLINE float __high2float(SIMT_T2 v) noexcept { return static_cast<float>(v.y); }
SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__low2, )(SIMT_T2 v) noexcept { return v.x; }
SIMT_SHIM_INLINE SIMT_T SIMT_NAME(__high2, )(SIMT_T2 v) noexcept { return v.y; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__low2, )(SIMT_T2 v) noexcept { return {v.x, v.x}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__high2, )(SIMT_T2 v) noexcept { return {v.y, v.y}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__lows2, )(SIMT_T2 a, SIMT_T2 b) noexcept { return {a.x, b.x}; }
SIMT_SHIM_INLINE SIMT_T2 SIMT_NAME2(__highs2, )(SIMT_T2 a, SIMT_T2 b) noexcept { return {a.y, b.y}; }
SIMT_SHIM_INLINE SIMT_T2 __lowhigh2highlow(SIMT_T2 v) noexcept { return {v.y, v.x}; }
