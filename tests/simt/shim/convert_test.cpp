#include <cuda_runtime.h>

#include <cfenv>
#include <climits>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "support/catch.hpp"
#include "support/special_floats.hpp"

using course::test::kInfinity, course::test::kNaN;

namespace {

// The processor's own directed rounding. Volatile, so that the operation happens between the mode changes.
template <class Operation>
auto with_rounding(int mode, Operation operation) {
  std::fesetround(mode);
  const volatile auto result = operation();
  std::fesetround(FE_TONEAREST);
  return +result;
}

struct Floats {
  std::mt19937 bits{20261120};
  // Any finite float, or, half of the time, one of moderate size: those meet in sums.
  float operator()() {
    for (;;) {
      const float x = __uint_as_float(static_cast<unsigned>(bits()));
      if (bits() & 1u)
        return std::ldexp(static_cast<float>(static_cast<int>(bits())), static_cast<int>(bits() % 40u) - 60);
      if (std::isfinite(x)) return x;
    }
  }
};

}  // namespace

TEST_CASE("bit casts keep every bit", "[simt][shim]") {
  CHECK(__float_as_int(-0.0f) == INT_MIN);
  CHECK(__float_as_uint(1.0f) == 0x3f800000u);
  CHECK(__int_as_float(0x7f800000) == kInfinity);
  CHECK(__double_as_longlong(1.0) == 0x3ff0000000000000);
  CHECK(__longlong_as_double(0x4000000000000000) == 2.0);
  CHECK(__double2hiint(-2.5) == static_cast<int>(0xc0040000u));
  CHECK(__double2loint(0x1.00000ffffffffp0) == -1);
  CHECK(__hiloint2double(__double2hiint(0.1), __double2loint(0.1)) == 0.1);
}

TEST_CASE("float to integer rounds as the name says", "[simt][shim]") {
  CHECK(__float2int_rn(2.5f) == 2);
  CHECK(__float2int_rn(3.5f) == 4);
  CHECK(__float2int_rz(-2.9f) == -2);
  CHECK(__float2int_ru(-2.9f) == -2);
  CHECK(__float2int_ru(2.1f) == 3);
  CHECK(__float2int_rd(-2.1f) == -3);
  CHECK(__float2uint_rn(4e9f) == 4000000000u);
  CHECK(__double2ll_rd(-0x1p53 - 1.0) == -0x20000000000000LL);
  CHECK(__double2int_rn(1e9 + 0.5) == 1000000000);
}

TEST_CASE("float to integer saturates; NaN gives what the hardware gives", "[simt][shim]") {
  CHECK(__float2int_rz(3e9f) == INT_MAX);
  CHECK(__float2int_rz(-kInfinity) == INT_MIN);
  CHECK(__float2uint_rz(-1.0f) == 0u);
  CHECK(__float2uint_rz(kInfinity) == UINT_MAX);
  CHECK(__float2ll_rz(1e30f) == LLONG_MAX);
  CHECK(__float2ull_rz(1e30f) == ULLONG_MAX);
  CHECK(__float2int_rn(kNaN) == 0);
  CHECK(__float2uint_rn(kNaN) == 0u);
  CHECK(__float2ll_rn(kNaN) == LLONG_MIN);
  CHECK(__double2int_rn(std::nan("")) == INT_MIN);
}

TEST_CASE("integer to float rounds as the name says", "[simt][shim]") {
  CHECK(__int2float_rn(16777217) == 16777216.0f);
  CHECK(__int2float_ru(16777217) == 16777218.0f);
  CHECK(__int2float_rd(-16777217) == -16777218.0f);
  CHECK(__int2float_rz(-16777217) == -16777216.0f);
  CHECK(__int2float_ru(0) == 0.0f);
  CHECK(__uint2float_rz(UINT_MAX) == 4294967040.0f);
  CHECK(__ull2float_rd(ULLONG_MAX) == 0x1.fffffep63f);
  CHECK(__ull2double_ru(ULLONG_MAX) == 0x1p64);
  CHECK(__ll2double_rn(-3) == -3.0);
  CHECK(__double2float_ru(1.0 + 0x1p-40) == 1.0f + 0x1p-23f);
  CHECK(__double2float_rz(1e300) == std::numeric_limits<float>::max());
}

