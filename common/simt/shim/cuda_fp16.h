// __half and __half2: IEEE binary16 numbers (5 exponent bits, 10 mantissa bits), with CUDA's names.
#pragma once

#include "cuda_runtime.h"
#include "simt_float16.h"

#define SIMT_T __half
#define SIMT_T2 __half2
#define SIMT_RAW __half_raw
#define SIMT_RAW2 __half2_raw
#define SIMT_OTHER __nv_bfloat16
#define SIMT_FORMAT simt::shim::Half
#define SIMT_NAME(pre, post) SIMT_PASTE(pre, half, post)
#define SIMT_NAME2(pre, post) SIMT_PASTE(pre, half2, post)
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

using half = __half;
using half2 = __half2;
using __nv_half = __half;
using __nv_half2 = __half2;
using __nv_half_raw = __half_raw;
using __nv_half2_raw = __half2_raw;
using nv_half = __half;
using nv_half2 = __half2;

SIMT_SHIM_INLINE signed char __half2char_rz(__half a) noexcept { return static_cast<signed char>(a); }
SIMT_SHIM_INLINE unsigned char __half2uchar_rz(__half a) noexcept { return static_cast<unsigned char>(a); }

#define CUDART_INF_FP16 __ushort_as_half(0x7c00)
#define CUDART_NAN_FP16 __ushort_as_half(0x7fff)
#define CUDART_MIN_DENORM_FP16 __ushort_as_half(0x0001)
#define CUDART_MAX_NORMAL_FP16 __ushort_as_half(0x7bff)
#define CUDART_NEG_ZERO_FP16 __ushort_as_half(0x8000)
#define CUDART_ZERO_FP16 __ushort_as_half(0x0000)
#define CUDART_ONE_FP16 __ushort_as_half(0x3c00)
