// CUDA's mathematical functions, callable from kernels and from host code, in the global namespace.
//
// The accurate functions are the C library's. The fast ones (__expf, __logf, ...) are at least as accurate as
// the hardware's. Where the GPU defines what C leaves open, this follows the GPU: fmaxf and fminf ignore a
// NaN, __saturatef(NaN) is 0, and __fmul_rn and its kin are never contracted into a fused multiply-add.
#pragma once

#include <math.h>
#include <stdlib.h>

#include "simt_cache_hints.h"
#include "simt_convert.h"
#include "simt_integer.h"
#include "simt_vector_types.h"

// ---- Larger and smaller, ignoring NaN ----

#if defined(__x86_64__)
// The C library's versions are a call each, in the innermost loop of every online softmax. A branch on NaN
// that is never taken leaves one maxss on the loop's critical path, where a select would put a round trip
// through an integer register, and it vectorises all the same. A gnu_inline definition replaces calls only;
// the address is the library's.
#define SIMT_FMIN_FMAX(name, Float, before)                                                        \
  extern __attribute__((gnu_inline, always_inline)) inline Float name(Float a, Float b) noexcept { \
    if (__builtin_expect(b != b, 0)) return a;                                                     \
    return a before b ? a : b;                                                                     \
  }
SIMT_FMIN_FMAX(fmaxf, float, >)
SIMT_FMIN_FMAX(fminf, float, <)
SIMT_FMIN_FMAX(fmax, double, >)
SIMT_FMIN_FMAX(fmin, double, <)
#undef SIMT_FMIN_FMAX
#endif

SIMT_SHIM_INLINE float max(float a, float b) noexcept { return fmaxf(a, b); }
SIMT_SHIM_INLINE float min(float a, float b) noexcept { return fminf(a, b); }
SIMT_SHIM_INLINE double max(double a, double b) noexcept { return fmax(a, b); }
SIMT_SHIM_INLINE double min(double a, double b) noexcept { return fmin(a, b); }
SIMT_SHIM_INLINE double max(float a, double b) noexcept { return fmax(static_cast<double>(a), b); }
SIMT_SHIM_INLINE double min(float a, double b) noexcept { return fmin(static_cast<double>(a), b); }
SIMT_SHIM_INLINE double max(double a, float b) noexcept { return fmax(a, static_cast<double>(b)); }
SIMT_SHIM_INLINE double min(double a, float b) noexcept { return fmin(a, static_cast<double>(b)); }

// ---- What the C library lacks. noexcept, because newer C libraries declare some of these. ----

#ifdef SIMT_CHECK
// In check mode, what a GPU does with one fast instruction is a function of its own, so that it can be
// counted.
#define SIMT_FAST(function) simt_fast_##function
extern "C" {
float simt_fast_rsqrtf(float x) noexcept;
float simt_fast_logf(float x) noexcept;
float simt_fast_log2f(float x) noexcept;
float simt_fast_log10f(float x) noexcept;
float simt_fast_powf(float x, float y) noexcept;
float simt_fast_sinf(float x) noexcept;
float simt_fast_cosf(float x) noexcept;
float simt_fast_tanf(float x) noexcept;
float simt_fast_tanhf(float x) noexcept;
}
inline float rsqrtf(float x) noexcept { return simt_fast_rsqrtf(x); }
#else
#define SIMT_FAST(function) function
inline float rsqrtf(float x) noexcept { return 1.0f / sqrtf(x); }
#endif
inline double rsqrt(double x) noexcept { return 1.0 / sqrt(x); }
inline float rsqrt(float x) noexcept { return rsqrtf(x); }
inline float rcbrtf(float x) noexcept { return 1.0f / cbrtf(x); }
inline double rcbrt(double x) noexcept { return 1.0 / cbrt(x); }
inline float rhypotf(float x, float y) noexcept { return 1.0f / hypotf(x, y); }
inline double rhypot(double x, double y) noexcept { return 1.0 / hypot(x, y); }
inline float norm3df(float x, float y, float z) noexcept { return hypotf(hypotf(x, y), z); }
inline float norm4df(float x, float y, float z, float w) noexcept {
  return hypotf(hypotf(x, y), hypotf(z, w));
}
inline float rnorm3df(float x, float y, float z) noexcept { return 1.0f / norm3df(x, y, z); }
inline float rnorm4df(float x, float y, float z, float w) noexcept { return 1.0f / norm4df(x, y, z, w); }
inline float normcdff(float x) noexcept { return 0.5f * erfcf(-x * 0.707106781f); }
inline double normcdf(double x) noexcept { return 0.5 * erfc(-x * 0.70710678118654757); }
inline float fdividef(float x, float y) noexcept { return x / y; }
inline double fdivide(double x, double y) noexcept { return x / y; }

// An angle given in half turns is exact to reduce: after fmod the argument of sin and cos is below 2 pi.
inline float sinpif(float x) noexcept {
  return static_cast<float>(sin(fmod(double{x}, 2.0) * 3.1415926535897931));
}
inline float cospif(float x) noexcept {
  return static_cast<float>(cos(fmod(double{x}, 2.0) * 3.1415926535897931));
}
inline void sincospif(float x, float* sine, float* cosine) noexcept {
  *sine = sinpif(x), *cosine = cospif(x);
}

