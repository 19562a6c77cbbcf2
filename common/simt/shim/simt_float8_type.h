// One 8-bit floating-point type, its pair and its four. Included by cuda_fp8.h once for each format, with the
// names in SIMT_FLOAT8, SIMT_FLOAT8X2, SIMT_FLOAT8X4 and the format in SIMT_FLOAT8_FORMAT; it undefines them.
// There is deliberately no include guard.

/// A number of 8 bits. Conversions are explicit, as in CUDA; those to it saturate, those to integers truncate
/// and saturate.
struct alignas(1) SIMT_FLOAT8 {
  __nv_fp8_storage_t __x;

  SIMT_FLOAT8() = default;
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8(double x) noexcept
      : __x(__nv_cvt_double_to_fp8(x, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8(float x) noexcept
      : __x(__nv_cvt_float_to_fp8(x, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8(__half x) noexcept
      : __x(__nv_cvt_halfraw_to_fp8(x, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8(__nv_bfloat16 x) noexcept
      : __x(__nv_cvt_bfloat16raw_to_fp8(x, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}

  explicit SIMT_SHIM_INLINE operator float() const noexcept {
    return simt::shim::float8_value(__x, SIMT_FLOAT8_FORMAT);
  }
  explicit SIMT_SHIM_INLINE operator double() const noexcept { return static_cast<float>(*this); }
  explicit SIMT_SHIM_INLINE operator __half() const noexcept { return __half(static_cast<float>(*this)); }
  explicit SIMT_SHIM_INLINE operator __nv_bfloat16() const noexcept {
    return __nv_bfloat16(static_cast<float>(*this));
  }
  explicit SIMT_SHIM_INLINE operator bool() const noexcept { return (__x & 0x7fu) != 0; }

#define SIMT_FROM_INTEGER(Integer) \
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8(Integer i) noexcept : SIMT_FLOAT8(simt::shim::integer_to_odd(i)) {}
#define SIMT_TO_INTEGER(Integer)                                                              \
  explicit SIMT_SHIM_INLINE operator Integer() const noexcept {                               \
    return simt::shim::saturating_cast<Integer>(__builtin_truncf(static_cast<float>(*this))); \
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

/// Two of them, the first in the lower byte.
struct alignas(2) SIMT_FLOAT8X2 {
  __nv_fp8x2_storage_t __x;

  SIMT_FLOAT8X2() = default;
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X2(double2 v) noexcept
      : __x(__nv_cvt_double2_to_fp8x2(v, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X2(float2 v) noexcept
      : __x(__nv_cvt_float2_to_fp8x2(v, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X2(__half2 v) noexcept
      : __x(__nv_cvt_halfraw2_to_fp8x2(v, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X2(__nv_bfloat162 v) noexcept
      : __x(__nv_cvt_bfloat16raw2_to_fp8x2(v, __NV_SATFINITE, SIMT_FLOAT8_FORMAT)) {}

  explicit SIMT_SHIM_INLINE operator __half2() const noexcept {
    return __nv_cvt_fp8x2_to_halfraw2(__x, SIMT_FLOAT8_FORMAT);
  }
  explicit SIMT_SHIM_INLINE operator float2() const noexcept {
    return make_float2(
        simt::shim::float8_value(static_cast<__nv_fp8_storage_t>(__x), SIMT_FLOAT8_FORMAT),
        simt::shim::float8_value(static_cast<__nv_fp8_storage_t>(__x >> 8), SIMT_FLOAT8_FORMAT));
  }
};

/// Four of them, the first in the lowest byte.
struct alignas(4) SIMT_FLOAT8X4 {
  __nv_fp8x4_storage_t __x;

  SIMT_FLOAT8X4() = default;
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X4(double4 v) noexcept
      : SIMT_FLOAT8X4(SIMT_FLOAT8X2(make_double2(v.x, v.y)), SIMT_FLOAT8X2(make_double2(v.z, v.w))) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X4(float4 v) noexcept
      : SIMT_FLOAT8X4(SIMT_FLOAT8X2(make_float2(v.x, v.y)), SIMT_FLOAT8X2(make_float2(v.z, v.w))) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X4(__half2 low, __half2 high) noexcept
      : SIMT_FLOAT8X4(SIMT_FLOAT8X2(low), SIMT_FLOAT8X2(high)) {}
  explicit SIMT_SHIM_INLINE SIMT_FLOAT8X4(__nv_bfloat162 low, __nv_bfloat162 high) noexcept
      : SIMT_FLOAT8X4(SIMT_FLOAT8X2(low), SIMT_FLOAT8X2(high)) {}

  explicit SIMT_SHIM_INLINE operator float4() const noexcept {
    SIMT_FLOAT8X2 low, high;
    low.__x = static_cast<__nv_fp8x2_storage_t>(__x);
    high.__x = static_cast<__nv_fp8x2_storage_t>(__x >> 16);
    const float2 first = static_cast<float2>(low), last = static_cast<float2>(high);
    return make_float4(first.x, first.y, last.x, last.y);
  }

 private:
  SIMT_SHIM_INLINE SIMT_FLOAT8X4(SIMT_FLOAT8X2 low, SIMT_FLOAT8X2 high) noexcept
      : __x(low.__x | static_cast<__nv_fp8x4_storage_t>(high.__x) << 16) {}
};

#undef SIMT_FLOAT8
#undef SIMT_FLOAT8X2
#undef SIMT_FLOAT8X4
#undef SIMT_FLOAT8_FORMAT
