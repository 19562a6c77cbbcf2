// __nv_bfloat16 and __nv_bfloat162: the upper 16 bits of a float (8 exponent bits, 7 mantissa bits), with
// CUDA's names.
#pragma once

#include "cuda_runtime.h"
#include "simt_float16.h"

#define SIMT_T __nv_bfloat16
#define SIMT_T2 __nv_bfloat162
#define SIMT_RAW __nv_bfloat16_raw
#define SIMT_RAW2 __nv_bfloat162_raw
#define SIMT_OTHER __half
#define SIMT_FORMAT simt::shim::Bfloat16
#define SIMT_NAME(pre, post) SIMT_PASTE(pre, bfloat16, post)
#define SIMT_NAME2(pre, post) SIMT_PASTE(pre, bfloat162, post)
#include "simt_float16_type.h"

#include "simt_float16_operations.h"
#undef SIMT_NAME2
#undef SIMT_NAME
#undef SIMT_FORMAT
#undef SIMT_OTHER
#undef SIMT_RAW2
#undef SIMT_RAW
#undef SIMT_T2
#undef SIMT_T

using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;

SIMT_SHIM_INLINE signed char __bfloat162char_rz(__nv_bfloat16 a) noexcept {
  return static_cast<signed char>(a);
}
SIMT_SHIM_INLINE unsigned char __bfloat162uchar_rz(__nv_bfloat16 a) noexcept {
  return static_cast<unsigned char>(a);
}

#define CUDART_INF_BF16 __ushort_as_bfloat16(0x7f80)
#define CUDART_NAN_BF16 __ushort_as_bfloat16(0x7fff)
#define CUDART_MIN_DENORM_BF16 __ushort_as_bfloat16(0x0001)
#define CUDART_MAX_NORMAL_BF16 __ushort_as_bfloat16(0x7f7f)
#define CUDART_NEG_ZERO_BF16 __ushort_as_bfloat16(0x8000)
#define CUDART_ZERO_BF16 __ushort_as_bfloat16(0x0000)
#define CUDART_ONE_BF16 __ushort_as_bfloat16(0x3f80)