// ---- Fast single precision ----

SIMT_SHIM_INLINE float __expf(float x) noexcept { return expf(x); }
SIMT_SHIM_INLINE float __exp10f(float x) noexcept { return exp2f(x * 3.321928095f); }
SIMT_SHIM_INLINE float __logf(float x) noexcept { return SIMT_FAST(logf)(x); }
SIMT_SHIM_INLINE float __log2f(float x) noexcept { return SIMT_FAST(log2f)(x); }
SIMT_SHIM_INLINE float __log10f(float x) noexcept { return SIMT_FAST(log10f)(x); }
SIMT_SHIM_INLINE float __powf(float x, float y) noexcept { return SIMT_FAST(powf)(x, y); }
SIMT_SHIM_INLINE float __sinf(float x) noexcept { return SIMT_FAST(sinf)(x); }
SIMT_SHIM_INLINE float __cosf(float x) noexcept { return SIMT_FAST(cosf)(x); }
SIMT_SHIM_INLINE float __tanf(float x) noexcept { return SIMT_FAST(tanf)(x); }
SIMT_SHIM_INLINE float __tanhf(float x) noexcept { return SIMT_FAST(tanhf)(x); }
SIMT_SHIM_INLINE void __sincosf(float x, float* sine, float* cosine) noexcept {
  *sine = SIMT_FAST(sinf)(x), *cosine = SIMT_FAST(cosf)(x);
}
SIMT_SHIM_INLINE float __fdividef(float x, float y) noexcept { return x / y; }
#undef SIMT_FAST
/// x clamped to [0, 1]; NaN becomes 0.
SIMT_SHIM_INLINE float __saturatef(float x) noexcept { return fminf(fmaxf(x, 0.0f), 1.0f); }

// ---- One correctly rounded operation each ----

namespace simt::shim {

/// The same value, but opaque to the optimiser: it cannot become part of a fused multiply-add.
template <class Float>
SIMT_SHIM_INLINE Float uncontracted(Float x) noexcept {
#if defined(__x86_64__)
  __asm__("" : "+x"(x));
#elif defined(__aarch64__)
  __asm__("" : "+w"(x));
#else
  __asm__("" : "+m"(x));
#endif
  return x;
}

/// Sign of nearest - (high + low), where |low| is at most half a unit in the last place of high.
SIMT_SHIM_INLINE int error_sign(float nearest, double high, double low = 0) noexcept {
  if (nearest != high) return (nearest > high) - (nearest < high);
  return (low < 0) - (low > 0);
}
/// What a + b lost when it was rounded (Knuth's two-sum).
SIMT_SHIM_INLINE double sum_error(double a, double b) noexcept {
  const double sum = uncontracted(a + b), b_part = uncontracted(sum - a);
  return (a - uncontracted(sum - b_part)) + (b - b_part);
}

// Exact results of single-precision operations, compared with what rounding to nearest gave. Products of two
// floats are exact in double, and so are the residuals x - q*y and x - r*r.
SIMT_SHIM_INLINE int add_error(float nearest, float x, float y) noexcept {
  return error_sign(nearest, double{x} + y, sum_error(x, y));
}
SIMT_SHIM_INLINE int mul_error(float nearest, float x, float y) noexcept {
  return error_sign(nearest, double{x} * y);
}
SIMT_SHIM_INLINE int fma_error(float nearest, float x, float y, float z) noexcept {
  const double product = uncontracted(double{x} * y);
  return error_sign(nearest, product + z, sum_error(product, z));
}
SIMT_SHIM_INLINE int div_error(float nearest, float x, float y) noexcept {
  const double back = uncontracted(double{nearest} * y);
  const int above = (back > x) - (back < x);
  return y < 0 ? -above : above;
}
SIMT_SHIM_INLINE int sqrt_error(float nearest, float x) noexcept {
  const double back = uncontracted(double{nearest} * nearest);
  return (back > x) - (back < x);
}

}  // namespace simt::shim

SIMT_SHIM_INLINE float __fadd_rn(float x, float y) noexcept { return simt::shim::uncontracted(x + y); }
SIMT_SHIM_INLINE float __fsub_rn(float x, float y) noexcept { return simt::shim::uncontracted(x - y); }
SIMT_SHIM_INLINE float __fmul_rn(float x, float y) noexcept { return simt::shim::uncontracted(x * y); }
SIMT_SHIM_INLINE float __fdiv_rn(float x, float y) noexcept { return x / y; }
SIMT_SHIM_INLINE float __fmaf_rn(float x, float y, float z) noexcept { return fmaf(x, y, z); }
SIMT_SHIM_INLINE float __frcp_rn(float x) noexcept { return 1.0f / x; }
SIMT_SHIM_INLINE float __fsqrt_rn(float x) noexcept { return sqrtf(x); }
SIMT_SHIM_INLINE float __frsqrt_rn(float x) noexcept { return static_cast<float>(1.0 / sqrt(double{x})); }