#if defined(__x86_64__)
TEST_CASE("directed rounding agrees with the processor's rounding modes", "[simt][shim]") {
  Floats random;
  long wrong = 0;
  const auto check = [&](float got, float wanted) {
    wrong += !(got == wanted || (std::isnan(got) && std::isnan(wanted)));
  };
  for (int i = 0; i < 100'000; ++i) {
    const volatile float a = random(), b = random();
    const float x = a, y = b;
    check(__fadd_ru(x, y), with_rounding(FE_UPWARD, [&] { return a + b; }));
    check(__fadd_rd(x, y), with_rounding(FE_DOWNWARD, [&] { return a + b; }));
    check(__fadd_rz(x, y), with_rounding(FE_TOWARDZERO, [&] { return a + b; }));
    check(__fsub_ru(x, y), with_rounding(FE_UPWARD, [&] { return a - b; }));
    check(__fmul_ru(x, y), with_rounding(FE_UPWARD, [&] { return a * b; }));
    check(__fmul_rd(x, y), with_rounding(FE_DOWNWARD, [&] { return a * b; }));
    check(__fmul_rz(x, y), with_rounding(FE_TOWARDZERO, [&] { return a * b; }));
    check(__fdiv_ru(x, y), with_rounding(FE_UPWARD, [&] { return a / b; }));
    check(__fdiv_rd(x, y), with_rounding(FE_DOWNWARD, [&] { return a / b; }));
    check(__fdiv_rz(x, y), with_rounding(FE_TOWARDZERO, [&] { return a / b; }));
    check(__frcp_ru(x), with_rounding(FE_UPWARD, [&] { return 1.0f / a; }));
    check(__fsqrt_ru(x), with_rounding(FE_UPWARD, [&] { return std::sqrt(float{a}); }));
    check(__fsqrt_rd(x), with_rounding(FE_DOWNWARD, [&] { return std::sqrt(float{a}); }));
    check(__fmaf_ru(x, y, x),
          with_rounding(FE_UPWARD, [&] { return std::fma(float{a}, float{b}, float{a}); }));
    check(__fmaf_rz(x, y, y),
          with_rounding(FE_TOWARDZERO, [&] { return std::fma(float{a}, float{b}, float{b}); }));
  }
  CHECK(wrong == 0);
}

TEST_CASE("directed rounding of doubles agrees with the processor's rounding modes", "[simt][shim]") {
  std::mt19937_64 random(11);
  long wrong = 0;
  const auto check = [&](double got, double wanted) { wrong += got != wanted; };
  const auto number = [&] {
    const double fraction = std::ldexp(1.0 + static_cast<double>(random() >> 11) * 0x1p-53, -1);
    return std::ldexp(random() % 2 == 0 ? fraction : -fraction, static_cast<int>(random() % 80) - 40);
  };
  for (int i = 0; i < 100'000; ++i) {
    const volatile double a = number(), b = number(), c = std::fabs(a);
    check(__dadd_ru(a, b), with_rounding(FE_UPWARD, [&] { return a + b; }));
    check(__dadd_rd(a, b), with_rounding(FE_DOWNWARD, [&] { return a + b; }));
    check(__dsub_rz(a, b), with_rounding(FE_TOWARDZERO, [&] { return a - b; }));
    check(__dmul_ru(a, b), with_rounding(FE_UPWARD, [&] { return a * b; }));
    check(__dmul_rd(a, b), with_rounding(FE_DOWNWARD, [&] { return a * b; }));
    check(__ddiv_ru(a, b), with_rounding(FE_UPWARD, [&] { return a / b; }));
    check(__ddiv_rd(a, b), with_rounding(FE_DOWNWARD, [&] { return a / b; }));
    check(__drcp_rz(b), with_rounding(FE_TOWARDZERO, [&] { return 1.0 / b; }));
    check(__dsqrt_ru(c), with_rounding(FE_UPWARD, [&] { return std::sqrt(double{c}); }));
    check(__dsqrt_rd(c), with_rounding(FE_DOWNWARD, [&] { return std::sqrt(double{c}); }));
  }
  CHECK(wrong == 0);
  constexpr double kMost = std::numeric_limits<double>::max();
  CHECK(__dmul_rd(kMost, 2.0) == kMost);
  CHECK(__dmul_ru(kMost, 2.0) == std::numeric_limits<double>::infinity());
  CHECK(__dadd_ru(-kMost, -kMost) == -kMost);
}
#endif
