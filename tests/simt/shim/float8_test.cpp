// e4m3 and e5m2: every bit pattern, and roundings, saturation, NaN and infinities.

#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>
#include <limits>

#include "support/catch.hpp"
#include "support/special_floats.hpp"

using course::test::kInfinity;

namespace {

/// The value of a pattern by the definition of its format; NaN for those that are no number.
double value_of(unsigned bits, int exponent_bits, int mantissa_bits, bool has_infinity) {
  const int bias = (1 << (exponent_bits - 1)) - 1, largest = (1 << exponent_bits) - 1;
  const int exponent = static_cast<int>(bits >> mantissa_bits) & largest;
  const int mantissa = static_cast<int>(bits) & ((1 << mantissa_bits) - 1);
  const double sign = (bits & 0x80u) != 0 ? -1 : 1;
  if (has_infinity && exponent == largest)
    return mantissa == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (!has_infinity && (bits & 0x7fu) == 0x7fu) return std::nan("");
  const double fraction = mantissa / std::ldexp(1.0, mantissa_bits);
  return exponent == 0 ? sign * std::ldexp(fraction, 1 - bias)
                       : sign * std::ldexp(1 + fraction, exponent - bias);
}

template <class Float8>
Float8 with_bits(unsigned bits) {
  Float8 value;
  value.__x = static_cast<unsigned char>(bits);
  return value;
}

template <class Float8>
void require_all_patterns(int exponent_bits, int mantissa_bits, bool has_infinity) {
  for (unsigned bits = 0; bits < 256; ++bits) {
    const double expected = value_of(bits, exponent_bits, mantissa_bits, has_infinity);
    const auto value = with_bits<Float8>(bits);
    INFO("bits " << bits);
    if (std::isnan(expected)) {
      REQUIRE(std::isnan(static_cast<float>(value)));
      REQUIRE(std::isnan(static_cast<float>(static_cast<__half>(value))));
      continue;
    }
    REQUIRE(static_cast<double>(value) == expected);
    REQUIRE(std::signbit(static_cast<float>(value)) == (bits >= 0x80u));
    REQUIRE(static_cast<float>(static_cast<__half>(value)) == static_cast<float>(expected));
    if (std::isfinite(expected)) {
      REQUIRE(Float8(static_cast<float>(expected)).__x == bits);
      REQUIRE(Float8(expected).__x == bits);
      REQUIRE(Float8(__half(static_cast<float>(expected))).__x == bits);
      REQUIRE(Float8(__nv_bfloat16(static_cast<float>(expected))).__x == bits);
    }
  }
}

/// What lies between two neighbouring patterns goes to the nearer one, and from the middle to the even one.
template <class Float8>
void require_nearest(unsigned largest) {
  for (unsigned bits = 0; bits < largest; ++bits) {
    const double low = static_cast<double>(with_bits<Float8>(bits)),
                 high = static_cast<double>(with_bits<Float8>(bits + 1));
    const double middle = (low + high) / 2, step = (high - low) / 64;
    INFO("between " << low << " and " << high);
    for (const double sign : {1.0, -1.0}) {
      const unsigned sign_bit = sign < 0 ? 0x80u : 0u;
      REQUIRE(Float8(sign * (middle - step)).__x == (bits | sign_bit));
      REQUIRE(Float8(sign * (middle + step)).__x == ((bits + 1) | sign_bit));
      REQUIRE(Float8(sign * middle).__x == (((bits & 1u) == 0 ? bits : bits + 1) | sign_bit));
    }
  }
}

}  // namespace

TEST_CASE("all 256 patterns of e4m3 and e5m2 have the values of their formats, and come back",
          "[shim][float8]") {
  require_all_patterns<__nv_fp8_e4m3>(4, 3, false);
  require_all_patterns<__nv_fp8_e5m2>(5, 2, true);
}

TEST_CASE("conversions to 8 bits round to nearest even", "[shim][float8]") {
  require_nearest<__nv_fp8_e4m3>(0x7e);
  require_nearest<__nv_fp8_e5m2>(0x7b);
}

TEST_CASE("what is too large for 8 bits saturates, or becomes NaN or infinity", "[shim][float8]") {
  const auto e4m3 = [](float x, __nv_saturation_t saturate) {
    return __nv_cvt_float_to_fp8(x, saturate, __NV_E4M3);
  };
  const auto e5m2 = [](float x, __nv_saturation_t saturate) {
    return __nv_cvt_float_to_fp8(x, saturate, __NV_E5M2);
  };
  for (const float x : {1000.0f, kInfinity}) {
    CHECK(e4m3(x, __NV_SATFINITE) == 0x7e);
    CHECK(e4m3(-x, __NV_SATFINITE) == 0xfe);
    CHECK(e4m3(x, __NV_NOSAT) == 0x7f);
    CHECK(e4m3(-x, __NV_NOSAT) == 0xff);
  }
  CHECK(e4m3(464.0f, __NV_NOSAT) == 0x7e);  // half way to the number that would follow
  CHECK(e4m3(464.1f, __NV_NOSAT) == 0x7f);
  for (const float x : {61440.0f, 1e6f, kInfinity}) {
    CHECK(e5m2(x, __NV_SATFINITE) == 0x7b);
    CHECK(e5m2(-x, __NV_NOSAT) == 0xfc);
  }
  CHECK(e5m2(61439.0f, __NV_NOSAT) == 0x7b);
  CHECK((e4m3(std::nanf(""), __NV_SATFINITE) & 0x7f) == 0x7f);
  CHECK((e5m2(std::nanf(""), __NV_SATFINITE) & 0x7f) == 0x7f);
}

TEST_CASE("pairs and fours of 8-bit numbers begin in the lowest byte", "[shim][float8]") {
  const __nv_fp8x2_e4m3 pair(make_float2(1.0f, -2.0f));
  CHECK(pair.__x == 0xc038);
  CHECK(static_cast<float2>(pair).y == -2.0f);
  const __nv_fp8x4_e5m2 four(make_float4(1.0f, 2.0f, -0.5f, 1e9f));
  CHECK(four.__x == 0x7bb8403cu);
  const float4 back = static_cast<float4>(four);
  CHECK(back.x == 1.0f);
  CHECK(back.z == -0.5f);
  CHECK(back.w == 57344.0f);
}

TEST_CASE("8-bit numbers convert from and to integers", "[shim][float8]") {
  CHECK(static_cast<int>(__nv_fp8_e4m3(17)) == 16);
  CHECK(static_cast<unsigned char>(__nv_fp8_e4m3(-3)) == 0);
  CHECK(static_cast<signed char>(__nv_fp8_e5m2(1000)) == 127);
  CHECK(static_cast<bool>(__nv_fp8_e5m2(0)) == false);
  CHECK(__nv_fp8_e4m3(2147483647).__x == 0x7e);
}