#define SIMT_DIRECTED(suffix, direct)                                                        \
  inline float __fadd_##suffix(float x, float y) noexcept {                                  \
    const float nearest = __fadd_rn(x, y);                                                   \
    return simt::shim::direct(nearest, simt::shim::add_error(nearest, x, y));                \
  }                                                                                          \
  inline float __fsub_##suffix(float x, float y) noexcept { return __fadd_##suffix(x, -y); } \
  inline float __fmul_##suffix(float x, float y) noexcept {                                  \
    const float nearest = __fmul_rn(x, y);                                                   \
    return simt::shim::direct(nearest, simt::shim::mul_error(nearest, x, y));                \
  }                                                                                          \
  inline float __fmaf_##suffix(float x, float y, float z) noexcept {                         \
    const float nearest = fmaf(x, y, z);                                                     \
    return simt::shim::direct(nearest, simt::shim::fma_error(nearest, x, y, z));             \
  }                                                                                          \
  inline float __fdiv_##suffix(float x, float y) noexcept {                                  \
    const float nearest = x / y;                                                             \
    return simt::shim::direct(nearest, simt::shim::div_error(nearest, x, y));                \
  }                                                                                          \
  inline float __frcp_##suffix(float x) noexcept { return __fdiv_##suffix(1.0f, x); }        \
  inline float __fsqrt_##suffix(float x) noexcept {                                          \
    const float nearest = sqrtf(x);                                                          \
    return simt::shim::direct(nearest, simt::shim::sqrt_error(nearest, x));                  \
  }
SIMT_DIRECTED(rz, round_to_zero)
SIMT_DIRECTED(ru, round_up)
SIMT_DIRECTED(rd, round_down)
#undef SIMT_DIRECTED

SIMT_SHIM_INLINE double __dadd_rn(double x, double y) noexcept { return simt::shim::uncontracted(x + y); }
SIMT_SHIM_INLINE double __dsub_rn(double x, double y) noexcept { return simt::shim::uncontracted(x - y); }
SIMT_SHIM_INLINE double __dmul_rn(double x, double y) noexcept { return simt::shim::uncontracted(x * y); }
SIMT_SHIM_INLINE double __ddiv_rn(double x, double y) noexcept { return x / y; }
SIMT_SHIM_INLINE double __fma_rn(double x, double y, double z) noexcept { return fma(x, y, z); }
SIMT_SHIM_INLINE double __drcp_rn(double x) noexcept { return 1.0 / x; }
SIMT_SHIM_INLINE double __dsqrt_rn(double x) noexcept { return sqrt(x); }

namespace simt::shim {

/// Sign of nearest - exact, from what was lost, exact - nearest. What overflowed lies outside of all numbers.
SIMT_SHIM_INLINE int lost_sign(double nearest, double lost, bool from_finite) noexcept {
  if (from_finite && isinf(nearest)) return nearest > 0 ? 1 : -1;
  return (lost < 0) - (lost > 0);
}

}  // namespace simt::shim

// Products and quotients below 2^-969, of which a residual may not be a double, may stay rounded to nearest.
#define SIMT_DIRECTED_DOUBLE(suffix, direct)                                                                 \
  inline double __dadd_##suffix(double x, double y) noexcept {                                               \
    const double nearest = __dadd_rn(x, y);                                                                  \
    const bool finite = isfinite(x) && isfinite(y);                                                          \
    return simt::shim::direct(nearest, simt::shim::lost_sign(nearest, simt::shim::sum_error(x, y), finite)); \
  }                                                                                                          \
  inline double __dsub_##suffix(double x, double y) noexcept { return __dadd_##suffix(x, -y); }              \
  inline double __dmul_##suffix(double x, double y) noexcept {                                               \
    const double nearest = __dmul_rn(x, y);                                                                  \
    const bool finite = isfinite(x) && isfinite(y);                                                          \
    return simt::shim::direct(nearest, simt::shim::lost_sign(nearest, fma(x, y, -nearest), finite));         \
  }                                                                                                          \
  inline double __ddiv_##suffix(double x, double y) noexcept {                                               \
    const double nearest = x / y, rest = fma(-nearest, y, x);                                                \
    const bool finite = isfinite(x) && y != 0;                                                               \
    return simt::shim::direct(nearest, simt::shim::lost_sign(nearest, y < 0 ? -rest : rest, finite));        \
  }                                                                                                          \
  inline double __drcp_##suffix(double x) noexcept { return __ddiv_##suffix(1.0, x); }                       \
  inline double __dsqrt_##suffix(double x) noexcept {                                                        \
    const double nearest = sqrt(x);                                                                          \
    return simt::shim::direct(nearest, simt::shim::lost_sign(nearest, fma(-nearest, nearest, x), false));    \
  }
SIMT_DIRECTED_DOUBLE(rz, round_to_zero)
SIMT_DIRECTED_DOUBLE(ru, round_up)
SIMT_DIRECTED_DOUBLE(rd, round_down)
#undef SIMT_DIRECTED_DOUBLE
