// 8-bit floating-point numbers, e4m3 and e5m2, singly, in pairs and in fours, with CUDA's names. Conversions
// to them round once, to the nearest.
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "cuda_runtime.h"
#include "simt_float8.h"

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;

typedef enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE } __nv_saturation_t;
typedef enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2 } __nv_fp8_interpretation_t;

// ---- Bit patterns ----

namespace simt::shim {

SIMT_SHIM_INLINE __nv_fp8_storage_t to_float8(double x, __nv_saturation_t saturate,
                                              __nv_fp8_interpretation_t format) noexcept {
  return format == __NV_E4M3 ? to_float8<E4m3>(x, saturate == __NV_SATFINITE)
                             : to_float8<E5m2>(x, saturate == __NV_SATFINITE);
}
SIMT_SHIM_INLINE float float8_value(__nv_fp8_storage_t bits, __nv_fp8_interpretation_t format) noexcept {
  return format == __NV_E4M3 ? E4m3::to_float(bits) : E5m2::to_float(bits);
}

}  // namespace simt::shim

SIMT_SHIM_INLINE __nv_fp8_storage_t __nv_cvt_float_to_fp8(float x, __nv_saturation_t saturate,
                                                          __nv_fp8_interpretation_t format) noexcept {
  return simt::shim::to_float8(double{x}, saturate, format);
}
/// There is no instruction for it, and CUDA's code keeps of a NaN the sign and what fits of its mantissa.
SIMT_SHIM_INLINE __nv_fp8_storage_t __nv_cvt_double_to_fp8(double x, __nv_saturation_t saturate,
                                                           __nv_fp8_interpretation_t format) noexcept {
  if (x == x) return simt::shim::to_float8(x, saturate, format);
  const auto top = static_cast<unsigned>(__builtin_bit_cast(unsigned long long, x) >> 50);
  return static_cast<__nv_fp8_storage_t>((top >> 6 & 0x80u) |
                                         (format == __NV_E4M3 ? 0x7fu : 0x7eu | (top & 1u)));
}
SIMT_SHIM_INLINE __nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw x, __nv_saturation_t saturate,
                                                            __nv_fp8_interpretation_t format) noexcept {
  return __nv_cvt_float_to_fp8(static_cast<float>(__half(x)), saturate, format);
}
SIMT_SHIM_INLINE __nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw x,
                                                                __nv_saturation_t saturate,
                                                                __nv_fp8_interpretation_t format) noexcept {
  return __nv_cvt_float_to_fp8(static_cast<float>(__nv_bfloat16(x)), saturate, format);
}

/// The first of a pair is in the lower byte.
#define SIMT_PAIR_TO_FP8(name, Pair, convert)                                                                \
  SIMT_SHIM_INLINE __nv_fp8x2_storage_t __nv_cvt_##name##_to_fp8x2(                                          \
      Pair v, __nv_saturation_t saturate, __nv_fp8_interpretation_t format) noexcept {                       \
    return static_cast<__nv_fp8x2_storage_t>(convert(v.x, saturate, format) | convert(v.y, saturate, format) \
                                                                                  << 8);                     \
  }
#define SIMT_HALF_RAW(x, saturate, format) __nv_cvt_halfraw_to_fp8(__half_raw{x}, saturate, format)
#define SIMT_BFLOAT_RAW(x, saturate, format) \
  __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw{x}, saturate, format)
SIMT_PAIR_TO_FP8(double2, double2, __nv_cvt_double_to_fp8)
SIMT_PAIR_TO_FP8(float2, float2, __nv_cvt_float_to_fp8)
SIMT_PAIR_TO_FP8(halfraw2, __half2_raw, SIMT_HALF_RAW)
SIMT_PAIR_TO_FP8(bfloat16raw2, __nv_bfloat162_raw, SIMT_BFLOAT_RAW)
#undef SIMT_BFLOAT_RAW
#undef SIMT_HALF_RAW
#undef SIMT_PAIR_TO_FP8

SIMT_SHIM_INLINE __half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t x,
                                                    __nv_fp8_interpretation_t format) noexcept {
  return __half(simt::shim::float8_value(x, format));  // exact
}
SIMT_SHIM_INLINE __half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t x,
                                                        __nv_fp8_interpretation_t format) noexcept {
  return {__nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x), format).x,
          __nv_cvt_fp8_to_halfraw(static_cast<__nv_fp8_storage_t>(x >> 8), format).x};
}

// ---- Types ----

#define SIMT_FLOAT8 __nv_fp8_e4m3
#define SIMT_FLOAT8X2 __nv_fp8x2_e4m3
#define SIMT_FLOAT8X4 __nv_fp8x4_e4m3
#define SIMT_FLOAT8_FORMAT __NV_E4M3
#include "simt_float8_type.h"

#define SIMT_FLOAT8 __nv_fp8_e5m2
#define SIMT_FLOAT8X2 __nv_fp8x2_e5m2
#define SIMT_FLOAT8X4 __nv_fp8x4_e5m2
#define SIMT_FLOAT8_FORMAT __NV_E5M2
#include "simt_float8_type.h"
